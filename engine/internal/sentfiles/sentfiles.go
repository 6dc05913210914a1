// Package sentfiles keeps the bytes of files that wait to be sent, beside the database:
// a row of the outbox names them by their SHA-256. They are not part of a backup.
package sentfiles

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store"
	"klawbot/internal/atomicfile"
)

const (
	// folder is their directory inside the data directory.
	folder = "outgoing"
	// quota bounds all of them, in bytes.
	quota = 1 << 30
	// reserve is the space in bytes that a file leaves to the bot.
	reserve = 64 << 20
	// kept is how long a file stays that no row names: longer than a
	// result may wait for a full disk.
	kept = 24 * time.Hour
)

// Files are the files of a data directory that wait to be sent.
type Files struct {
	dir   string
	quota int64 // in bytes
}

// In returns the files of a data directory. Their directory is made when needed.
func In(dir string) *Files {
	return &Files{dir: filepath.Join(dir, folder), quota: quota}
}

// Put keeps what r holds and returns the path of the copy, whose last element
// is the name for Path. When it returns nil the bytes are on the disk. The same
// bytes are kept once.
func (s *Files) Put(r io.Reader) (path string, err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", fmt.Errorf("keep a file to send: %w", err)
	}
	room, err := s.room()
	if err != nil {
		return "", fmt.Errorf("keep a file to send: %w", err)
	}
	part, err := os.CreateTemp(s.dir, "*.part")
	if err != nil {
		return "", fmt.Errorf("keep a file to send: %w", err)
	}
	path, err = s.keep(part, r, room)
	if err != nil {
		_ = os.Remove(part.Name()) // the first error tells more
		return "", fmt.Errorf("keep a file to send: %w", err)
	}
	return path, nil
}

// errFull is the error for a file that does not fit.
var errFull = errors.New("too many files wait to be sent, or too little space is left")

// keep copies into part and gives it its name.
func (s *Files) keep(part *os.File, r io.Reader, room int64) (path string, err error) {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(part, sum), io.LimitReader(r, room+1))
	if err == nil && n > room {
		err = errFull
	}
	if err = errors.Join(err, part.Close()); err != nil {
		return "", err
	}
	path = filepath.Join(s.dir, hex.EncodeToString(sum.Sum(nil)))
	// Over a copy that is there: then it is as young as this one.
	return path, atomicfile.Rename(part.Name(), path)
}

// room is how many bytes may be added.
func (s *Files) room() (int64, error) {
	free, err := sqlite.FreeSpace(s.dir)
	if err != nil {
		return 0, err
	}
	room := min(int64(min(free, 1<<60))-reserve, s.quota)
	files, err := s.files()
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		room -= f.Size()
	}
	if room <= 0 {
		return 0, errFull
	}
	return room, nil
}

func (s *Files) files() ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	return files, err
}

// sumName is the name of a file that is kept.
var sumName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Path is where the file with a SHA-256 lies, or store.ErrNotFound.
func (s *Files) Path(sum string) (string, error) {
	if !sumName.MatchString(sum) {
		return "", fmt.Errorf("file %q: %w", sum, store.ErrNotFound)
	}
	path := filepath.Join(s.dir, sum)
	if _, err := os.Lstat(path); err != nil {
		return "", fmt.Errorf("file %s: %w", sum, notThere(err))
	}
	return path, nil
}

func notThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return store.ErrNotFound
	}
	return err
}

// Sweep deletes the files that named does not hold, and what an end in the
// middle of Put has left, once they are a day old. It returns how many.
func (s *Files) Sweep(named map[string]bool) (int, error) {
	files, err := s.files()
	swept := 0
	for _, f := range files {
		ours := sumName.MatchString(f.Name()) || strings.HasSuffix(f.Name(), ".part")
		if !ours || named[f.Name()] || time.Since(f.ModTime()) < kept {
			continue
		}
		if removal := os.Remove(filepath.Join(s.dir, f.Name())); removal != nil && !errors.Is(removal, fs.ErrNotExist) {
			err = errors.Join(err, removal)
			continue
		}
		swept++
	}
	return swept, err
}
