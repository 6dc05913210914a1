package file

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"klawbot/tools"
	"klawbot/tools/charset"
	"klawbot/tools/file/text"
)

type readArgs struct {
	Path      string `json:"path"`
	StartLine int    `json:"startLine,omitempty" min:"1"`
	MaxLines  int    `json:"maxLines,omitempty" min:"1"`
	EndLine   int    `json:"endLine,omitempty" min:"1"`
}

func (f *files) read(ctx context.Context, _ tools.Call, a readArgs) tools.Result {
	lines, err := a.lines()
	if err != nil {
		return failed(err, "file", a.Path)
	}
	content, err := f.text(ctx, a.Path, lines)
	if err != nil {
		return failed(err, "file", a.Path)
	}
	r := tools.OK(content)
	r.Source = a.Path
	return r
}

// lines is the requested range.
func (a readArgs) lines() (span, error) {
	s := span{from: max(1, a.StartLine), to: a.EndLine, set: a.StartLine+a.MaxLines+a.EndLine > 0}
	if a.EndLine == 0 && a.MaxLines > 0 {
		s.to = s.from + a.MaxLines - 1
	}
	if s.to != 0 && s.to < s.from {
		return s, tools.Refuse(tools.Validation, "endLine %d is before startLine %d", s.to, s.from)
	}
	return s, nil
}

func (f *files) text(ctx context.Context, written string, lines span) (string, error) {
	if name, is := f.spilled(written); is {
		p, err := inFolder(f.config.Spill, name)
		if err != nil {
			return "", err
		}
		defer p.root.Close()
		return f.content(ctx, p, lines, true)
	}
	if strings.HasSuffix(written, "/") {
		return "", tools.Refuse(tools.Validation, "%s ends in a slash, so it is a directory; file_list shows directories", quote(written))
	}
	p, err := f.locate(written)
	if err != nil {
		return "", err
	}
	defer p.root.Close()
	content, err := f.content(ctx, p, lines, false)
	if !isMissing(err) {
		return content + p.twinNote(), err
	}
	skill, found, skillErr := f.locateSkill(p.shown)
	if !found {
		if isMissing(skillErr) || skillErr == nil {
			return "", err
		}
		return "", skillErr
	}
	defer skill.root.Close()
	return f.content(ctx, skill, lines, false)
}

// content reads the lines that are asked for. The size limit is for what is read.
// Without a range cut returns the beginning of a file that is larger.
func (f *files) content(ctx context.Context, p place, lines span, cut bool) (string, error) {
	file, info, err := f.openFile(p)
	if err != nil {
		return "", err
	}
	defer file.Close()
	limit := f.maxBytes()
	if !lines.set && !cut && info.Size() > limit {
		return "", tools.Refuse(tools.Execution, "%s is too large to read: %d bytes, the limit is %d. Give startLine and maxLines to read a part of it", quote(p.shown), info.Size(), limit)
	}
	raw := bufio.NewReaderSize(io.LimitReader(file, info.Size()), maxLine)
	start, _ := raw.Peek(sniffed) // an error comes again with the first read
	kind := binaryType(start)
	out := ""
	if lines.set {
		out, err = lines.numbered(ctx, text.NewReader(raw), limit)
	} else {
		var data []byte
		data, err = io.ReadAll(text.NewReader(raw))
		out = string(data)
	}
	if cut && !lines.set && int64(len(out)) > limit {
		out = strings.ToValidUTF8(out[:limit], "")
	}
	if err != nil || utf8.ValidString(out) && strings.IndexByte(out, 0) < 0 {
		return out, err
	}
	if guessed, ok := charset.Guess([]byte(out)); ok && kind == foreignText {
		if guessed.Note == "" { // the file declares it, as a page can
			return guessed.Body, nil
		}
		return "(" + guessed.Note + ")\n" + guessed.Body, nil
	}
	return fmt.Sprintf("Binary content (%d bytes, type: %s)", info.Size(), kind), nil
}

// foreignText is the type of a file that may be text in another encoding.
const foreignText = "text that is not UTF-8"

// binaryType guesses the type of a file that is not text.
func binaryType(start []byte) string {
	kind := http.DetectContentType(start)
	if strings.HasPrefix(kind, "text/") {
		return foreignText
	}
	return kind
}
