package file

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"klawbot/tools"
)

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Mode    string `json:"mode,omitempty" enum:"overwrite,append" default:"overwrite"`
}

func (f *files) write(_ context.Context, _ tools.Call, a writeArgs) tools.Result {
	name, size, err := f.put(a)
	if err != nil {
		return failed(err, "file", a.Path)
	}
	r := tools.OK(fmt.Sprintf("OK: file written to %s (%d bytes)", name, size))
	r.FilesChanged = []string{name}
	return r
}

// put writes a file and returns its path and its size.
func (f *files) put(a writeArgs) (name string, size int, err error) {
	if _, is := f.spilled(a.Path); is {
		return "", 0, refuse(tools.Security, "Access denied: %s is read-only", tools.SpillPrefix)
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	p, err := f.locate(a.Path)
	if err != nil {
		return "", 0, err
	}
	defer p.root.Close()
	if err := writable(a.Path, p); err != nil {
		return "", 0, err
	}
	content := []byte(a.Content)
	if a.Mode == "append" {
		if content, err = f.appended(p, content); err != nil {
			return "", 0, err
		}
	}
	if limit := f.maxBytes(); int64(len(content)) > limit {
		return "", 0, refuse(tools.Validation, "content exceeds maximum file size of %d bytes", limit)
	}
	return p.shown, len(content), store(p, content)
}

// writable refuses targets by their path alone.
func writable(written string, p place) error {
	switch {
	case strings.HasSuffix(written, "/") || p.name == ".":
		return refuse(tools.Validation, "%s is a directory; the path must name a file", quote(written))
	case protected(p.shown) || protected(p.name):
		return refuse(tools.Security, "Access denied: files in .git are not written by tools")
	}
	return nil
}

// appended is what the file will hold: what it holds now, then content.
func (f *files) appended(p place, content []byte) ([]byte, error) {
	file, info, err := f.openFile(p)
	if isMissing(err) {
		return content, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	limit := f.maxBytes()
	if info.Size()+int64(len(content)) > limit {
		return nil, refuse(tools.Validation, "content exceeds maximum file size of %d bytes", limit)
	}
	old, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	return append(old, content...), nil
}

// store puts content in the place of the file at once: whoever reads sees the
// old content or the new, also after a power cut.
func store(p place, content []byte) error {
	dir, err := openDir(p.root, path.Dir(p.name))
	if err != nil {
		return err
	}
	defer dir.Close()
	leaf := path.Base(p.name)
	mode := fs.FileMode(0o644)
	switch info, err := dir.Lstat(leaf); {
	case err == nil:
		if err := regular(info, p.shown); err != nil {
			return err
		}
		mode = info.Mode().Perm()
	case !isMissing(err):
		return err
	}
	temporary := ".klawbot-" + rand.Text() + ".tmp"
	if err := create(dir, temporary, content, mode); err != nil {
		return errors.Join(err, remove(dir, temporary))
	}
	if err := dir.Rename(temporary, leaf); err != nil {
		return errors.Join(err, remove(dir, temporary))
	}
	return syncDir(dir)
}

// create writes a new file through to the disk.
func create(dir *os.Root, name string, content []byte, mode fs.FileMode) error {
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, bytes.NewReader(content))
	return errors.Join(err, file.Sync(), file.Close())
}

func remove(dir *os.Root, name string) error {
	if err := dir.Remove(name); !isMissing(err) {
		return err
	}
	return nil
}

// syncDir makes the new name last.
func syncDir(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
