package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"klawbot/engine/internal/store"
)

// Files are the memory files of a workspace, which everybody may find: MEMORY.md,
// notes.md and memory/*.md. People and tools change them as they like; Refresh
// notices. It may be used from several goroutines.
type Files struct {
	// Workspace is the folder.
	Workspace string
	// Size says how they are cut.
	Size func() ChunkSize

	mu   sync.Mutex
	seen map[string]stamp // guarded by mu
}

// stamp is what tells quickly whether a file is another one.
type stamp struct {
	size    int64
	changed time.Time
}

// The bounds of what is indexed of a workspace: how many files, and the bytes of
// one. What is larger is left out.
const (
	maxFiles     = 2000
	MaxFileBytes = 1 << 20
)

// Refresh brings the index up to date and reports whether anything changed. When
// nothing did, it costs a look at each file and no query.
func (f *Files) Refresh(ctx context.Context, s *store.Store) (changed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	root, err := os.OpenRoot(f.Workspace)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer root.Close()
	now, _ := look(root)
	if f.seen != nil && maps.Equal(f.seen, now) {
		return false, nil
	}
	var known map[string]string
	err = s.Read(ctx, func(tx *store.Tx) error {
		known, err = tx.Index().IndexedSources(store.KindFile)
		return err
	})
	if err != nil {
		return false, err
	}
	for name := range known {
		if _, there := now[name]; !there {
			if err := f.index(ctx, s, name, nil); err != nil {
				return changed, err
			}
			changed = true
		}
	}
	for name, is := range now {
		if was, ok := f.seen[name]; ok && was == is {
			continue
		}
		text, err := ReadFile(root, name)
		if err != nil {
			continue // it went, or is none to read: the next look tells
		}
		if known[name] == hash(text) {
			continue
		}
		if err := f.index(ctx, s, name, text); err != nil {
			return changed, err
		}
		changed = true
	}
	f.seen = now
	return changed, nil
}

// index replaces what is indexed of a file; without a text it is gone.
func (f *Files) index(ctx context.Context, s *store.Store, name string, text []byte) error {
	if text == nil {
		return replaceSource(ctx, s, store.KindFile, name, nil, "")
	}
	size := f.Size()
	var chunks []store.Chunk
	for _, piece := range Split(strings.ToValidUTF8(string(text), "�"), size.Size, size.Overlap) {
		chunks = append(chunks, store.Chunk{Kind: store.KindFile, Source: name, Content: piece, CreatedAt: day(name)})
	}
	return replaceSource(ctx, s, store.KindFile, name, chunks, hash(text))
}

// replaceSource replaces what is indexed of a file or a page, and its state.
func replaceSource(ctx context.Context, s *store.Store, kind store.Kind, source string, chunks []store.Chunk, state string) error {
	return s.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Index().DropSource(kind, source); err != nil {
			return err
		}
		if err := Add(tx, chunks); err != nil {
			return err
		}
		return tx.Index().SetIndexed(kind, source, state)
	})
}

// day is the day of a journal, zero for another file.
func day(name string) time.Time {
	t, err := time.Parse(time.DateOnly, strings.TrimSuffix(path.Base(name), ".md"))
	if err != nil {
		return time.Time{}
	}
	return t
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// LeftOut are the memory files that no search finds: too large, too many, or no
// ordinary files.
func (f *Files) LeftOut() []string {
	root, err := os.OpenRoot(f.Workspace)
	if err != nil {
		return nil
	}
	defer root.Close()
	_, left := look(root)
	return left
}

// look finds the memory files, and names those that are left out.
func look(root *os.Root) (found map[string]stamp, left []string) {
	found = map[string]stamp{}
	add := func(name string) {
		info, err := root.Lstat(name)
		switch {
		case err != nil: // there is none
		case info.Mode().IsRegular() && info.Size() <= MaxFileBytes && len(found) < maxFiles:
			found[name] = stamp{info.Size(), info.ModTime()}
		default:
			left = append(left, name)
		}
	}
	add("MEMORY.md")
	add("notes.md")
	dir, err := root.Open("memory")
	if err != nil {
		return found, left
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxFiles)
	if err != nil && !errors.Is(err, io.EOF) {
		return found, left
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(b.Name(), a.Name()) }) // the newest first
	for _, e := range entries {
		if path.Ext(e.Name()) == ".md" && !e.IsDir() {
			add("memory/" + e.Name())
		}
	}
	return found, left
}

// byteOrderMark is what some editors put before a text.
const byteOrderMark = "\ufeff"

// ErrNoFile is the error of ReadFile for what is no ordinary file, or too large.
var ErrNoFile = errors.New("no file of at most 1 MiB")

// ReadFile reads a file of a workspace, never one outside and never a pipe. Lines end
// as on Unix, whatever the editor.
func ReadFile(root *os.Root, name string) ([]byte, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxFileBytes {
		return nil, ErrNoFile
	}
	text, err := io.ReadAll(io.LimitReader(file, MaxFileBytes))
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), err
}
