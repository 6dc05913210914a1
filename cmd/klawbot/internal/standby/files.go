package standby

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"klawbot/internal/atomicfile"
	"klawbot/internal/wait"
)

// file is a file of the data directory or the workspace in the list of an epoch.
type file struct {
	Name string      `json:"name"`
	Mode fs.FileMode `json:"mode"`
	Size int64       `json:"size"`
	Sum  string      `json:"sum"`
}

// look is what tells that a file has changed.
type look struct {
	size    int64
	changed time.Time
	inode   uint64
	mode    fs.FileMode
}

func lookOf(i fs.FileInfo) look {
	l := look{i.Size(), i.ModTime(), 0, i.Mode()}
	if s, ok := i.Sys().(*syscall.Stat_t); ok {
		l.inode = s.Ino
	}
	return l
}

// mirror copies files to the place: their contents named by their sums, and a list of
// names for each epoch. So a list is of one moment, and a host that takes over later
// fetches only what it lacks.
type mirror struct {
	place place
	// roots are the directories by the first part of a file's name.
	roots map[string]string
	seen  map[string]seenFile
	there map[string]bool // sums that the place has; nil: unknown yet
	list  []byte          // as it was written
}

type seenFile struct {
	look look
	file file
}

func blobName(sum string) string { return "files/" + sum[:2] + "/" + sum }

func listName(epoch int) string { return replicaFolder(epoch) + "/files.json" }

// errChanging means that a file changed while it was read.
var errChanging = errors.New("the file is changing")

// copy brings the place up to date with what is on the disk now.
func (m *mirror) copy(ctx context.Context, epoch int) error {
	if m.there == nil {
		names, err := m.place.list(ctx, "files")
		if err != nil {
			return err
		}
		m.there, m.seen = map[string]bool{}, map[string]seenFile{}
		for _, name := range names {
			m.there[path.Base(name)] = true
		}
	}
	now := map[string]seenFile{}
	for root, dir := range m.roots {
		if err := m.scan(ctx, root, dir, now); err != nil {
			return err
		}
	}
	m.seen = now
	all := make([]file, 0, len(now))
	for _, f := range now {
		all = append(all, f.file)
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.Name, b.Name) })
	list, err := json.Marshal(all)
	if err != nil || slices.Equal(list, m.list) {
		return err
	}
	if err := m.place.put(ctx, listName(epoch), text(list), false); err != nil {
		return err
	}
	m.list = list
	return nil
}

// scan copies what is new below a directory. Only regular files count. The root keeps
// links from leading out of it.
func (m *mirror) scan(ctx context.Context, name, dir string, now map[string]seenFile) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && (!d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".klawbot-")) {
			return nil // it is gone, or being written
		}
		if err != nil {
			return err
		}
		full := path.Join(name, rel)
		info, err := d.Info()
		if err == nil {
			err = m.take(ctx, root, rel, full, info, now)
		}
		if before, ok := m.seen[full]; ok && errors.Is(err, errChanging) {
			now[full] = before
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errChanging) || errors.Is(err, fs.ErrPermission) {
			return nil // the next round sees it
		}
		return err
	})
}

