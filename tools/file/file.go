// Package file holds the tools for the files of the workspace: read, write, edit, list,
// search and undo.
//
// Every path is resolved inside an os.Root, so that no link leads outside of the
// workspace, even one that is swapped in during a call. Two more directories can be read:
// the skills of the data directory and spilled outputs. A change is recorded in the
// changelog of the call before it is made.
package file

import (
	"embed"
	"sync"
	"time"

	"klawbot/tools"
)

//go:embed *.md
var texts embed.FS

// Config is what New needs.
type Config struct {
	// Workspace is the directory of the files. It may be missing: every call looks again.
	Workspace string
	// Data is the data directory. skills/NAME/… is read there if the workspace does not
	// have it. Empty: none.
	Data string
	// Spill is the directory of outputs that were cut, read as spill/…. Empty: none.
	Spill string
	// MaxBytes is the largest file that is read or written. Default: 1 MiB.
	MaxBytes func() int64
	// AllowHardlinks allows to read and edit files with several names. Default: no, because
	// another name can be outside of the workspace. They can always be overwritten,
	// without undo.
	AllowHardlinks func() bool
	// Location is the zone of the times in the list of changes. Default: UTC.
	Location func() *time.Location
}

// timeout is the deadline of each tool except file_search.
const timeout = 10 * time.Second

// New returns the tools whose names begin with file_.
func New(c Config) []tools.Tool {
	f := &files{config: c}
	return []tools.Tool{
		tools.New(tools.Spec{
			Name: "file_read", Group: tools.GroupFiles, Timeout: timeout, Outside: true,
			Aliases: []tools.Alias{{Name: "read_file"}},
			Arguments: map[string]string{
				"line_range": "startLine,endLine", "line_start": "startLine", "line_end": "endLine",
			},
		}, texts, f.read),
		tools.New(tools.Spec{
			Name: "file_write", Group: tools.GroupFiles, Timeout: timeout, Changes: true, Outside: true,
			Permit: f.permitWrite, Aliases: []tools.Alias{{Name: "write_file"}},
		}, texts, f.write),
		tools.New(tools.Spec{
			Name: "file_list", Group: tools.GroupFiles, Timeout: timeout,
			Aliases: []tools.Alias{{Name: "list_files"}, {Name: "list_directory", Preset: map[string]any{"depth": 2}}},
		}, texts, f.list),
		tools.New(tools.Spec{
			Name: "file_edit", Group: tools.GroupFiles, Timeout: timeout, Changes: true, Outside: true,
			Permit: f.permitWrite, Aliases: []tools.Alias{{Name: "edit_file"}, {Name: "file_patch"}},
			Arguments: map[string]string{"old_string": "old_str", "new_string": "new_str"},
		}, texts, f.edit),
		tools.New(tools.Spec{
			Name: "file_search", Group: tools.GroupFiles, Timeout: searchTimeout, Outside: true,
			Aliases: []tools.Alias{{Name: "search_files", Preset: map[string]any{"type": "grep"}}, {Name: "glob_find"}},
		}, texts, f.search),
		tools.New(tools.Spec{
			Name: "file_undo", Group: tools.GroupFiles, Timeout: timeout, Changes: true, ChangesWhen: reverts,
			Permit: f.permitUndo,
		}, texts, f.undo),
	}
}

// files is what the tools share.
type files struct {
	config  Config
	writing sync.Mutex // held during a change, which reads, then replaces
}

func (f *files) maxBytes() int64 {
	if f.config.MaxBytes != nil {
		if n := f.config.MaxBytes(); n > 0 {
			return n
		}
	}
	return 1 << 20
}

func (f *files) hardlinks() bool {
	return f.config.AllowHardlinks != nil && f.config.AllowHardlinks()
}
