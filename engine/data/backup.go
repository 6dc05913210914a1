package data

import (
	"context"
	"io"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/corememory"
)

// Archived is what BackUp or Restore dealt with.
type Archived = archive.Archived

// BackUp writes the data directory and the workspace into a new file; see
// archive.Folder.
func BackUp(ctx context.Context, c Config, file string) (Archived, error) {
	return folderOf(c).BackUp(ctx, file)
}

// Restore makes a data directory from what BackUp wrote, or from an automatic backup, which
// may also replace the database that is there.
func Restore(ctx context.Context, c Config, file string, replace bool) (Archived, error) {
	return folderOf(c).Restore(ctx, file, replace)
}

// BackupFile is an automatic backup, or one from before an update.
type BackupFile = archive.BackupFile

// Restorable lists what may replace the database of a data directory.
func Restorable(dir string) ([]BackupFile, error) { return archive.Restorable(dir) }

func folderOf(c Config) archive.Folder {
	return archive.Folder{Store: c.Store(), Workspace: c.Workspace, Core: corememory.NewCore(c.Dir).Path()}
}

// Unpacker reads a .tar.gz and refuses one that is beyond its bounds: ErrSwells.
type Unpacker = archive.Unpacker

// ErrSwells is an archive that wants to become larger than it may.
var ErrSwells = archive.ErrSwells

// Unpack reads an archive of a size in bytes, whose content is for a folder.
func Unpack(in io.Reader, size int64, dir string) (*Unpacker, error) {
	return archive.Unpack(in, size, dir)
}
