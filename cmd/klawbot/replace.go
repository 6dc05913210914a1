package main

import (
	"os"
	"path/filepath"

	"klawbot/internal/atomicfile"
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
	if err := atomicfile.Write(target+".bak", old, info.Mode().Perm()); err != nil {
		return err
	}
	return atomicfile.Write(target, text, info.Mode().Perm())
}
