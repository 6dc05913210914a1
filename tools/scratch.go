package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// scratch is the private folder of one call, made on demand.
type scratch struct {
	// parent is where it is made; empty is the system's folder for such things.
	parent string

	mu  sync.Mutex
	dir string // guarded by mu
}

// Scratch makes the call's private folder, once, and returns its path. A Result takes
// its Artifacts from there. It is removed when the call has ended.
func (c Call) Scratch() (string, error) {
	if c.scratch == nil {
		return "", errors.New("the call has no scratch directory")
	}
	return c.scratch.make()
}

func (s *scratch) make() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		return s.dir, nil
	}
	if s.parent != "" {
		if err := os.MkdirAll(s.parent, 0o700); err != nil {
			return "", fmt.Errorf("make the scratch directory: %w", err)
		}
	}
	dir, err := os.MkdirTemp(s.parent, "klawbot-call-")
	if err != nil {
		return "", fmt.Errorf("make the scratch directory: %w", err)
	}
	s.dir = dir
	return dir, nil
}

// made is the folder, or "" when it was not made.
func (s *scratch) made() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir
}

// wipe removes the folder, also what a program has locked in it.
func (s *scratch) wipe() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		return nil
	}
	err := os.RemoveAll(s.dir)
	if errors.Is(err, fs.ErrPermission) {
		unlock(s.dir)
		err = os.RemoveAll(s.dir)
	}
	return err
}

// unlock lets the owner into every folder below dir. Links are not followed.
func unlock(dir string) {
	_ = os.Chmod(dir, 0o700) // what stays locked, the removal reports
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
}
