package file

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"klawbot/tools"
	"klawbot/tools/file/match"
)

// place is a path in an open directory, all links followed. The caller closes root.
type place struct {
	root *os.Root
	name string
	// shown is the path that the model knows it by.
	shown string
	// twin is set when another name looks the same.
	twin bool
}

// locate opens the workspace and finds a path in it.
func (f *files) locate(written string) (place, error) {
	name, err := clean(names(f.config.Workspace), written)
	if err != nil {
		return place{}, err
	}
	root, err := openWorkspace(f.config.Workspace)
	if err != nil {
		return place{}, err
	}
	p := place{root: root}
	if p.shown, err = slashed(root, undouble(root, name)); err == nil {
		if p.shown, p.twin, err = spelled(root, p.shown); err == nil {
			p.name, err = resolve(root, p.shown)
		}
	}
	if err != nil {
		return place{}, errors.Join(err, root.Close())
	}
	return p, nil
}

func openWorkspace(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if dir == "" || err != nil {
		return nil, errNoWorkspace
	}
	return root, nil
}

// undouble accepts workspace/notes.md for notes.md, unless the workspace has a
// directory of that name.
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

// slashed accepts a path in the form of Windows, notes\todo.md, unless the workspace
// has a file of exactly that name.
func slashed(root *os.Root, name string) (string, error) {
	if !strings.Contains(name, `\`) {
		return name, nil
	}
	if _, err := root.Lstat(name); !isMissing(err) {
		return name, nil
	}
	return clean(nil, strings.ReplaceAll(name, `\`, "/"))
}

// spelled writes a path as it is stored. Keyboards and models compose letters (NFC) and
// write plain spaces, Macs store names decomposed (NFD) and use special spaces. A name
// that is stored exactly as written wins.
func spelled(root *os.Root, name string) (stored string, twin bool, err error) {
	for step := range strings.SplitSeq(name, "/") {
		if match.Varies(step) {
			all := lookalikes(root, path.Join(".", stored), step)
			exact := slices.Contains(all, step)
			twin = len(all) > 1
			switch {
			case twin && !exact:
				return "", false, tools.Refuse(tools.Validation, "several files are called %s, stored with different characters; rename them first", quote(name))
			case len(all) == 1 && !exact:
				step = all[0]
			}
		}
		stored = path.Join(stored, step)
	}
	return stored, twin, nil
}

// lookalikes are the names in a directory that look like a name.
func lookalikes(root *os.Root, dir, name string) (all []string) {
	folder, err := root.Open(dir)
	if err != nil {
		return nil // resolve reports it
	}
	defer folder.Close()
	entries, _ := folder.Readdirnames(-1) // what could be read counts
	for _, e := range entries {
		if match.Form(e) == match.Form(name) {
			all = append(all, e)
		}
	}
	return all
}

// twinNote tells the model that a name stands for two files.
func (p place) twinNote() string {
	if !p.twin {
		return ""
	}
	return "\n(Another file has a name that looks the same but is stored with different characters. It was not touched.)"
}

// locateSkill finds skills/… in the data directory, for reading. found is false
// for other paths.
func (f *files) locateSkill(shown string) (p place, found bool, err error) {
	rest, is := strings.CutPrefix(shown, "skills/")
	if !is || f.config.Data == "" {
		return place{}, false, nil
	}
	p, err = inFolder(filepath.Join(f.config.Data, "skills"), rest)
	p.shown = shown
	return p, err == nil, err
}

// inFolder finds a clean path in another directory.
func inFolder(dir, name string) (place, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return place{}, err
	}
	stored, _, err := spelled(root, name)
	real := ""
	if err == nil {
		real, err = resolve(root, stored)
	}
	if err != nil {
		return place{}, errors.Join(err, root.Close())
	}
	return place{root: root, name: real, shown: name}, nil
}

// spilled returns the name of the spilled output that a path stands for.
func (f *files) spilled(written string) (name string, is bool) {
	name, err := clean(names(f.config.Workspace), written)
	if err != nil || f.config.Spill == "" {
		return "", false
	}
	return strings.CutPrefix(name, tools.SpillPrefix)
}

func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
