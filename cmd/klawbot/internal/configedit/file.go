// Package configedit changes config.yaml for commands and for the tool config. It
// keeps comments and proves, before it writes, that nothing else changes.
package configedit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/internal/atomicfile"
	"klawbot/internal/redact"
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

// byHand is the error of a file that is written in a way that the editor leaves alone.
func byHand(instead string) error {
	return errors.New("config.yaml is written in a way that cannot be edited safely; " + instead + " by hand")
}

// proven edits the text of the configuration and reads it before and after. hand is the
// error of a text that cannot be edited, or read afterwards.
func proven(s config.Source, text []byte, hand error, edit func(before *config.Loaded) ([]byte, error)) (changed []byte, before, after *config.Loaded, err error) {
	s.Redact = &redact.Set{}
	if before, err = s.Parse(text); err != nil {
		return nil, nil, nil, err
	}
	if changed, err = edit(before); err != nil {
		return nil, nil, nil, hand
	}
	if after, err = s.Parse(changed); err != nil {
		return nil, nil, nil, hand
	}
	return changed, before, after, nil
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
