// Package atomicfile replaces files so that a reader, or a crash, finds the old
// file or the new one in full. It trusts the folder: where another user may swap links
// in it, use the descriptor of an opened folder instead (tools/file).
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes text the content of the file, with this mode whatever the umask.
// When it returns nil, content and name are on the disk. A link is replaced, not
// followed.
func Write(name string, text []byte, mode fs.FileMode) error {
	return Fill(name, mode, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// Fill is Write for content that is not in memory: fill writes it. When fill fails,
// the old file stays and the new one is removed.
func Fill(name string, mode fs.FileMode, fill func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".klawbot-*")
	if err != nil {
		return err
	}
	if err = fill(f); err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error tells more
		return err
	}
	return sync(filepath.Dir(name))
}

// Rename moves a file that was written under another name to its final one. When
// it returns nil, content and name are on the disk.
func Rename(from, to string) error {
	if err := sync(from); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return sync(filepath.Dir(to))
}

// sync brings a file, or the names in a folder, to the disk.
func sync(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
