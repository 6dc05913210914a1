package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Install copies the files of a template that the directory does not have yet, and
// returns their names.
func Install(dir string, template fs.FS) (written []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the workspace: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	err = fs.WalkDir(template, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case e.IsDir():
			return root.MkdirAll(name, 0o755)
		}
		added, err := add(root, template, name)
		if added {
			written = append(written, name)
		}
		return err
	})
	if err != nil {
		return written, fmt.Errorf("lay out the workspace: %w", err)
	}
	return written, nil
}

// add copies one file, unless something has its name.
func add(root *os.Root, template fs.FS, name string) (added bool, err error) {
	content, err := fs.ReadFile(template, name)
	if err != nil {
		return false, err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.Write(content)
	return true, errors.Join(err, f.Close())
}
