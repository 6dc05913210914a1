package file

import (
	"context"
	"errors"
	"io/fs"
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
	// next decides what becomes of the file, before anything is changed.
	next func(p place, before snapshot) (outcome, error)
}

// outcome is a file after a change.
type outcome struct {
	remove  bool // no file
	content []byte
	// mode is for a new file; 0 means defaultMode.
	mode fs.FileMode
	// undoes are the recorded changes that this one undoes.
	undoes []int64
}

func (o outcome) hash() string {
	if o.remove {
		return ""
	}
	return hash(o.content)
}

// alter changes one file and returns its path. It records the change before it
// makes it, and replaces the file in one step.
func (f *files) alter(ctx context.Context, a alteration) (shown string, err error) {
	if _, is := f.spilled(a.written); is {
		return "", tools.Refuse(tools.Security, "Access denied: %s is read-only", tools.SpillPrefix)
	}
	if a.call.Changelog == nil {
		return "", tools.Refuse(tools.Execution, "changes cannot be recorded here, so nothing was changed")
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
	if !a.call.Steers() && steers(p) { // a link has appeared since the policy check
		return "", tools.Refuse(tools.Security, "Access denied: %s steers the bot in every chat; an owner has to approve", quote(p.shown))
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
		return tools.Refuse(tools.Validation, "%s is a directory; the path must name a file", quote(written))
	case protected(p.shown) || protected(p.name):
		return tools.Refuse(tools.Security, "Access denied: files in .git are not written by tools")
	case temporaryName(path.Base(p.name)):
		return tools.Refuse(tools.Validation, "%s is reserved for klawbot; use another name", quote(written))
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
	after, err := a.next(p, before)
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
