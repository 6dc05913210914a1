// Package configedit changes config.yaml for commands and for the tool config. It
// keeps comments and proves, before it writes, that nothing else changes.
package configedit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/internal/atomicfile"
)

// change edits config.yaml, which is named called in errors, while no other command
// does. edit gets the text and returns the new one.
func change(s config.Source, called string, edit func(text []byte) ([]byte, error)) (err error) {
	unlock, err := lock(s.File)
	if err != nil {
		return fmt.Errorf("lock the configuration: %w", err)
	}
	defer func() { _ = unlock() }() // the file was only read
	text, err := s.Read()
	if err != nil {
		return fmt.Errorf("read %s: %w", called, err)
	}
	changed, err := edit(text)
	if err != nil || bytes.Equal(changed, text) {
		return err
	}
	if err := replaceFile(s.File, text, changed); err != nil {
		return fmt.Errorf("write %s: %w", called, err)
	}
	return nil
}

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