// take notes a file, and copies its content if the place has it not.
func (m *mirror) take(ctx context.Context, root *os.Root, rel, full string, info fs.FileInfo, now map[string]seenFile) error {
	l := lookOf(info)
	if before, ok := m.seen[full]; ok && before.look == l {
		now[full] = before
		return nil
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe in its place must not block
	if err != nil {
		return err
	}
	defer f.Close()
	sum, n, err := sumOf(f)
	if err != nil {
		return err
	}
	after, err := f.Stat()
	if err != nil {
		return err
	}
	if !after.Mode().IsRegular() || lookOf(after) != l || n != l.size {
		return errChanging
	}
	if !m.there[sum] {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		// Should it change now, its sum does not fit, and a reader refuses it.
		if err := m.place.put(ctx, blobName(sum), object{io.LimitReader(f, n), n, sum}, false); err != nil {
			return err
		}
		if again, err := f.Stat(); err != nil || lookOf(again) != l {
			return errors.Join(errChanging, m.place.remove(ctx, blobName(sum)))
		}
		m.there[sum] = true
	}
	now[full] = seenFile{l, file{full, info.Mode().Perm(), n, sum}}
	return nil
}

func sumOf(r io.Reader) (sum string, n int64, err error) {
	h := sha256.New()
	n, err = io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// run keeps the place up to date until ctx ends. It tells done how each round went, which
// says how long to wait for the next.
func (m *mirror) run(ctx context.Context, epoch int, done func(began time.Time, err error) (pause time.Duration)) {
	for {
		began := time.Now()
		err := m.copy(ctx, epoch)
		took := time.Since(began)
		if ctx.Err() != nil {
			return
		}
		// A large workspace must not keep a processor busy.
		if !wait.For(ctx, max(done(began, err), 10*took)) {
			return
		}
	}
}

// restore makes the directories what the list of an epoch says.
func (m *mirror) restore(ctx context.Context, epoch int) error {
	body, err := read(ctx, m.place, listName(epoch))
	if err != nil {
		return fmt.Errorf("the list of files: %w", err)
	}
	var list []file
	if err := json.Unmarshal(body, &list); err != nil {
		return fmt.Errorf("the list of files: %w", err)
	}
	wanted := map[string]bool{}
	for _, f := range list {
		wanted[f.Name] = true
	}
	for name, dir := range m.roots {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		err = m.fill(ctx, root, name, list, wanted)
		if err := errors.Join(err, root.Close()); err != nil {
			return err
		}
	}
	return nil
}

// fill fetches what a root lacks and removes what is not wanted there.
func (m *mirror) fill(ctx context.Context, root *os.Root, name string, list []file, wanted map[string]bool) error {
	err := fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || wanted[path.Join(name, rel)] && d.Type().IsRegular() {
			return err
		}
		return root.Remove(rel)
	})
	if err != nil {
		return err
	}
	for _, f := range list {
		rel, ours := strings.CutPrefix(f.Name, name+"/")
		if !ours {
			continue
		}
		if err := m.fetch(ctx, root, filepath.FromSlash(rel), f); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// fetch brings one file, unless it is there.
func (m *mirror) fetch(ctx context.Context, root *os.Root, rel string, want file) error {
	if have, err := root.Open(rel); err == nil {
		sum, _, err := sumOf(have)
		if err := errors.Join(err, have.Close()); err == nil && sum == want.Sum {
			return root.Chmod(rel, want.Mode)
		}
	}
	if err := root.MkdirAll(filepath.Dir(rel), 0o700); err != nil {
		return err
	}
	if d, err := root.Stat(rel); err == nil && d.IsDir() {
		if err := root.RemoveAll(rel); err != nil { // nothing in it is wanted
			return err
		}
	}
	from, err := m.place.open(ctx, blobName(want.Sum))
	if err != nil {
		return err
	}
	defer from.Close()
	return atomicfile.Fill(filepath.Join(root.Name(), rel), want.Mode, func(to *os.File) error {
		sum, _, err := sumOf(io.TeeReader(from, to))
		if err == nil && sum != want.Sum {
			err = errors.New("the copy is damaged")
		}
		return err
	})
}

// tidy removes contents that no list names any more, of those that were unused before
// too, and the folders of old epochs.
func (m *mirror) tidy(ctx context.Context, epoch int, unused map[string]bool) (map[string]bool, error) {
	used := map[string]bool{}
	for _, f := range m.seen {
		used[f.file.Sum] = true
	}
	idle := map[string]bool{}
	for sum := range m.there {
		if used[sum] {
			continue
		}
		idle[sum] = true
		if unused[sum] {
			if err := m.place.remove(ctx, blobName(sum)); err != nil {
				return idle, err
			}
			delete(m.there, sum)
			delete(idle, sum)
		}
	}
	names, err := m.place.list(ctx, "epochs")
	if err != nil {
		return idle, err
	}
	for _, name := range names {
		if name < replicaFolder(epoch-1) {
			if err := m.place.remove(ctx, name); err != nil {
				return idle, err
			}
		}
	}
	return idle, nil
}
