package tools

import (
	"context"
	"io/fs"
	"time"
)

// Changelog keeps what files of the workspace held before tools changed them, to
// undo each change. It may be used from several goroutines.
type Changelog interface {
	// Record stores a change before it is made, with image, what the file holds, if
	// c.Kept. Both are on disk when it returns the id. ID and At are ignored.
	Record(ctx context.Context, c Change, image []byte) (int64, error)
	// Discard takes back the record of a change that was not made.
	Discard(ctx context.Context, id int64) error
	// Changes lists the records, the newest first. Old ones are forgotten.
	Changes(ctx context.Context) ([]Change, error)
	// Image returns what the file held before a change that has Kept.
	Image(ctx context.Context, id int64) ([]byte, error)
}

// Change is one change of one file of the workspace.
type Change struct {
	ID int64
	At time.Time
	// Call, Turn, Chat and Tool say whose change it is; Turn and Chat are zero without a chat.
	Call string
	Turn int64
	Chat string
	Tool string
	// Path is relative to the workspace, with slashes.
	Path string
	// Before and After are hashes of what the file held and was to hold, ""
	// where there was or will be no file.
	Before, After string
	// Size and Mode are those of the file before.
	Size int64
	Mode fs.FileMode
	// Kept says that what the file held before is stored, too.
	Kept bool
	// Undoes are the ids of the changes that this one takes back.
	Undoes []int64
}

// Changed begins the record of a change that the call makes.
func (c Call) Changed(path string) Change {
	return Change{Call: c.ID, Turn: c.Turn, Chat: c.Chat, Tool: c.Name, Path: path}
}
