package plugin

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// file is the state of an executable. Two equal ones have the same bytes, as far as the
// file system tells.
type file struct {
	name, path   string
	device, node uint64
	size         int64
	modified     time.Time
	changed      syscall.Timespec
	// fault is why it cannot be a plugin.
	fault string
}

// list returns the executables of a folder by name. Other files are notes and data
// beside them; hidden ones are skipped.
func list(dir string) ([]file, error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	folder := unsafe(info)
	var all []file
	for _, e := range entries {
		f, ok := look(filepath.Join(dir, e.Name()))
		if !ok || strings.HasPrefix(f.name, ".") {
			continue
		}
		if folder != "" {
			f.fault = "its directory " + folder
		}
		all = append(all, f)
	}
	return all, nil
}

// look checks one file; ok is false when it is not an executable.
func look(path string) (f file, ok bool) {
	f = file{name: filepath.Base(path), path: path}
	info, err := os.Lstat(path)
	if err != nil {
		return f, false
	}
	switch mode := info.Mode(); {
	case mode.Type() == fs.ModeSymlink:
		f.fault = "is a link; put the file itself into the directory"
	case !mode.IsRegular(), mode.Perm()&0o111 == 0:
		return f, false
	default:
		f.fault = unsafe(info)
	}
	if s, known := info.Sys().(*syscall.Stat_t); known {
		f.device, f.node, f.changed = uint64(s.Dev), s.Ino, ctime(s)
		if f.fault == "" && s.Nlink > 1 {
			f.fault = "has a second name (hard link); put a copy into the directory"
		}
	}
	f.size, f.modified = info.Size(), info.ModTime()
	return f, true
}

// unsafe says why another user could change a file or folder, "" when none can.
func unsafe(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		return "is a link; make it a directory"
	case info.Mode().Perm()&0o022 != 0:
		return "can be written by others; fix it with chmod go-w"
	case ok && s.Uid != 0 && int(s.Uid) != os.Geteuid():
		return "belongs to another user; fix it with chown"
	}
	return ""
}

func sorted(m map[string]plugin) []string { return slices.Sorted(maps.Keys(m)) }
