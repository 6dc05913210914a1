package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"klawbot/engine/internal/store"
	"klawbot/internal/atomicfile"
	"klawbot/internal/clip"
	"klawbot/tools"
)

// Files keeps files by their contents: DIR/media/ab/SHA256.
type Files struct {
	dir, workspace string
	log            *slog.Logger
}

// In is the store of files of a data directory. Copies go to the workspace.
func In(dir, workspace string, log *slog.Logger) *Files {
	return &Files{filepath.Join(dir, "media"), workspace, log}
}

// Path is where a file lies.
func (f *Files) Path(sum string) string {
	if len(sum) < 2 {
		return filepath.Join(f.dir, "none")
	}
	return filepath.Join(f.dir, sum[:2], sum)
}

// Open opens a kept file. The error is fs.ErrNotExist for one that is not kept any more.
func (f *Files) Open(sum string) (io.ReadCloser, error) { return os.Open(f.Path(sum)) }

// Put keeps what fill writes, and returns its SHA-256 and its length. When it returns
// nil, the file is on the disk.
func (f *Files) Put(fill func(io.Writer) error) (sum string, bytes int64, err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return "", 0, err
	}
	temp := filepath.Join(f.dir, "incoming-"+fmt.Sprint(time.Now().UnixNano()))
	hash := sha256.New()
	err = atomicfile.Fill(temp, 0o600, func(to *os.File) error {
		if err := fill(io.MultiWriter(to, hash)); err != nil {
			return err
		}
		bytes, err = to.Seek(0, io.SeekCurrent)
		return err
	})
	if err != nil {
		return "", 0, err
	}
	sum = hex.EncodeToString(hash.Sum(nil))
	if err = os.MkdirAll(filepath.Dir(f.Path(sum)), 0o700); err == nil {
		err = atomicfile.Rename(temp, f.Path(sum))
	}
	if err != nil {
		return "", 0, errors.Join(err, os.Remove(temp))
	}
	return sum, bytes, nil
}

// inbox is the folder of the workspace for files that people sent.
const inbox = "inbox"

// copyTo copies a kept file into the workspace, under its name or one with a number, and
// returns the path there. A copy that is there already is taken.
func (f *Files) copyTo(chat, name, sum string) (string, error) {
	root, err := os.OpenRoot(f.workspace)
	if err != nil {
		return "", err
	}
	defer root.Close() // nothing is written through it any more
	kept, err := os.Stat(f.Path(sum))
	if err != nil {
		return "", err
	}
	dir := path.Join(inbox, chat)
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	end := path.Ext(name)
	for n := 1; n < 1000; n++ {
		to := path.Join(dir, name)
		if n > 1 {
			to = path.Join(dir, fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, end), n, end))
		}
		switch same, err := sameFile(root, to, sum, kept.Size()); {
		case errors.Is(err, fs.ErrNotExist):
			return to, f.writeCopy(root, to, sum)
		case err == nil && same:
			return to, nil
		}
	}
	return "", fmt.Errorf("too many files named %s", name)
}

func (f *Files) writeCopy(root *os.Root, to, sum string) error {
	from, err := os.Open(f.Path(sum))
	if err != nil {
		return err
	}
	defer from.Close() // nothing is written
	w, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, from)
	if err = errors.Join(err, w.Close()); err != nil {
		_ = root.Remove(to) // the first error tells more
	}
	return err
}

// sameFile reports whether a file of the workspace is the one with the sum and the size.
func sameFile(root *os.Root, name, sum string, size int64) (bool, error) {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != size {
		return false, err
	}
	r, err := root.Open(name)
	if err != nil {
		return false, err
	}
	defer r.Close() // nothing is written
	hash := sha256.New()
	if _, err := io.Copy(hash, r); err != nil {
		return false, err
	}
	return hex.EncodeToString(hash.Sum(nil)) == sum, nil
}

