package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"klawbot/tools"
)

// LookArgs are the arguments of image_look.
type LookArgs struct {
	Path     string `json:"path"`
	Question string `json:"question"`
}

// look copies the picture, which may change while it is read, and has it looked at.
func (c Config) look(ctx context.Context, call tools.Call, a LookArgs) tools.Result {
	if strings.TrimSpace(a.Question) == "" {
		return tools.Fail(tools.Validation, "question is empty; say what you want to know about the picture")
	}
	f, refused := c.OpenFile(a.Path)
	if refused != nil {
		return *refused
	}
	defer f.Close() // nothing is written
	file, err := copied(call, f)
	if err != nil {
		return tools.Fail(tools.Execution, fmt.Sprintf("%q could not be read: %v", a.Path, err))
	}
	r := c.Look(ctx, call, Picture{File: file, Path: filepath.ToSlash(filepath.Clean(a.Path)), Question: a.Question})
	r.Source = a.Path
	return r
}

// copied copies a file into the call's own folder.
func copied(call tools.Call, from io.Reader) (string, error) {
	dir, err := call.Scratch()
	if err != nil {
		return "", err
	}
	to, err := os.CreateTemp(dir, "picture-")
	if err != nil {
		return "", err
	}
	n, err := io.Copy(to, io.LimitReader(from, tools.MaxFileBytes+1))
	if n > tools.MaxFileBytes {
		err = fmt.Errorf("it has more than %d bytes", tools.MaxFileBytes)
	}
	return to.Name(), errors.Join(err, to.Close())
}
