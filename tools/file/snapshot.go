package file

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"syscall"

	"klawbot/tools"
)

// snapshot is a file at one moment, or that there is none.
type snapshot struct {
	// info is nil when there is no file.
	info    fs.FileInfo
	content []byte
	// foreign is set when the content was not read: the file has a second name
	// (hard link), which may lie outside the workspace.
	foreign bool
}

// foreignHash is the hash of content that was not read.
const foreignHash = "not read"

func (s snapshot) exists() bool { return s.info != nil }

// hash identifies the content, "" for no file.
func (s snapshot) hash() string {
	switch {
	case !s.exists():
		return ""
	case s.foreign:
		return foreignHash
	}
	return hash(s.content)
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// snap reads a regular file in a directory. A link is refused: the change would
// replace the link, not its target.
func (f *files) snap(dir *os.Root, leaf, shown string) (snapshot, error) {
	info, err := dir.Lstat(leaf)
	if isMissing(err) {
		return snapshot{}, nil
	}
	if err != nil {
		return snapshot{}, err
	}
	if err := regular(info, shown); err != nil {
		return snapshot{}, err
	}
	if linked(info) && !f.hardlinks() {
		return snapshot{info: info, foreign: true}, nil
	}
	content, err := f.readPinned(dir, leaf, shown, info)
	return snapshot{info: info, content: content}, err
}

// readPinned reads the file that info describes, and no other.
func (f *files) readPinned(dir *os.Root, leaf, shown string, info fs.FileInfo) ([]byte, error) {
	limit := f.maxBytes()
	if info.Size() > limit {
		return nil, tools.Refuse(tools.Execution, "%s is too large to change: %d bytes, the limit is %d", quote(shown), info.Size(), limit)
	}
	file, err := dir.OpenFile(leaf, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	opened, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(info, opened) {
		return nil, changedNow(shown)
	}
	if virtual(file) {
		return nil, tools.Refuse(tools.Security, "Access denied: %s is a /proc or /sys file", quote(shown))
	}
	return io.ReadAll(io.LimitReader(file, limit+1))
}

// unchanged reports whether the name still has the same, unchanged file.
func (s snapshot) unchanged(dir *os.Root, leaf string) (bool, error) {
	now, err := dir.Lstat(leaf)
	if isMissing(err) {
		return !s.exists(), nil
	}
	if err != nil || !s.exists() {
		return false, err
	}
	return os.SameFile(now, s.info) && now.Size() == s.info.Size() && now.ModTime().Equal(s.info.ModTime()), nil
}

func changedNow(shown string) error {
	return tools.Refuse(tools.Execution, "%s was changed by another program at this moment, so it was left alone; read it and try again", quote(shown))
}
