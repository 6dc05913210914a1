// Package charset decodes text whose encoding is declared in several places, wrongly, or
// not at all.
package charset

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// Text is decoded text. Note says what the reader should know about the encoding, "" if
// it was declared and right.
type Text struct{ Body, Note string }

// maxMeta is how much of a page is searched for its declaration, in bytes.
const maxMeta = 1 << 20

// Decode reads a body. The order is: byte order mark, contentType (a header, or ""), XML
// declaration, meta tag, then a guess. With cut the body may end within a character.
func Decode(body []byte, contentType string, cut bool) Text {
	if mark, name := marked(body); mark > 0 {
		return Text{Body: decode(body[mark:], name)}
	}
	if name := wide(body); name != "" {
		return Text{Body: decode(body, name)}
	}
	isUTF8 := utf8.Valid(body) || cut && utf8.Valid(Whole(body))
	declared := lookup(parameter(contentType))
	if declared == "" || declared == "utf-8" && !isUTF8 && !mostlyUTF8(body) {
		declared = cmp.Or(inside(body), declared)
	}
	switch {
	case isUTF8 && misdeclared(body, declared):
		return Text{decode(body, "utf-8"), "declared as " + declared + ", read as utf-8"}
	case declared != "" && declared != "utf-8":
		return Text{Body: decode(body, declared)}
	case isUTF8 && !shifts(body), !isUTF8 && mostlyUTF8(body):
		return Text{Body: decode(body, "utf-8")}
	}
	name := guess(body)
	was := "encoding not declared"
	if declared != "" {
		was = "declared as " + declared + ", which it is not"
	}
	return Text{decode(body, name), fmt.Sprintf("%s; read as %s, which is a guess", was, name)}
}

// Guess reads the text of a file, which nothing declares. ok is false for bytes that look
// like text in no encoding.
func Guess(body []byte) (t Text, ok bool) {
	t = Decode(body, "", false)
	odd := func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\f\x1b", r) }
	// What is UTF-8 is hardly anything else. A guess is judged by its words beyond ASCII.
	return t, !strings.ContainsFunc(t.Body, odd) && (utf8.Valid(body) || misfit(string(sample([]byte(t.Body)))) < 0.1)
}

// misdeclared reports whether UTF-8 makes more sense of a text than what it is declared as.
// Servers have a default that their pages do not follow.
func misdeclared(body []byte, declared string) bool {
	if strings.HasPrefix(declared, "utf-16") {
		return bytes.IndexByte(body, 0) < 0
	}
	words := sample(body)
	return declared != "" && declared != "utf-8" && misfit(decode(words, declared)) > misfit(string(words))+0.02
}

// marked finds a byte order mark.
func marked(body []byte) (length int, name string) {
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return 3, "utf-8"
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return 2, "utf-16le"
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return 2, "utf-16be"
	}
	return 0, ""
}

// wide finds markup in UTF-16 without a byte order mark.
func wide(body []byte) string {
	switch {
	case bytes.HasPrefix(body, []byte("<\x00")):
		return "utf-16le"
	case bytes.HasPrefix(body, []byte("\x00<")):
		return "utf-16be"
	}
	return ""
}

// Whole is the text without a character that was cut at its end.
func Whole(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if at := len(text) - n; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return text[:at]
			}
			break
		}
	}
	return text
}

// mostlyUTF8 reports whether text is UTF-8 with some errors: in another encoding hardly
// any characters are valid.
func mostlyUTF8(text []byte) bool {
	valid, invalid := 0, 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			invalid++
		case size > 1:
			valid++
		}
		text = text[size:]
	}
	return valid > invalid
}

var (
	// named matches a charset in a header or in the content of a meta tag.
	named = regexp.MustCompile(`(?i)charset\s*=\s*["']?\s*([^\s"';,]+)`)
	// xmlDeclared matches an XML declaration.
	xmlDeclared = regexp.MustCompile(`^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([^"'<>]{1,40})["']`)
	// codePage matches spellings of Windows encodings that the standard lacks.
	codePage = regexp.MustCompile(`^(?:windows|win|cp|ms)[-_ ]?(125\d|874)$`)
)

func parameter(contentType string) string {
	if m := named.FindStringSubmatch(contentType); m != nil {
		return m[1]
	}
	return ""
}

// lookup is the standard name of an encoding, "" for an unknown one.
func lookup(label string) string {
	label = strings.ToLower(strings.TrimSpace(label))
	if m := codePage.FindStringSubmatch(label); m != nil {
		label = "windows-" + m[1]
	}
	if label == "gb-18030" {
		label = "gb18030"
	}
	switch _, name := charset.Lookup(label); name {
	case "replacement":
		return ""
	case "gbk":
		return "gb18030" // which has all of it, and what pages in gb2312 use beyond
	default:
		return name
	}
}

// inside is the encoding that a document declares itself. It can be read as ASCII, so it
// is not UTF-16.
func inside(body []byte) string {
	label := ""
	if m := xmlDeclared.FindSubmatch(body[:min(len(body), 1024)]); m != nil {
		label = string(m[1])
	}
	name := lookup(cmp.Or(label, meta(body[:min(len(body), maxMeta)])))
	if strings.HasPrefix(name, "utf-16") {
		return "utf-8"
	}
	return name
}

// meta is the charset in the first meta tag that has one. Comments and scripts may hold
// others.
func meta(page []byte) string {
	if !bytes.Contains(bytes.ToLower(page), []byte("<meta")) {
		return ""
	}
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			if t := z.Token(); t.Data == "meta" {
				label, content, equiv := "", "", ""
				for _, a := range t.Attr {
					switch a.Key {
					case "charset":
						label = a.Val
					case "content":
						content = a.Val
					case "http-equiv":
						equiv = a.Val
					}
				}
				if label == "" && strings.EqualFold(strings.TrimSpace(equiv), "content-type") {
					label = parameter(content)
				}
				if label != "" {
					return label
				}
			}
		}
	}
}

// decode reads a text in a named encoding. What it cannot read becomes U+FFFD.
func decode(body []byte, name string) string {
	if e, _ := charset.Lookup(name); e != nil {
		if text, err := e.NewDecoder().Bytes(body); err == nil {
			body = text
		}
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}
