package file

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"klawbot/tools"
)

// openDir opens a directory below root, with create it creates missing ones. It opens each
// step before the next: a link that is swapped in leads nowhere.
func openDir(root *os.Root, name string, create bool) (*os.Root, error) {
	dir, err := root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "." {
			continue
		}
		next, err := step(dir, part, create)
		if err = errors.Join(err, dir.Close()); err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

func step(dir *os.Root, name string, create bool) (*os.Root, error) {
	if create {
		if err := dir.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	before, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, tools.Refuse(tools.Validation, "%s is not a directory, so nothing can be written below it", quote(name))
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := next.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = errOutside
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}