// maxName is how long a name may be, in bytes: file systems take 255.
const maxName = 160

// cleanName is a name that is safe as one of a file: no folders, no marks that change how
// it reads, no hidden file, and nothing that a command takes for an option.
func cleanName(name, otherwise string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '/' || r == '\\' || r == ':' || unicode.IsSpace(r):
			return ' '
		case r == '[' || r == ']' || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, name)
	name = strings.TrimLeft(strings.Join(strings.Fields(name), " "), ".- ")
	end := clip.Bytes(path.Ext(name), 12)
	if tools.ForeignName(name) == "" { // empty, or orders to the model
		return otherwise + end
	}
	if len(name) > maxName {
		name = clip.Bytes(name, maxName-len(end)) + end
	}
	return name
}

// Sweep deletes the kept files that no running turn needs: those that were not used for
// longer than keep, 0 for ever, and the longest unused ones until the rest fits the quota.
func (f *Files) Sweep(ctx context.Context, st *store.Store, quota int64, keep time.Duration) error {
	type kept struct {
		store.Media
		used int64
		free bool
	}
	var all []kept
	var total int64
	err := st.Read(ctx, func(tx *store.Tx) error {
		all, total = nil, 0
		return tx.Media().Kept(func(m store.Media, used int64, free bool) {
			all = append(all, kept{m, used, free})
			total += m.Bytes
		})
	})
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, m := range all {
		known[m.Sum] = true
	}
	if err := f.dropUnknown(known); err != nil {
		return err
	}
	old := time.Now().Add(-keep).UnixMilli()
	for _, m := range all {
		if !m.free || total <= quota && (keep <= 0 || m.used >= old) {
			continue
		}
		if err := f.drop(ctx, st, m.Media); err != nil {
			return err
		}
		total -= m.Bytes
	}
	return nil
}

// settled is the age from which a file belongs to no download that still runs.
const settled = time.Hour

// dropUnknown deletes what a crash left behind: files that nothing knows of.
func (f *Files) dropUnknown(known map[string]bool) error {
	var all []string
	for _, pattern := range []string{"*", filepath.Join("*", "*")} {
		names, err := filepath.Glob(filepath.Join(f.dir, pattern))
		if err != nil {
			return err
		}
		all = append(all, names...)
	}
	for _, name := range all {
		info, err := os.Lstat(name)
		if err != nil || info.IsDir() || known[filepath.Base(name)] || time.Since(info.ModTime()) < settled {
			continue
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Add keeps a file whose sum is known, such as one of an export. Another content is an
// error. It reports whether the file was not there yet.
func (f *Files) Add(ctx context.Context, st *store.Store, sum string, from io.Reader) (added bool, err error) {
	if _, err := os.Stat(f.Path(sum)); err == nil {
		return false, nil
	}
	got, bytes, err := f.Put(func(w io.Writer) error {
		_, err := io.Copy(w, from)
		return err
	})
	if err != nil {
		return false, err
	}
	if got != sum {
		return false, errors.Join(fmt.Errorf("the file %s has another content", sum), os.Remove(f.Path(got)))
	}
	return true, st.Write(ctx, func(tx *store.Tx) error { return tx.Media().Keep(store.Media{Sum: sum, Bytes: bytes}) })
}

// drop deletes a file and its unchanged copies.
func (f *Files) drop(ctx context.Context, st *store.Store, m store.Media) error {
	if root, err := os.OpenRoot(f.workspace); err == nil {
		defer root.Close() // nothing is written through it any more
		for _, name := range m.Copies {
			if same, err := sameFile(root, name, m.Sum, m.Bytes); err == nil && same {
				if err := root.Remove(name); err != nil {
					f.log.Warn("copy of a file not deleted", "err", err)
				}
			}
		}
	}
	if err := os.Remove(f.Path(m.Sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return st.Write(ctx, func(tx *store.Tx) error { return tx.Media().Drop(m.Sum) })
}
