package file

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"klawbot/tools"
	"klawbot/tools/file/text"
)

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Mode    string `json:"mode,omitempty" enum:"overwrite,append" default:"overwrite"`
}

func (f *files) write(ctx context.Context, c tools.Call, a writeArgs) tools.Result {
	size, note := 0, ""
	shown, err := f.alter(ctx, alteration{c, a.Path, func(p place, before snapshot) (outcome, error) {
		content, said, err := a.content(p.shown, before)
		if err != nil {
			return outcome{}, err
		}
		size, note = len(content), said+p.twinNote()
		return outcome{content: content}, f.fits(content)
	}})
	if err != nil {
		return failed(err, "file", a.Path)
	}
	r := changed(fmt.Sprintf("OK: file written to %s (%d bytes)%s", shown, size, note), shown)
	r.Own = true // nothing of what was in the file
	return r
}

// content is what the file will hold, and what the model should know about it.
func (a writeArgs) content(shown string, before snapshot) (content []byte, note string, err error) {
	appends := a.Mode == "append" && before.exists()
	if appends && before.foreign {
		return nil, "", hardlink(shown)
	}
	was, isText := text.Decode(before.content)
	switch {
	case !isText && !appends:
		if before.exists() && !before.foreign {
			note = "; it was not UTF-8 before and is now"
		}
		return []byte(a.Content), note, nil
	case !isText && bytes.IndexByte(before.content, 0) >= 0:
		return nil, "", tools.Refuse(tools.Execution, "%s is a binary file, so text can't be added to it", quote(shown))
	case !isText && strings.IndexFunc(a.Content, beyondASCII) >= 0:
		return nil, "", tools.Refuse(tools.Execution, "%s is not in UTF-8, so only ASCII characters can be added to it. Convert it to UTF-8 first, or write a new file", quote(shown))
	case !isText:
		was = text.Text{}.With(string(before.content)) // ASCII is the same in its encoding
	}
	now, began := was.With(a.Content), false
	if appends {
		now, began = was.Append(a.Content)
	}
	switch form := was.Form(); {
	case began:
		note = "; the last line had no line break, so the new text begins on its own line"
	case appends:
	case form != "":
		note = "; the file stays in " + form
	case text.LineEnd(was.Body, 0) == "\r\n" && text.LineEnd(now.Body, 0) == "\n":
		note = "; its lines ended in CRLF before and end in LF now"
	}
	content, err = now.Encode()
	return content, note, err
}

func beyondASCII(r rune) bool { return r >= utf8.RuneSelf }

// fits refuses content over the size limit.
func (f *files) fits(content []byte) error {
	if limit := f.maxBytes(); int64(len(content)) > limit {
		return tools.Refuse(tools.Validation, "content exceeds maximum file size of %d bytes", limit)
	}
	return nil
}

// changed is the result of a call that changed files.
func changed(output string, paths ...string) tools.Result {
	r := tools.OK(output)
	r.FilesChanged = paths
	return r
}
