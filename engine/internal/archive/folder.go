package archive

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
	"regexp"
	"strings"

	"klawbot/engine/internal/store"
	"klawbot/internal/atomicfile"
)

// Folder is a data directory as a backup holds it.
type Folder struct {
	Store store.Config
	// Workspace is the folder of the workspace, Core the file of the core memory.
	Workspace, Core string
}

// The names inside an archive.
const (
	archiveDatabase  = "klawbot.db"
	archiveWorkspace = "workspace/"
	archiveCore      = "memory/core_memory.json"
	archiveMedia     = "media/"
)

// mediaFile is the name of a file of a message, by its sum.
var mediaFile = regexp.MustCompile(`^media/([0-9a-f]{2})/([0-9a-f]{64})$`)

// Archived is what BackUp or Restore dealt with.
type Archived struct {
	// Files of the workspace, and how many entries were left out because they
	// are no plain files or folders (links, sockets).
	Files, LeftOut int
	// Dropped is how many messages waited in the backup and are not answered now,
	// because the bot ran on after it was made.
	Dropped int
}

// BackUp writes all that cannot be made again into a new file, a .tar.gz of a
// verified copy of the database, the core memory, the workspace and the files of messages. It works
// while the bot runs. The configuration is not in it, because it holds secrets, and neither
// are the conversation logs, which the database can write again.
func (f Folder) BackUp(ctx context.Context, file string) (done Archived, err error) {
	if file, err = filepath.Abs(file); err != nil {
		return done, err
	}
	st, err := store.OpenBeside(ctx, f.Store)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return done, fmt.Errorf("%s already exists: name a new file", file)
	}
	err = atomicfile.Fill(file, 0o600, func(out *os.File) error {
		done, err = f.write(ctx, out, st, out.Name()+".db")
		return err
	})
	if err != nil {
		return done, fmt.Errorf("back up: %w", err)
	}
	return done, nil
}

// write writes the archive; copied is the place for the copy of the
// database.
func (f Folder) write(ctx context.Context, out *os.File, st *store.Store, copied string) (done Archived, err error) {
	if err := Of(st).Backup(ctx, copied); err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, os.Remove(copied)) }()
	packed := gzip.NewWriter(out)
	archive := tar.NewWriter(packed)
	if err := addFile(archive, archiveDatabase, func() (*os.File, error) { return os.Open(copied) }); err != nil {
		return done, err
	}
	core := func() (*os.File, error) { return os.Open(f.Core) }
	if err := addFile(archive, archiveCore, core); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, err
	}
	if done, err = addWorkspace(ctx, archive, f.Workspace, out.Name()); err != nil {
		return done, err
	}
	if err := addMedia(ctx, archive, f.Store.Dir); err != nil {
		return done, err
	}
	return done, errors.Join(archive.Close(), packed.Close())
}

// addMedia adds the files of messages. One that was deleted since is left out.
func addMedia(ctx context.Context, archive *tar.Writer, dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, archiveMedia, "*", "*"))
	for _, name := range names {
		inside := archiveMedia + filepath.Base(filepath.Dir(name)) + "/" + filepath.Base(name)
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if !mediaFile.MatchString(inside) {
			continue
		}
		err = addFile(archive, inside, func() (*os.File, error) { return os.Open(name) })
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
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
			return nil // deleted since
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
// at the end is an error: half a file is not a backup.
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

// Restore makes a data directory from what BackUp wrote, or from an automatic
// backup, which holds the database only. The folder must not have a database
// yet, and no workspace when there is one in the backup. A core memory that is
// there already stays. An automatic backup, which may be given by its name alone, may
// replace the database.
func (f Folder) Restore(ctx context.Context, file string, replace bool) (done Archived, err error) {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) && filepath.Base(file) == file {
		file = filepath.Join(f.Store.Dir, backupFolder, file)
	}
	from, err := os.Open(file)
	if err != nil {
		return done, err
	}
	defer from.Close() // it was only read
	in := bufio.NewReader(from)
	if magic, err := in.Peek(2); err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		if done.Dropped, err = Restore(ctx, f.Store.Dir, file, replace); err != nil || replace {
			return done, err // the program of the backup may be another: it writes the log
		}
		return done, f.writeLog(ctx)
	}
	if replace {
		return done, fmt.Errorf("--replace takes an automatic backup, and %s holds a whole data directory: restore it into a new one (--data)", file)
	}
	info, err := from.Stat()
	if err != nil {
		return done, err
	}
	if err := os.MkdirAll(f.Store.Dir, 0o700); err != nil {
		return done, err
	}
	packed, err := Unpack(in, info.Size(), f.Store.Dir)
	if err != nil {
		return done, fmt.Errorf("read %s: %w", file, err)
	}
	if entries, err := os.ReadDir(f.Workspace); err == nil && len(entries) > 0 {
		return done, fmt.Errorf("the workspace %s is not empty: restore into another data directory (--data), or move it away first", f.Workspace)
	}
	// Unpacked whole before anything is put in place.
	work, err := os.MkdirTemp(f.Store.Dir, ".restore-*")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if done, err = unpack(ctx, packed, work); err != nil {
		return done, fmt.Errorf("read %s: %w", file, err)
	}
	if done.Dropped, err = Restore(ctx, f.Store.Dir, filepath.Join(work, archiveDatabase), false); err != nil {
		return done, err
	}
	if err := placeWorkspace(filepath.Join(work, archiveWorkspace), f.Workspace); err != nil {
		return done, err
	}
	if err := placeMedia(filepath.Join(work, archiveMedia), filepath.Join(f.Store.Dir, archiveMedia)); err != nil {
		return done, err
	}
	if err := placeCore(filepath.Join(work, archiveCore), f.Core); err != nil {
		return done, err
	}
	return done, f.writeLog(ctx)
}

// writeLog writes the conversation logs of a restored database, which a backup
// does not hold.
func (f Folder) writeLog(ctx context.Context) error {
	st, beside, err := Open(ctx, f.Store, false)
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

// placeMedia moves unpacked files of messages to their place, on the same disk.
func placeMedia(from, to string) error {
	names, err := filepath.Glob(filepath.Join(from, "*", "*"))
	for _, name := range names {
		folder := filepath.Join(to, filepath.Base(filepath.Dir(name)))
		if err == nil {
			err = os.MkdirAll(folder, 0o700)
		}
		if err == nil {
			err = os.Rename(name, filepath.Join(folder, filepath.Base(name)))
		}
	}
	return err
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
		inMedia := mediaFile.MatchString(entry.Name) && entry.Typeflag == tar.TypeReg
		if !inWorkspace && !inMedia && entry.Name != archiveDatabase && entry.Name != archiveCore {
			return done, fmt.Errorf("it holds %q and is not a backup of klawbot", entry.Name)
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
