package file

import (
	"cmp"
	"context"
	"errors"
	"os"

	"klawbot/tools"
)

// swap replaces a file by an outcome. internal/atomicfile works on names; this works
// on an open directory, because a command could swap in a link at the same time.
// The change is recorded before the rename.
type swap struct {
	dir    *os.Root // nil to remove a file whose directory is missing too
	leaf   string
	shown  string
	before snapshot
	after  outcome
}

// run writes the new content beside the old, commits the record and renames. A kill
// in between leaves a record whose hashes show that nothing changed, and a temporary
// file, which Sweep removes.
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
		return 0, tools.Refuse(tools.Execution, "the change could not be recorded, so nothing was changed: %v", err)
	}
	return id, nil
}

// commit makes the change, unless the file has changed since it was read.
func (s swap) commit(temporary string) error {
	if s.dir == nil {
		return nil
	}
	same, err := s.before.unchanged(s.dir, s.leaf)
	if err != nil {
		return err
	}
	if !same {
		return changedNow(s.shown)
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
	if s.before.exists() { // whatever the umask is
		err = errors.Join(err, file.Chmod(s.before.info.Mode().Perm()))
	}
	return errors.Join(err, file.Sync(), file.Close())
}

// sync writes the new name to the disk.
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
