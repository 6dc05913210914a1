package plugin

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"
)

// described is a file as the system describes it.
type described struct {
	mode  fs.FileMode
	owner uint32
}

func (described) Name() string        { return "p" }
func (described) Size() int64         { return 1 }
func (d described) Mode() fs.FileMode { return d.mode }
func (described) ModTime() time.Time  { return time.Time{} }
func (d described) IsDir() bool       { return d.mode.IsDir() }
func (d described) Sys() any          { return &syscall.Stat_t{Uid: d.owner} }

func TestOnlyTheOwnerMayChangeAPlugin(t *testing.T) {
	me := uint32(os.Geteuid())
	for name, tt := range map[string]struct {
		info described
		want string
	}{
		"mine":         {described{0o755, me}, ""},
		"root's":       {described{0o755, 0}, ""},
		"another's":    {described{0o755, me + 12345}, "belongs to another user; fix it with chown"},
		"for the team": {described{0o775, me}, "can be written by others; fix it with chmod go-w"},
		"for all":      {described{0o757, me}, "can be written by others; fix it with chmod go-w"},
		"a link":       {described{fs.ModeSymlink | 0o777, me}, "is a link; make it a directory"},
	} {
		if got := unsafe(tt.info); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
