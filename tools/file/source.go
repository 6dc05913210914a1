package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"klawbot/tools"
)

// place is something in a folder that is open: the root and its path there, all
// links followed. The owner closes root.
type place struct {
	root *os.Root
	name string
	// shown is the path that the model knows it by.
	shown string
}

// locate opens the workspace and finds what a path stands for.
func (f *files) locate(written string) (place, error) {
	name, err := clean(names(f.config.Workspace), written)
	if err != nil {
		return place{}, err
	}
	root, err := openWorkspace(f.config.Workspace)
	if err != nil {
		return place{}, err
	}
	name, err = slashed(root, undouble(root, name))
	if err != nil {
		return place{}, errors.Join(err, root.Close())
	}
	real, err := resolve(root, name)
	if err != nil {
		return place{}, errors.Join(err, root.Close())
	}
	return place{root: root, name: real, shown: name}, nil
}

func openWorkspace(dir string) (*os.Root, error) {
	if dir == "" {
		return nil, errNoWorkspace
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errNoWorkspace
	}
	return root, nil
}

// undouble forgives a path that names the workspace again: workspace/notes.md
// when the workspace has no folder of that name.
func undouble(root *os.Root, name string) string {
	rest, doubled := strings.CutPrefix(name, "workspace/")
	if !doubled {
		return name
	}
	if _, err := root.Lstat("workspace"); !isMissing(err) {
		return name
	}
	return rest
}

// slashed forgives a path that is written as on Windows, notes\todo.md, when
// the workspace has nothing of that very name.
func slashed(root *os.Root, name string) (string, error) {
	if !strings.Contains(name, `\`) {
		return name, nil
	}
	if _, err := root.Lstat(name); !isMissing(err) {
		return name, nil
	}
	return clean(nil, strings.ReplaceAll(name, `\`, "/"))
}

// locateSkill finds what a path skills/… stands for in the data folder, for
// reading. found is false for other paths.
func (f *files) locateSkill(shown string) (p place, found bool, err error) {
	rest, is := strings.CutPrefix(shown, "skills/")
	if !is || f.config.Data == "" {
		return place{}, false, nil
	}
	p, err = inFolder(filepath.Join(f.config.Data, "skills"), rest)
	p.shown = shown
	return p, err == nil, err
}

// inFolder finds what a clean path stands for in another folder.
func inFolder(dir, name string) (place, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return place{}, err
	}
	real, err := resolve(root, name)
	if err != nil {
		return place{}, errors.Join(err, root.Close())
	}
	return place{root: root, name: real, shown: name}, nil
}

// spilled returns the name of a spilled output that a path stands for.
func (f *files) spilled(written string) (name string, is bool) {
	name, err := clean(names(f.config.Workspace), written)
	if err != nil || f.config.Spill == "" {
		return "", false
	}
	return strings.CutPrefix(name, tools.SpillPrefix)
}

// isMissing reports whether nothing has the name.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
