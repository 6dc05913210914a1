package file

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"klawbot/tools"
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
	text, err := f.text(ctx, a.Path, lines)
	if err != nil {
		return failed(err, "file", a.Path)
	}
	r := tools.OK(text)
	r.Source = a.Path
	return r
}

// lines is the range that is asked for.
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
		return f.spilledText(ctx, name, lines)
	}
	if strings.HasSuffix(written, "/") {
		return "", tools.Refuse(tools.Validation, "%s ends in a slash, so it is no file; file_list shows directories", quote(written))
	}
	p, err := f.locate(written)
	if err != nil {
		return "", err
	}
	defer p.root.Close()
	text, err := f.content(ctx, p, lines)
	if !isMissing(err) {
		return text, err
	}
	skill, found, skillErr := f.locateSkill(p.shown)
	if !found {
		if isMissing(skillErr) || skillErr == nil {
			return "", err
		}
		return "", skillErr
	}
	defer skill.root.Close()
	return f.content(ctx, skill, lines)
}

// content reads a file that is not too large, the lines that are asked for.
func (f *files) content(ctx context.Context, p place, lines span) (string, error) {
	data, err := f.whole(p)
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return fmt.Sprintf("Binary content (%d bytes, type: %s)", len(data), binaryType(data)), nil
	}
	if !lines.set {
		return string(data), nil
	}
	return lines.numbered(ctx, bytes.NewReader(data), f.maxBytes())
}

// whole reads a file that is not too large.
func (f *files) whole(p place) ([]byte, error) {
	file, info, err := f.openFile(p)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	limit := f.maxBytes()
	if info.Size() > limit {
		return nil, tooLarge(p.shown, info.Size(), limit)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = tooLarge(p.shown, int64(len(data)), limit)
	}
	return data, err
}

func tooLarge(shown string, size, limit int64) error {
	return tools.Refuse(tools.Execution, "%s is too large to read: %d bytes, the limit is %d", quote(shown), size, limit)
}

// binaryType guesses what a file is that is no text.
func binaryType(data []byte) string {
	kind := http.DetectContentType(data)
	if strings.HasPrefix(kind, "text/") {
		return "text that is not UTF-8"
	}
	return kind
}

// spilledText reads on in an output that was cut, of any size.
func (f *files) spilledText(ctx context.Context, name string, lines span) (string, error) {
	p, err := inFolder(f.config.Spill, name)
	if err != nil {
		return "", err
	}
	defer p.root.Close()
	file, _, err := f.openFile(p)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if lines.set {
		return lines.numbered(ctx, file, f.maxBytes())
	}
	data, err := io.ReadAll(io.LimitReader(file, f.maxBytes()))
	return string(data), err
}
