package main

import (
	"errors"
	"os"
	"path/filepath"
)

// replaceFile writes the new text in one step and keeps the old one as .bak.
// The mode of the file stays; a link stays a link.
func replaceFile(name string, old, text []byte) error {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	if err := writeFile(target+".bak", old, info.Mode().Perm()); err != nil {
		return err
	}
	return writeFile(target, text, info.Mode().Perm())
}

// writeFile writes a file so that it is there whole or not at all.
func writeFile(name string, text []byte, mode os.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".klawbot-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error is the one to tell
		}
	}()
	if _, err = f.Write(text); err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
