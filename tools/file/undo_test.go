package file_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"klawbot/tools"
	"klawbot/tools/file"
)

// as executes a call of a chat's turn.
func (b bench) as(chat string, turn int64, name string, pairs ...any) tools.Result {
	b.t.Helper()
	arguments := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		arguments[pairs[i].(string)] = pairs[i+1]
	}
	source, err := json.Marshal(arguments)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.execute(tools.Call{ID: fmt.Sprintf("call-%d", len(b.log.changes)), Name: name, Arguments: source, Chat: chat, Turn: turn})
}

func TestUndoStepByStep(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.txt", "0")
	for i := range 3 {
		b.call("file_write", "path", "a.txt", "content", fmt.Sprint(i+1))
	}
	for i := 2; i >= 0; i-- {
		b.says(b.call("file_undo", "action", "revert"), fmt.Sprintf("OK: a.txt is as it was before change %d", i+1))
		b.holds("a.txt", fmt.Sprint(i))
	}
	r := b.call("file_undo", "action", "revert")
	b.says(r, "Error: nothing to undo; file_undo with action list shows what there is")
	if r.ErrorKind != tools.NotFound {
		t.Errorf("kind is %s", r.ErrorKind)
	}
}

func TestUndoList(t *testing.T) {
	b := newBench(t, nil)
	b.says(b.call("file_undo"), "No changes are recorded.")
	b.as("telegram_1", 7, "file_write", "path", "new.md", "content", "a")
	b.as("telegram_1", 8, "file_edit", "path", "new.md", "old_str", "a", "new_str", "b")
	b.as("telegram_1", 9, "file_undo", "action", "revert")
	r := b.as("telegram_1", 9, "file_undo", "action", "list")
	b.says(r, "3: 2026-11-28 21:00, turn 9, file_undo new.md (undid 2)\n"+
		"2: 2026-11-28 21:00, turn 8, file_edit new.md (undone)\n"+
		"1: 2026-11-28 21:00, turn 7, file_write new.md (new file)")
	var data []struct {
		ID     int64
		Undone bool
	}
	if err := json.Unmarshal(r.Data, &data); err != nil || len(data) != 3 || data[1].ID != 2 || !data[1].Undone {
		t.Errorf("data is %s, %v", r.Data, err)
	}
}

