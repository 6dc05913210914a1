// Package keep restores files of a workspace that a command may not change, where no
// mount could keep it from writing.
package keep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// RefusedSuffix ends the name of the file that keeps what a command wrote into a
// read-only file of the workspace, where no mount could keep it from writing.
const RefusedSuffix = ".refused"

// Bounds of what is kept to be put back, in bytes and in files: one file, and all
// that is in a folder.
const (
	maxReadOnly  = 1 << 20
	maxKept      = 16 << 20
	maxKeptFiles = 5000
)

// kept is a file, a folder or a link as it was before a command.
type kept struct {
	name string
	// text is what a file holds, or where a link leads.
	text []byte
	mode fs.FileMode // 0: there was none
	// below is what is in a folder.
	below []kept
}

// Files remembers files and folders of a workspace, named as seen from there. putBack
// restores those that have changed and returns their names; what was in their place is
// beside them, with RefusedSuffix.
func Files(workspace string, names []string) (putBack func() []string, err error) {
	all, err := remember(workspace, names)
	return func() []string { return restore(workspace, all) }, err
}

// remember reads files and folders of a workspace.
func remember(workspace string, names []string) (all []kept, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, name := range names {
		room := room{maxKept, maxKeptFiles}
		k, err := room.keep(root, name)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, nil
}

// room is how much may still be kept.
type room struct{ bytes, files int64 }

// keep reads what has a name. What is too large, or no file, cannot be put back.
func (r *room) keep(root *os.Root, name string) (k kept, err error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return kept{name: name}, nil
	}
	if err != nil {
		return kept{}, err
	}
	k = kept{name: name, mode: info.Mode()}
	r.files--
	switch info.Mode().Type() {
	case 0:
		if r.bytes -= info.Size(); info.Size() <= maxReadOnly && r.bytes >= 0 {
			k.text, err = readAtMost(root, name)
			return k, err
		}
	case fs.ModeSymlink:
		target, err := root.Readlink(name)
		k.text = []byte(target)
		return k, err
	case fs.ModeDir:
		if r.files >= 0 {
			k.below, err = r.inside(root, name)
			return k, err
		}
	}
	return kept{}, fmt.Errorf("%s is nothing that can be kept as it is", name)
}

// inside reads what is in a folder.
func (r *room) inside(root *os.Root, name string) (all []kept, err error) {
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		k, err := r.keep(root, name+"/"+e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, nil
}

func readAtMost(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxReadOnly+1))
}

// restore makes the files what they were, and returns the names of those that
// were not. The other content is kept beside them: a person may have written it.
func restore(workspace string, all []kept) (changed []string) {
	if len(all) == 0 {
		return nil
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil // there is no workspace any more
	}
	defer root.Close()
	for _, k := range all {
		if k.same(root) {
			continue
		}
		changed = append(changed, k.name)
		_ = root.RemoveAll(k.name + RefusedSuffix) // what it hides is gone then, too
		if err := root.Rename(k.name, k.name+RefusedSuffix); err != nil {
			_ = root.RemoveAll(k.name) // it was a folder that cannot be moved, or nothing
		}
		_ = k.write(root) // the result names the file in any case
	}
	return changed
}

// same reports whether what has the name is what it was.
func (k kept) same(root *os.Root) bool {
	room := room{maxKept, maxKeptFiles}
	now, err := room.keep(root, k.name)
	return err == nil && k.equal(now)
}

func (k kept) equal(now kept) bool {
	return (k.mode == 0) == (now.mode == 0) && k.mode.Type() == now.mode.Type() && bytes.Equal(k.text, now.text) &&
		slices.EqualFunc(k.below, now.below, func(a, b kept) bool { return a.name == b.name && a.equal(b) })
}

// write makes what there was.
func (k kept) write(root *os.Root) error {
	switch {
	case k.mode == 0:
		return nil
	case k.mode.IsRegular():
		return root.WriteFile(k.name, k.text, k.mode.Perm())
	case k.mode.Type() == fs.ModeSymlink:
		return root.Symlink(string(k.text), k.name)
	}
	err := root.Mkdir(k.name, k.mode.Perm())
	for _, below := range k.below {
		err = errors.Join(err, below.write(root))
	}
	return err
}
