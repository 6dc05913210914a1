package file

import (
	"context"
	"fmt"

	"klawbot/tools"
)

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Mode    string `json:"mode,omitempty" enum:"overwrite,append" default:"overwrite"`
}

func (f *files) write(ctx context.Context, c tools.Call, a writeArgs) tools.Result {
	size := len(a.Content)
	shown, err := f.alter(ctx, alteration{c, a.Path, func(shown string, before snapshot) (outcome, error) {
		content := []byte(a.Content)
		if a.Mode == "append" && before.exists() {
			if before.foreign {
				return outcome{}, hardlink(shown)
			}
			content = append(before.content[:len(before.content):len(before.content)], content...)
		}
		size = len(content)
		return outcome{content: content}, f.fits(content)
	}})
	if err != nil {
		return failed(err, "file", a.Path)
	}
	r := changed(fmt.Sprintf("OK: file written to %s (%d bytes)", shown, size), shown)
	r.Own = true // nothing of what was in the file
	return r
}

// fits refuses a content that is too large for a file.
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
