package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"klawbot/tools"
	"klawbot/tools/file"
)

// leftovers are the temporary files in the workspace.
func (b bench) leftovers() []string {
	b.t.Helper()
	found, err := filepath.Glob(filepath.Join(b.dir, ".klawbot-*"))
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

func TestChangeNeedsItsRecord(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.txt", "old")
	b.log.recorded = func(tools.Change) error { return errors.New("disk full") }
	for _, r := range []tools.Result{
		b.call("file_write", "path", "a.txt", "content", "new"),
		b.call("file_edit", "path", "a.txt", "old_str", "old", "new_str", "new"),
	} {
		b.says(r, "Error: the change could not be recorded, so nothing was changed: disk full")
	}
	b.holds("a.txt", "old")
	if left := b.leftovers(); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestConcurrentChangeWins lets another program change the file at the last moment.
func TestConcurrentChangeWins(t *testing.T) {
	for name, c := range map[string]struct {
		before string // "" for no file
		meddle func(b bench)
		after  string
	}{
		"written":  {"old", func(b bench) { b.put("a.txt", "by hand") }, "by hand"},
		"replaced": {"old", func(b bench) { b.put("b.txt", "old"); b.move("b.txt", "a.txt") }, "old"},
		"made":     {"", func(b bench) { b.put("a.txt", "by hand") }, "by hand"},
		"a link":   {"", func(b bench) { b.put("b.txt", "b"); b.link("b.txt", "a.txt") }, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			if c.before != "" {
				b.put("a.txt", c.before)
			}
			b.log.recorded = func(tools.Change) error { c.meddle(b); return nil }
			b.says(b.call("file_write", "path", "a.txt", "content", "new"),
				"Error: a.txt was changed by another program at this moment, so it was left alone; read it and try again")
			b.holds("a.txt", c.after)
			if len(b.log.changes) > 0 || len(b.leftovers()) > 0 {
				t.Errorf("left over: %v, %v", b.log.changes, b.leftovers())
			}
		})
	}
}

func (b bench) move(from, to string) {
	b.t.Helper()
	if err := os.Rename(filepath.Join(b.dir, from), filepath.Join(b.dir, to)); err != nil {
		b.t.Fatal(err)
	}
}

func TestEditKeepsPermissionsDespiteUmask(t *testing.T) {
	b := newBench(t, nil)
	b.put("shared.txt", "old")
	name := filepath.Join(b.dir, "shared.txt")
	if err := os.Chmod(name, 0o666); err != nil {
		t.Fatal(err)
	}
	b.call("file_edit", "path", "shared.txt", "old_str", "old", "new_str", "new")
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
}

func TestTooLargeToBeChanged(t *testing.T) {
	b := newBench(t, func(c *file.Config) { c.MaxBytes = func() int64 { return 5 } })
	b.put("six.txt", "123456")
	b.says(b.call("file_write", "path", "six.txt", "content", "x"), "Error: six.txt is too large to change: 6 bytes, the limit is 5")
	b.holds("six.txt", "123456")
}

func TestGitIsNeverWritten(t *testing.T) {
	b := newBench(t, nil)
	b.link(".git", "repository")
	for _, path := range []string{
		".git", ".GIT/config", "sub/.Git/hooks/x", ".git./config", ".git /config", ".git. ./x", ".g\u200cit/config", "\ufeff.git/config",
		".git::$INDEX_ALLOCATION/config", "git~1/config", "GIT~1", `.git\config`, `sub\.git\config`, "repository/config", "repository",
	} {
		if r := b.call("file_write", "path", path, "content", "x"); r.ErrorKind != tools.Security {
			t.Errorf("%q: %s", path, r.Output)
		}
	}
	for _, path := range []string{".gitignore", ".github/x", "git/config", "a.git", "digit~1"} {
		if r := b.call("file_write", "path", path, "content", "x"); !r.Success {
			t.Errorf("%q: %s", path, r.Output)
		}
	}
}

func TestTemporaryNamesAreReserved(t *testing.T) {
	b := newBench(t, nil)
	name := ".klawbot-ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp"
	if r := b.call("file_write", "path", name, "content", "x"); r.Success {
		t.Error(r.Output)
	}
	b.put(name, "x")
	b.says(b.call("file_list"), "(empty directory)")
	b.says(b.call("file_search", "pattern", "**"), "No matches found for pattern: **")
}

func TestSweep(t *testing.T) {
	b := newBench(t, nil)
	ours := []string{".klawbot-ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp", "a/b/.klawbot-22222222222222222222222222.tmp"}
	others := []string{".klawbot-short.tmp", "a/.klawbot-abcdefghijklmnopqrstuvwxyz.tmp", "a/.klawbot-ABCDEFGHIJKLMNOPQRSTUVWXYZ.txt"}
	for _, name := range append(ours, others...) {
		b.put(name, "x")
	}
	put(t, filepath.Join(b.dir, "../out", ours[0]), "x")
	b.link("../out", "out")
	if n, err := file.Sweep(t.Context(), b.dir); err != nil || n != len(ours) {
		t.Errorf("removed %d, %v", n, err)
	}
	for _, name := range ours {
		b.missing(name)
	}
	for _, name := range append(others, "out/"+ours[0]) {
		b.holds(name, "x")
	}
	if n, err := file.Sweep(t.Context(), filepath.Join(b.dir, "none")); err != nil || n != 0 {
		t.Errorf("without a workspace: %d, %v", n, err)
	}
}

// TestSweepWaitsForAWriter sweeps while a change is being made.
func TestSweepWaitsForAWriter(t *testing.T) {
	b := newBench(t, nil)
	swept := make(chan error, 1)
	b.log.recorded = func(tools.Change) error {
		go func() {
			_, err := file.Sweep(context.Background(), b.dir)
			swept <- err
		}()
		select {
		case err := <-swept:
			return fmt.Errorf("swept during a change: %w", err)
		case <-time.After(100 * time.Millisecond):
			return nil
		}
	}
	b.says(b.call("file_write", "path", "a.txt", "content", "x"), "OK: file written to a.txt (1 bytes)")
	if err := <-swept; err != nil {
		t.Error(err)
	}
	b.holds("a.txt", "x")
}

// TestKilledBetweenRecordAndChange kills a process of ours between the two: the
// file is as before, the temporary file is swept, and the undo of the change
// that never came does no harm.
func TestKilledBetweenRecordAndChange(t *testing.T) {
	if dir := os.Getenv("KLAWBOT_TEST_KILLED"); dir != "" {
		b := newBench(t, func(c *file.Config) { c.Workspace = dir })
		b.log.recorded = func(tools.Change) error {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		b.call("file_write", "path", "a.txt", "content", "new")
	}
	b := newBench(t, nil)
	b.put("a.txt", "old")
	child := exec.Command(os.Args[0], "-test.run=^TestKilledBetweenRecordAndChange$")
	child.Env = append(os.Environ(), "KLAWBOT_TEST_KILLED="+b.dir)
	if out, err := child.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the child ended with %v\n%s", err, out)
	}
	b.holds("a.txt", "old")
	if len(b.leftovers()) != 1 {
		t.Errorf("left over: %v", b.leftovers())
	}
	b.says(b.call("file_list"), "a.txt (3 bytes)")
	if n, err := file.Sweep(t.Context(), b.dir); err != nil || n != 1 {
		t.Errorf("swept %d, %v", n, err)
	}
	b.says(b.call("file_write", "path", "a.txt", "content", "next"), "OK: file written to a.txt (4 bytes)")
	if len(b.leftovers()) > 0 {
		t.Errorf("left over: %v", b.leftovers())
	}
}

// TestUndoOfUnmadeChange has the record of a change before which the
// bot was killed, above one that was made.
func TestUndoOfUnmadeChange(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.txt", "0")
	b.call("file_write", "path", "a.txt", "content", "1")
	never := b.log.changes[0]
	never.Before, never.After = never.After, "a hash of what never was"
	if _, err := b.log.Record(t.Context(), never, []byte("1")); err != nil {
		t.Fatal(err)
	}
	b.says(b.call("file_undo", "action", "revert"), "OK: a.txt is as it was before change 2")
	b.holds("a.txt", "1")
	b.says(b.call("file_undo", "action", "revert"), "OK: a.txt is as it was before change 1")
	b.holds("a.txt", "0")
}
