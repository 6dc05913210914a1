// Package configedit changes config.yaml for commands and for the tool config. It
// keeps comments and proves, before it writes, that nothing else changes.
package configedit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/usage"
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

// inFile says why a value of config.yaml decides nothing, nil when it does.
func inFile(l *config.Live, key string) error {
	if where := l.Given(key); strings.HasPrefix(where, "$") {
		return usage.Errorf("%s comes from %s in the environment, which wins over config.yaml; change it there", key, where)
	}
	return nil
}

// edit edits what stands at a key of config.yaml, with proof; see proven.
func edit(s config.Source, key string, edit editor, same proof) error {
	if s.File == "" {
		return ErrNoFile
	}
	return change(s, config.Display(s.File), func(text []byte) ([]byte, error) {
		_, changed, err := proven(s, text, key, edit, same)
		return changed, err
	})
}

type (
	editor func(text []byte, before *config.Loaded) ([]byte, error)
	proof  func(was, is *config.Loaded) bool
)

// proven edits a text and proves that nothing else changes: same makes the configuration
// before the one that is wanted, or the two the same but for what is new. It reports false
// when that is not as wanted.
func proven(s config.Source, text []byte, key string, edit editor, same proof) (*config.Config, []byte, error) {
	s.Redact = &redact.Set{}
	before, err := s.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	was := *before
	if changed, err := edit(text, before); err == nil {
		if is, err := s.Parse(changed); err == nil && same(&was, is) && reflect.DeepEqual(was.Config, is.Config) {
			return &before.Config, changed, nil
		}
	}
	return nil, nil, fmt.Errorf("config.yaml is written in a way that cannot be edited safely; edit %s by hand", key)
}
