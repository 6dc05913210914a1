package media

import (
	"context"
	"path/filepath"
	"strings"

	"klawbot/tools"
)

type lookArgs struct {
	Path     string `json:"path"`
	Question string `json:"question"`
}

// look copies the picture, which may change while it is read, and has it looked at.
func (c Config) look(ctx context.Context, call tools.Call, a lookArgs) tools.Result {
	if strings.TrimSpace(a.Question) == "" {
		return tools.Fail(tools.Validation, "question is empty; say what you want to know about the picture")
	}
	f, refused := c.OpenFile(a.Path)
	if refused != nil {
		return *refused
	}
	defer f.Close() // nothing is written
	file, err := copyOf(call, f)
	if err != nil {
		return tools.Failed(err)
	}
	r := c.Look(ctx, call, Picture{File: file, Path: filepath.ToSlash(filepath.Clean(a.Path)), Question: a.Question})
	r.Source = a.Path
	return r
}
