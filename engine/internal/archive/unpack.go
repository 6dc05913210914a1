package archive

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"klawbot/engine/internal/sqlite"
)

// The bounds of an archive. A bot's files seldom get to a twentieth of their size.
const (
	// maxSwell is how many times larger than the archive its content may be,
	// where that is more than plainSize.
	maxSwell  = 100
	plainSize = 64 << 20
	// maxEntries is how many files and folders it may hold.
	maxEntries = 1_000_000
	// block is what a folder takes of the disk, in bytes.
	block = 4 << 10
	// roomKept is what it must leave of the disk, in bytes.
	roomKept = 64 << 20
)

// ErrSwells is an archive that wants to become larger than it may.
var ErrSwells = errors.New("the archive is refused")

// Unpacker reads a .tar.gz and refuses one that is beyond the bounds, by what its
// entries claim to hold and by what comes out of it.
type Unpacker struct {
	*tar.Reader
	most    int64 // bytes that may come out
	room    int64 // bytes that the disk still takes
	entries int
	claimed int64
	kept    string // the last path that folders has counted
}

// Unpack reads an archive of a size in bytes, whose content is for a folder.
func Unpack(in io.Reader, size int64, dir string) (*Unpacker, error) {
	unpacked, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	free, err := sqlite.FreeSpace(dir)
	if err != nil {
		return nil, err
	}
	u := &Unpacker{most: max(plainSize, size*maxSwell), room: max(0, int64(min(free, 1<<62))-roomKept)}
	// Between the files there are headers, which are no part of what is claimed.
	u.Reader = tar.NewReader(&bounded{unpacked, u.most + u.most/4, u})
	return u, nil
}

// Next goes to the next entry.
func (u *Unpacker) Next() (*tar.Header, error) {
	h, err := u.Reader.Next()
	if err != nil {
		return nil, err
	}
	if u.entries++; u.entries > maxEntries {
		return nil, fmt.Errorf("%w: it holds more than %d files", ErrSwells, maxEntries)
	}
	if h.Size > u.most-u.claimed {
		return nil, u.swells()
	}
	u.claimed += h.Size
	return h, nil
}

// Keep is Take for a file, or a folder, which ends with a slash, and for the folders in
// its path.
func (u *Unpacker) Keep(name string, bytes int64) error {
	if err := u.folders(name); err != nil {
		return err
	}
	return u.Take(bytes)
}

// folders counts the folders in a path as what the archive becomes, but for those that
// the path before it has.
func (u *Unpacker) folders(name string) error {
	had, has := strings.Split(u.kept, "/"), strings.Split(filepath.ToSlash(name), "/")
	same := 0
	for same < min(len(had), len(has))-1 && had[same] == has[same] {
		same++
	}
	made := int64(len(has)-1-same) * block
	if u.kept = filepath.ToSlash(name); made > u.most-u.claimed {
		return u.swells()
	}
	u.claimed += made
	return u.Take(made)
}

// Take is for the bytes of an entry that is going to be kept. They must find room
// on the disk, beside those that were taken before.
func (u *Unpacker) Take(bytes int64) error {
	if u.room -= bytes; u.room < 0 {
		return fmt.Errorf("%w: the disk has no room for what it holds; free some space and try again", ErrSwells)
	}
	return nil
}

func (u *Unpacker) swells() error {
	return fmt.Errorf("%w: it would become more than %d MB, %d times its size; if you trust it, unpack it by hand", ErrSwells, u.most>>20, maxSwell)
}

// bounded lets so many bytes through.
type bounded struct {
	io.Reader
	left int64
	of   *Unpacker
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, b.of.swells()
	}
	return n, err
}
