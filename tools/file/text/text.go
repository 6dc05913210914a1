// Package text changes the text of a file and keeps how the file spells it: its
// encoding, byte order mark, line ends and form of letters.
package text

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Text is the content of a text file.
type Text struct {
	// Body is the text in UTF-8, without the byte order mark.
	Body string
	mark string
	// wide is the encoding of a UTF-16 file, nil for UTF-8.
	wide encoding.Encoding
}

// marked finds the byte order mark that a file begins with.
func marked(start []byte) (mark string, wide encoding.Encoding) {
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		return "\xef\xbb\xbf", nil
	case bytes.HasPrefix(start, []byte("\xff\xfe")):
		return "\xff\xfe", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case bytes.HasPrefix(start, []byte("\xfe\xff")):
		return "\xfe\xff", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	return "", nil
}

// Decode reads a file. ok is false for a binary file and for an encoding that has
// no byte order mark and is not UTF-8.
func Decode(content []byte) (t Text, ok bool) {
	t.mark, t.wide = marked(content)
	body := content[len(t.mark):]
	if t.wide != nil {
		decoded, err := t.wide.NewDecoder().Bytes(body)
		if err != nil {
			return Text{}, false
		}
		t.Body = string(decoded)
		if again, err := t.Encode(); err != nil || !bytes.Equal(again, content) {
			return Text{}, false // half a character, which a change would lose
		}
	} else {
		t.Body = string(body)
	}
	return t, utf8.ValidString(t.Body) && strings.IndexByte(t.Body, 0) < 0
}

// Encode is the content of the file with this text.
func (t Text) Encode() ([]byte, error) {
	if t.wide == nil {
		return []byte(t.mark + t.Body), nil
	}
	body, err := t.wide.NewEncoder().String(t.Body)
	return []byte(t.mark + body), err
}

// Form says in words how the file differs from plain UTF-8, "" if it does not.
func (t Text) Form() string {
	switch {
	case t.wide != nil:
		return "UTF-16"
	case t.mark != "":
		return "UTF-8 with a byte order mark"
	}
	return ""
}

// NewReader reads a file as Decode does, piece by piece. Binary files pass unchanged.
func NewReader(file *bufio.Reader) io.Reader {
	start, _ := file.Peek(3) // an error comes again with the first read
	mark, wide := marked(start)
	_, _ = file.Discard(len(mark)) // it was read already
	if wide != nil {
		return transform.NewReader(file, wide.NewDecoder())
	}
	return file
}

// LineEnd is the line end near a byte of a text: the next one, else the last one
// before it, "" in a single line. A carriage return alone is one only where all are, as
// on an old Mac; several, since one may be data.
func LineEnd(text string, at int) string {
	i := strings.IndexByte(text[at:], '\n') + at
	if i < at {
		i = strings.LastIndexByte(text, '\n')
	}
	switch {
	case i < 0 && strings.HasSuffix(text, "\r") || i < 0 && strings.Count(text, "\r") > 1:
		return "\r"
	case i < 0:
		return ""
	case i > 0 && text[i-1] == '\r':
		return "\r\n"
	}
	return "\n"
}

// With is the file with another text. A byte order mark is not doubled.
func (t Text) With(body string) Text {
	t.Body = body
	if t.mark != "" {
		t.Body = strings.TrimPrefix(body, "\ufeff")
	}
	return t
}

// Append adds a text with the line ends of the file. A text that is added to a last
// line without an end begins a line of its own; began reports that.
func (t Text) Append(added string) (longer Text, began bool) {
	end := LineEnd(t.Body, len(t.Body))
	added = withEnds(added, nil, end)
	if t.Body != "" && added != "" && !strings.HasSuffix(t.Body, "\n") && !(end == "\r" && strings.HasSuffix(t.Body, end)) && !strings.HasPrefix(strings.TrimPrefix(added, "\r"), "\n") {
		if end == "" {
			end = "\n"
		}
		added, began = end+added, true
	}
	t.Body += added
	return t, began
}

// withEnds gives the lines of a text the line ends of own, one after the other, and
// rest to those that follow. The text of a file without line ends, whose rest is "",
// stays as it is.
func withEnds(text string, own []string, rest string) string {
	if rest == "" {
		return text
	}
	var b strings.Builder
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		switch {
		case i > len(own):
			b.WriteString(rest)
		case i > 0:
			b.WriteString(own[i-1])
		}
		b.WriteString(line)
	}
	return b.String()
}
