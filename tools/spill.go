package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"
)

// SpillPrefix is the folder name under which file_read finds outputs that were cut.
const SpillPrefix = "spill/"

// What is kept of spilled outputs.
const (
	spillAge   = 7 * 24 * time.Hour
	spillBytes = 256 << 20
)

// spill keeps outputs that were cut, one file a call.
type spill struct {
	dir string
	log *slog.Logger
}

// keep stores an output and returns its name for file_read, "" when that fails: a full
// disk costs the rest of an output, not the call.
func (s spill) keep(call, text string) string {
	if s.dir == "" {
		return ""
	}
	name := fileName(call) + ".txt"
	if err := s.write(name, text); err != nil {
		s.log.Warn("tool output not kept", "call", call, "err", err)
		return ""
	}
	return SpillPrefix + name
}

func (s spill) write(name, text string) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the spill directory: %w", err)
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return fmt.Errorf("open the spill directory: %w", err)
	}
	defer root.Close()
	if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
		return err
	}
	if err := prune(root, time.Now()); err != nil {
		s.log.Warn("old tool outputs not removed", "err", err)
	}
	return nil
}

// prune removes what is too old, and the oldest of what is too much.
func prune(root *os.Root, now time.Time) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var kept int64
	for _, f := range files {
		kept += f.Size()
		if now.Sub(f.ModTime()) > spillAge || kept > spillBytes {
			if err := root.Remove(f.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// fileName makes a call's id safe as the name of a file.
func fileName(call string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, call)
	return name[:min(len(name), 100)]
}