func TestUndoListIsShort(t *testing.T) {
	b := newBench(t, nil)
	for range 60 {
		b.call("file_write", "path", "log", "content", "x", "mode", "append")
	}
	lines := strings.Split(b.call("file_undo").Output, "\n")
	if len(lines) != 51 || lines[50] != "... and 10 older ones ..." {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}

func TestUndoOfAnUndo(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.txt", "old")
	b.call("file_write", "path", "a.txt", "content", "new")
	b.call("file_undo", "action", "revert", "id", 1)
	b.says(b.call("file_undo", "action", "revert", "id", 1), "Error: change 1 is undone already")
	b.says(b.call("file_undo", "action", "revert", "id", 2), "OK: a.txt is as it was before change 2")
	b.holds("a.txt", "new")
	b.says(b.call("file_undo", "action", "revert"), "OK: a.txt is as it was before change 1")
	b.holds("a.txt", "old")
}

func TestUndoOfACreationCanBeUndone(t *testing.T) {
	b := newBench(t, nil)
	b.call("file_write", "path", "d/run.sh", "content", "x")
	if err := os.Chmod(filepath.Join(b.dir, "d/run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	b.call("file_undo", "action", "revert")
	b.missing("d/run.sh")
	if err := os.Remove(filepath.Join(b.dir, "d")); err != nil {
		t.Fatal(err)
	}
	b.says(b.call("file_undo", "action", "revert", "id", 2), "OK: d/run.sh is as it was before change 2")
	b.holds("d/run.sh", "x")
	if info, err := os.Stat(filepath.Join(b.dir, "d/run.sh")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
}

func TestUndoOfATurn(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.txt", "a0")
	b.as("c", 1, "file_write", "path", "a.txt", "content", "a1")
	b.as("c", 2, "file_write", "path", "a.txt", "content", "a2")
	b.as("c", 2, "file_write", "path", "b.txt", "content", "b1")
	b.as("c", 2, "file_edit", "path", "a.txt", "old_str", "a2", "new_str", "a3")
	r := b.as("c", 3, "file_undo", "action", "revert_turn")
	b.says(r, "OK: a.txt is as it was before change 2\nb.txt is removed, as before change 3")
	if !slices.Equal(r.FilesChanged, []string{"a.txt", "b.txt"}) {
		t.Errorf("files changed: %v", r.FilesChanged)
	}
	b.holds("a.txt", "a1")
	b.missing("b.txt")
	b.says(b.as("c", 3, "file_undo", "action", "revert_turn", "id", 1), "OK: a.txt is as it was before change 1")
	b.holds("a.txt", "a0")
	b.says(b.as("c", 3, "file_undo", "action", "revert_turn", "id", 5), "Error: nothing to undo; file_undo with action list shows what there is")
}

func TestUndoOfATurnAtTheCommandLineIsOneCall(t *testing.T) {
	b := newBench(t, nil)
	b.as("", 0, "file_write", "path", "a.txt", "content", "1")
	b.as("", 0, "file_write", "path", "b.txt", "content", "1")
	b.says(b.as("", 0, "file_undo", "action", "revert_turn"), "OK: b.txt is removed, as before change 2")
	b.holds("a.txt", "1")
}

func TestUndoOfAll(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.txt", "0")
	for turn := range int64(5) {
		b.as("c", turn, "file_write", "path", "a.txt", "content", "x", "mode", "append")
		b.as("c", turn, "file_write", "path", fmt.Sprintf("n%d.txt", turn), "content", "x")
	}
	if r := b.as("c", 9, "file_undo", "action", "revert_all"); !r.Success || len(r.FilesChanged) != 6 {
		t.Errorf("result is %+v", r)
	}
	b.says(b.call("file_list"), "a.txt (1 bytes)")
	b.holds("a.txt", "0")
	if n := len(b.log.changes); n != 16 {
		t.Errorf("%d records, want 10 changes and an undo for each of 6 files", n)
	}
}

func TestUndoLeavesForeignChanges(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.txt", "0")
	b.call("file_write", "path", "a.txt", "content", "1")
	b.call("file_write", "path", "b.txt", "content", "1")
	b.put("a.txt", "by hand")
	r := b.call("file_undo", "action", "revert", "id", 1)
	b.says(r, "Error: a.txt was changed outside of klawbot or by another chat since change 1, so it was left alone; read the file and decide what it should hold")
	b.holds("a.txt", "by hand")
	r = b.call("file_undo", "action", "revert_all")
	b.says(r, "Error: a.txt was changed outside of klawbot or by another chat since change 1, so it was left alone; read the file and decide what it should hold\n"+
		"Undone all the same:\nb.txt is removed, as before change 2")
	if r.Success || r.ErrorKind != tools.Execution || !slices.Equal(r.FilesChanged, []string{"b.txt"}) {
		t.Errorf("result is %+v", r)
	}
	b.holds("a.txt", "by hand")
	b.missing("b.txt")
}

func TestUndoStopsAtForeignChange(t *testing.T) {
	b := newBench(t, nil)
	b.call("file_write", "path", "a.txt", "content", "1")
	b.put("a.txt", "by hand")
	b.call("file_write", "path", "a.txt", "content", "2")
	b.says(b.call("file_undo", "action", "revert_all"),
		"Error: a.txt was changed outside of klawbot or by another chat since change 1, so it was left alone; read the file and decide what it should hold\n"+
			"Undone all the same:\na.txt is as it was before change 2")
	b.holds("a.txt", "by hand")
}

func TestUndoOfAnOlderChangeNamesTheNewerOne(t *testing.T) {
	b := newBench(t, nil)
	b.call("file_write", "path", "a.txt", "content", "1")
	b.call("file_write", "path", "a.txt", "content", "2")
	b.says(b.call("file_undo", "action", "revert", "id", 1),
		"Error: a.txt was changed by change 2 since change 1, so it was left alone; read the file and decide what it should hold")
	b.holds("a.txt", "2")
}

func TestUndoIsPerChat(t *testing.T) {
	b := newBench(t, nil)
	b.as("telegram_1", 1, "file_write", "path", "a.txt", "content", "1")
	b.as("telegram_2", 2, "file_write", "path", "b.txt", "content", "1")
	b.as("telegram_2", 2, "file_write", "path", "a.txt", "content", "2")
	if r := b.as("telegram_1", 3, "file_undo"); strings.Contains(r.Output, "b.txt") {
		t.Errorf("the list of the other chat: %s", r.Output)
	}
	b.says(b.as("telegram_1", 3, "file_undo", "action", "revert", "id", 2), "Error: there is no change 2; file_undo with action list shows what there is")
	b.says(b.as("telegram_1", 3, "file_undo", "action", "revert_all"),
		"Error: a.txt was changed outside of klawbot or by another chat since change 1, so it was left alone; read the file and decide what it should hold")
	b.holds("b.txt", "1")
	if r := b.as("", 0, "file_undo", "action", "revert_all"); !r.Success {
		t.Errorf("the command line: %s", r.Output)
	}
	b.says(b.call("file_list"), "(empty directory)")
}

// TestUndoKeepsHardLinkContentPrivate overwrites a file whose other name lies
// outside: what it held must not come back as a file of the workspace.
func TestUndoKeepsHardLinkContentPrivate(t *testing.T) {
	b := newBench(t, nil)
	put(t, filepath.Join(b.dir, "../secret.txt"), "SECRET")
	if err := os.Link(filepath.Join(b.dir, "../secret.txt"), filepath.Join(b.dir, "hard.txt")); err != nil {
		t.Fatal(err)
	}
	b.says(b.call("file_write", "path", "hard.txt", "content", "x"), "OK: file written to hard.txt (1 bytes)")
	b.says(b.call("file_undo", "action", "revert"), "Error: hard.txt: what it held before change 1 was not kept, because it had a second name (hard link)")
	b.holds("hard.txt", "x")
	b.holds("../secret.txt", "SECRET")
	if len(b.log.images) != 0 {
		t.Errorf("kept: %v", b.log.images)
	}
}

func TestUndoRefusesADamagedImage(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.txt", "old")
	b.call("file_write", "path", "a.txt", "content", "new")
	b.log.images[1] = []byte("odd")
	b.says(b.call("file_undo", "action", "revert"), "Error: a.txt: what is kept of it is damaged")
	delete(b.log.images, 1)
	if r := b.call("file_undo", "action", "revert"); r.Success {
		t.Errorf("without an image: %+v", r)
	}
	b.holds("a.txt", "new")
}

func TestUndoDoesNotWriteToGit(t *testing.T) {
	b := newBench(t, nil)
	b.put(".git/config", "clean")
	b.put("config", "evil")
	b.call("file_write", "path", "config", "content", "clean")
	b.log.changes[0].Path = ".git/config"
	if r := b.call("file_undo", "action", "revert"); r.ErrorKind != tools.Security {
		t.Errorf("result is %+v", r)
	}
	b.holds(".git/config", "clean")
}

func TestNoChangelogNoChange(t *testing.T) {
	b := newBench(t, func(c *file.Config) { c.MaxBytes = func() int64 { return 100 } })
	for tool, arguments := range map[string]string{
		"file_write": `{"path": "a.txt", "content": "x"}`,
		"file_undo":  `{"action": "revert_all"}`,
	} {
		r, err := b.Execute(t.Context(), tools.Call{ID: "c1", Name: tool, Arguments: json.RawMessage(arguments)}, nil)
		if err != nil || r.Success {
			t.Errorf("%s: %+v, %v", tool, r, err)
		}
	}
	b.missing("a.txt")
}

func TestListingChangesIsNoChange(t *testing.T) {
	b := newBench(t, nil)
	for arguments, want := range map[string]bool{
		`{}`: true, `{"action":"list"}`: true, `{"action":"list","id":3}`: true,
		`{"action":"revert"}`: false, `{"action":"revert_turn","id":3}`: false, `{"action":"revert_all"}`: false,
	} {
		c := tools.Call{ID: "c1", Name: "file_undo", Arguments: json.RawMessage(arguments)}
		if got := b.Concurrent(c); got != want {
			t.Errorf("%s may run beside others: %t, want %t", arguments, got, want)
		}
	}
}
