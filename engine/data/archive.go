package data

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/corememory"
	"klawbot/engine/internal/store"
	"klawbot/internal/atomicfile"
)

// The names inside an archive.
const (
	archiveDatabase  = "klawbot.db"
	archiveWorkspace = "workspace/"
	archiveCore      = "memory/core_memory.json"
)

// Archived is what BackUp or Restore dealt with.
type Archived struct {
	// Files of the workspace, and how many entries were left out because they
	// are no plain files or folders (links, sockets).
	Files, LeftOut int
	// Dropped is how many messages waited in the backup and are not answered
	// now, because the bot went on after it was made.
	Dropped int
}

// BackUp writes all that cannot be made again into a new file, a .tar.gz of a
// verified copy of the database, the core memory and the workspace. It works
// while the bot runs. The configuration is not in it, because it holds secrets, and neither
// are the conversation logs, which the database can write again.
func BackUp(ctx context.Context, c Config, file string) (done Archived, err error) {
	if file, err = filepath.Abs(file); err != nil {
		return done, err
	}
	st, err := store.OpenBeside(ctx, c.Store())
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return done, fmt.Errorf("%s is there already: name a new file", file)
	}
	err = atomicfile.Fill(file, 0o600, func(out *os.File) error {
		done, err = writeArchive(ctx, out, st, c, out.Name()+".db")
		return err
	})
	if err != nil {
		return done, fmt.Errorf("back up: %w", err)
	}
	return done, nil
}

// writeArchive writes the archive; copied is the place for the copy of the
// database.
func writeArchive(ctx context.Context, out *os.File, st *store.Store, c Config, copied string) (done Archived, err error) {
	if err := archive.Of(st).Backup(ctx, copied); err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, os.Remove(copied)) }()
	packed := gzip.NewWriter(out)
	archive := tar.NewWriter(packed)
	if err := addFile(archive, archiveDatabase, func() (*os.File, error) { return os.Open(copied) }); err != nil {
		return done, err
	}
	core := func() (*os.File, error) { return os.Open(corememory.NewCore(c.Dir).Path()) }
	if err := addFile(archive, archiveCore, core); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, err
	}
	if done, err = addWorkspace(ctx, archive, c.Workspace, out.Name()); err != nil {
		return done, err
	}
	return done, errors.Join(archive.Close(), packed.Close())
}

// addWorkspace adds the plain files and folders of a workspace; self is the
// archive, in case that it lies there.
func addWorkspace(ctx context.Context, archive *tar.Writer, dir, self string) (done Archived, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return done, nil
	}
	if err != nil {
		return done, err
	}
	defer root.Close() // it was only read
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // deleted meanwhile
		case err != nil || ctx.Err() != nil:
			return errors.Join(err, ctx.Err())
		case name == "." || strings.HasPrefix(filepath.Join(dir, name), self):
			return nil
		case entry.IsDir():
			return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: archiveWorkspace + name + "/", Mode: 0o755})
		case !entry.Type().IsRegular():
			done.LeftOut++
			return nil
		}
		err = addFile(archive, archiveWorkspace+name, func() (*os.File, error) { return root.Open(name) })
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		done.Files++
		return err
	})
	return done, err
}

// addFile adds a file as long as it is when it is opened. One that is shorter
// at the end is an error: half a file is no backup.
func addFile(archive *tar.Writer, name string, open func() (*os.File, error)) error {
	f, err := open()
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: int64(info.Mode().Perm()), ModTime: info.ModTime()}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	if _, err := io.CopyN(archive, f, info.Size()); err != nil {
		return fmt.Errorf("%s changed while it was read, try again: %w", name, err)
	}
	return nil
}

// Restore makes a data folder from what BackUp wrote, or from an automatic
// backup, which holds the database only. The folder must not have a database
// yet, and no workspace when there is one in the backup. A core memory that is
// there already stays.
func Restore(ctx context.Context, c Config, file string) (done Archived, err error) {
	f, err := os.Open(file)
	if err != nil {
		return done, err
	}
	defer f.Close() // it was only read
	in := bufio.NewReader(f)
	if magic, err := in.Peek(2); err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		if done.Dropped, err = archive.Restore(ctx, c.Dir, file); err != nil {
			return done, err
		}
		return done, writeLog(ctx, c)
	}
	info, err := f.Stat()
	if err != nil {
		return done, err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return done, err
	}
	packed, err := Unpack(in, info.Size(), c.Dir)
	if err != nil {
		return done, fmt.Errorf("read %s: %w", file, err)
	}
	if entries, err := os.ReadDir(c.Workspace); err == nil && len(entries) > 0 {
		return done, fmt.Errorf("the workspace %s is not empty: restore into another data folder (--data), or move it away first", c.Workspace)
	}
	// Unpacked whole before anything is put in place.
	work, err := os.MkdirTemp(c.Dir, ".restore-*")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if done, err = unpack(ctx, packed, work); err != nil {
		return done, fmt.Errorf("read %s: %w", file, err)
	}
	if done.Dropped, err = archive.Restore(ctx, c.Dir, filepath.Join(work, archiveDatabase)); err != nil {
		return done, err
	}
	if err := placeWorkspace(filepath.Join(work, archiveWorkspace), c.Workspace); err != nil {
		return done, err
	}
	if err := placeCore(filepath.Join(work, archiveCore), corememory.NewCore(c.Dir).Path()); err != nil {
		return done, err
	}
	return done, writeLog(ctx, c)
}

// writeLog writes the conversation logs of a restored database, which a backup
// does not hold.
func writeLog(ctx context.Context, c Config) error {
	st, beside, err := archive.Open(ctx, c.Store(), false)
	if err != nil {
		return err
	}
	return errors.Join(beside.WriteLog(ctx), st.Close())
}

// placeWorkspace moves an unpacked workspace to its place, which may be another
// disk.
func placeWorkspace(from, to string) error {
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if os.Rename(from, to) == nil {
		return nil
	}
	return os.CopyFS(to, os.DirFS(from))
}

// placeCore moves an unpacked core memory to its place, unless there is one.
func placeCore(from, to string) error {
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// unpack writes the entries of an archive below a folder, and nothing outside.
func unpack(ctx context.Context, archive *Unpacker, dir string) (done Archived, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for ctx.Err() == nil {
		entry, err := archive.Next()
		if err == io.EOF {
			return done, nil
		}
		if err != nil {
			return done, err
		}
		inWorkspace := strings.HasPrefix(entry.Name, archiveWorkspace)
		if !inWorkspace && entry.Name != archiveDatabase && entry.Name != archiveCore {
			return done, fmt.Errorf("it holds %q and is no backup of klawbot", entry.Name)
		}
		if err := archive.Keep(entry.Name, entry.Size); err != nil {
			return done, err
		}
		switch entry.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(strings.TrimSuffix(entry.Name, "/"), 0o755)
		case tar.TypeReg:
			if inWorkspace {
				done.Files++
			}
			err = unpackFile(root, entry, archive)
		default:
			done.LeftOut++
		}
		if err != nil {
			return done, err
		}
	}
	return done, ctx.Err()
}

func unpackFile(root *os.Root, entry *tar.Header, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(entry.Name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(entry.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fs.FileMode(entry.Mode).Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Sync(), f.Close())
}
