// Package workspace reads the workspace: it builds the system prompt from its files and
// creates a new workspace. It knows no chats and no turns.
package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"klawbot/tools/injection"
)

// maxFile is the largest part of a file in the prompt, in bytes.
const maxFile = 16 << 10

// Workspace is a directory whose files are read again when they change. It is safe for
// several goroutines.
type Workspace struct {
	dir string
	log *slog.Logger

	mu    sync.Mutex
	files map[string]file // guarded by mu; by name
}

// file is a file as it was last read.
type file struct {
	changed time.Time
	size    int64
	text    string
	fault   string
	// refused names what looks like an injection; the text is left out then.
	refused string
}

// Open returns the workspace in a directory, which may be missing: each call looks
// again. An unreadable file is logged once.
func Open(dir string, log *slog.Logger) *Workspace {
	return &Workspace{dir: dir, log: log, files: map[string]file{}}
}

// texts returns what files say, "" for a missing, blank or unreadable one.
func (w *Workspace) texts(files []section) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := make([]string, len(files))
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		w.remember("", file{fault: err.Error()})
		return texts
	}
	defer root.Close()
	for i, s := range files {
		texts[i] = w.text(root, s.file)
	}
	return texts
}

func (w *Workspace) text(root *os.Root, name string) string {
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		delete(w.files, name)
		return ""
	}
	known, seen := w.files[name]
	if err == nil && seen && known.fault == "" && known.changed.Equal(info.ModTime()) && known.size == info.Size() {
		return known.text
	}
	f, err := readFile(root, name)
	if err != nil {
		f.fault = err.Error()
	}
	w.remember(name, f)
	return f.text
}

// remember stores a file, and logs a new error.
func (w *Workspace) remember(name string, f file) {
	if f.fault != "" && f.fault != w.files[name].fault {
		w.log.Warn("workspace not readable", "dir", w.dir, "file", name, "err", f.fault)
	}
	if f.refused != "" && f.refused != w.files[name].refused {
		w.log.Warn("file left out of the prompt: it looks like an injection", "dir", w.dir, "file", name, "found", f.refused)
	}
	w.files[name] = f
}

// readFile reads a regular file: a pipe would block.
func readFile(root *os.Root, name string) (file, error) {
	r, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return file{}, err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return file{}, err
	}
	if !info.Mode().IsRegular() {
		return file{}, fmt.Errorf("%s is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return file{}, err
	}
	f := file{changed: info.ModTime(), size: info.Size(), text: fit(name, strings.TrimPrefix(string(data), "\ufeff"))}
	if v := injection.Text(f.text); v.Level == injection.Block && name != HeartbeatFile {
		f.text, f.refused = "", strings.Join(v.Rules(), ", ")
	}
	if name != HeartbeatFile {
		f.text = said(name, f.text)
	}
	return f, nil
}

// fit is the text of a file in the prompt.
func fit(name, text string) string {
	if len(text) <= maxFile {
		return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	}
	text = strings.ToValidUTF8(text[:maxFile], "")
	return fmt.Sprintf("%s\n\n[%s is longer than %d KiB; the rest is left out]", strings.TrimSpace(text), name, maxFile>>10)
}
