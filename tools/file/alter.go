package file

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"klawbot/tools"
)

// defaultMode is that of a new file.
const defaultMode fs.FileMode = 0o644

// alteration is one change of one file by one call.
type alteration struct {
	call tools.Call
	// written is the path as the model wrote it.
	written string
	// next says what becomes of the file. It runs before anything is changed.
	next func(shown string, before snapshot) (outcome, error)
}

// outcome is what a file shall be.
type outcome struct {
	// remove says that there shall be no file.
	remove  bool
	content []byte
	// mode is that of a file that does not exist yet; 0 means the usual one.
	mode fs.FileMode
	// undoes are the recorded changes that are taken back.
	undoes []int64
}

func (o outcome) hash() string {
	if o.remove {
		return ""
	}
	return hash(o.content)
}

// alter changes one file and returns its path: it reads what is there, asks
// what shall be there, commits the record of it and then makes the change, at
// once for whoever reads.
func (f *files) alter(ctx context.Context, a alteration) (shown string, err error) {
	if _, is := f.spilled(a.written); is {
		return "", refuse(tools.Security, "Access denied: %s is read-only", tools.SpillPrefix)
	}
	if a.call.Changelog == nil {
		return "", refuse(tools.Execution, "changes cannot be recorded here, so nothing was changed")
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	p, err := f.locate(a.written)
	if err != nil {
		return "", err
	}
	defer p.root.Close()
	if err := writable(a.written, p); err != nil {
		return "", err
	}
	unlock, err := lockRoot(ctx, p.root)
	if err != nil {
		return "", err
	}
	return p.shown, errors.Join(f.alterAt(ctx, a, p), unlock())
}

// writable refuses targets by their path alone.
func writable(written string, p place) error {
	switch {
	case strings.HasSuffix(written, "/") || p.name == ".":
		return refuse(tools.Validation, "%s is a directory; the path must name a file", quote(written))
	case protected(p.shown) || protected(p.name):
		return refuse(tools.Security, "Access denied: files in .git are not written by tools")
	case temporaryName(path.Base(p.name)):
		return refuse(tools.Validation, "%s is a name that klawbot uses itself; take another", quote(written))
	}
	return nil
}

func (f *files) alterAt(ctx context.Context, a alteration, p place) error {
	dir, err := openDir(p.root, path.Dir(p.name), false)
	if err != nil && !isMissing(err) {
		return err
	}
	leaf, before := path.Base(p.name), snapshot{}
	if dir != nil {
		defer dir.Close()
		if before, err = f.snap(dir, leaf, p.shown); err != nil {
			return err
		}
	}
	after, err := a.next(p.shown, before)
	if err != nil {
		return err
	}
	if dir == nil && !after.remove {
		if dir, err = openDir(p.root, path.Dir(p.name), true); err != nil {
			return err
		}
		defer dir.Close()
	}
	s := swap{dir: dir, leaf: leaf, shown: p.shown, before: before, after: after}
	return s.run(ctx, a.call)
}

// swap puts the outcome into the place of what is there.
type swap struct {
	dir    *os.Root // nil when a file that is missing with its folder shall be removed
	leaf   string
	shown  string
	before snapshot
	after  outcome
}

// run writes the new content beside the old, commits the record and renames.
// What is killed in between leaves a record of a change that has not happened,
// which its hashes tell, and a temporary file, which Sweep removes.
func (s swap) run(ctx context.Context, c tools.Call) (err error) {
	temporary := ""
	if !s.after.remove {
		temporary = newTemporaryName()
		if err := s.create(temporary); err != nil {
			return errors.Join(err, remove(s.dir, temporary))
		}
	}
	id, err := s.record(ctx, c)
	if err == nil {
		if err = s.commit(temporary); err == nil {
			return s.sync()
		}
		err = errors.Join(err, c.Changelog.Discard(context.WithoutCancel(ctx), id))
	}
	if temporary != "" {
		err = errors.Join(err, remove(s.dir, temporary))
	}
	return err
}

func (s swap) record(ctx context.Context, c tools.Call) (int64, error) {
	change := c.Changed(s.shown)
	change.Before, change.After, change.Undoes = s.before.hash(), s.after.hash(), s.after.undoes
	if s.before.exists() {
		change.Size, change.Mode = s.before.info.Size(), s.before.info.Mode().Perm()
		change.Kept = !s.before.foreign
	}
	id, err := c.Changelog.Record(ctx, change, s.before.content)
	if err != nil {
		return 0, refuse(tools.Execution, "the change could not be recorded, so nothing was changed: %v", err)
	}
	return id, nil
}

// commit makes the change, unless somebody else was faster.
func (s swap) commit(temporary string) error {
	if s.dir == nil {
		return nil
	}
	same, err := s.before.unchanged(s.dir, s.leaf)
	if err != nil {
		return err
	}
	if !same {
		return changedMeanwhile(s.shown)
	}
	if s.after.remove {
		return remove(s.dir, s.leaf)
	}
	return s.dir.Rename(temporary, s.leaf)
}

// create writes the new content through to the disk.
func (s swap) create(name string) error {
	file, err := s.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, cmp.Or(s.after.mode, defaultMode))
	if err != nil {
		return err
	}
	_, err = file.Write(s.after.content)
	if s.before.exists() { // the umask is not asked again
		err = errors.Join(err, file.Chmod(s.before.info.Mode().Perm()))
	}
	return errors.Join(err, file.Sync(), file.Close())
}

// sync makes the new name last.
func (s swap) sync() error {
	if s.dir == nil {
		return nil
	}
	d, err := s.dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func remove(dir *os.Root, name string) error {
	if err := dir.Remove(name); !isMissing(err) {
		return err
	}
	return nil
}
