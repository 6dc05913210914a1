package archive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/storetest"
	"klawbot/gateway"
)

var day = time.Date(2026, 3, 1, 23, 59, 59, 250_000_000, time.UTC)

// tell stores a message of an address at a time.
func tell(a store.Address, m store.Message) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		s, err := tx.Sessions().Session(a)
		if err != nil {
			return err
		}
		m.Session = s.ID
		_, err = tx.Sessions().AddMessage(m)
		return err
	}
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// logged counts the lines of each id in all conversation logs of a folder.
func logged(t *testing.T, dir string) map[string]int {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "conversations", "*", "*.jsonl"))
	must(t, err)
	counts := map[string]int{}
	for _, path := range paths {
		for _, line := range lines(t, path) {
			var r struct{ ID string }
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%s: %q: %v", path, line, err)
			}
			counts[r.ID]++
		}
	}
	return counts
}

// TestDatabaseOfAnotherHostBringsItsLogs: a host that takes over gets the database, without
// the logs. Those that it has from before are completed.
func TestDatabaseOfAnotherHostBringsItsLogs(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	s := open(t, first)
	write(t, s, tell(anna, store.Message{UID: "u1", Body: llm.Text(llm.RoleUser, "one"), At: day}))
	must(t, s.WriteLog(t.Context()))
	must(t, os.CopyFS(filepath.Join(second, "conversations"), os.DirFS(filepath.Join(first, "conversations"))))
	write(t, s, tell(anna, store.Message{UID: "u2", Body: llm.Text(llm.RoleAssistant, "two"), At: day}))
	must(t, s.WriteLog(t.Context()))
	must(t, s.Close())
	text, err := os.ReadFile(filepath.Join(first, "klawbot.db"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(second, "klawbot.db"), text, 0o600))
	for range 2 { // a restart writes nothing more
		s = open(t, second)
		must(t, s.WriteLog(t.Context()))
		must(t, s.Close())
		if diff := cmp.Diff(map[string]int{"u1": 1, "u2": 1}, logged(t, second)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestLongLogIsNotRepeated: the log of a day has more messages than are written at once.
func TestLongLogIsNotRepeated(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	want := map[string]int{}
	write(t, s, func(tx *store.Tx) error {
		for i := range 500 {
			uid := fmt.Sprint("u", i)
			want[uid] = 1
			if err := tell(anna, store.Message{UID: uid, Body: llm.Text(llm.RoleUser, uid), At: day})(tx); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, s.WriteLog(t.Context()))
	must(t, s.Close())
	must(t, os.Remove(filepath.Join(dir, "instance"))) // as a host that takes over does
	s = open(t, dir)
	must(t, s.WriteLog(t.Context()))
	must(t, s.Close())
	if diff := cmp.Diff(want, logged(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// TestGapInALogIsFilled: what is missing at its start is added, and what is there stays alone.
func TestGapInALogIsFilled(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	want := map[string]int{}
	write(t, s, func(tx *store.Tx) error {
		for i := range 500 {
			uid := fmt.Sprint("u", i)
			want[uid] = 1
			if err := tell(anna, store.Message{UID: uid, Body: llm.Text(llm.RoleUser, uid), At: day})(tx); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, s.WriteLog(t.Context()))
	must(t, s.Close())
	logs, err := filepath.Glob(filepath.Join(dir, "conversations", "*", "*.jsonl"))
	must(t, err)
	text, err := os.ReadFile(logs[0])
	must(t, err)
	lines := bytes.SplitAfter(text, []byte("\n"))
	must(t, os.WriteFile(logs[0], bytes.Join(lines[300:], nil), 0o600))
	must(t, os.Remove(filepath.Join(dir, "instance")))
	s = open(t, dir)
	must(t, s.WriteLog(t.Context()))
	must(t, s.Close())
	if diff := cmp.Diff(want, logged(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestWriteLogRecords(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	call := llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{
		{Text: "Let me look."},
		{Call: &llm.ToolCall{ID: "c1", Name: "file_read", Arguments: `{"path":"a"}`}},
	}}
	result := llm.Message{Role: llm.RoleTool, Blocks: []llm.Block{{Result: &llm.ToolResult{CallID: "c1", Name: "file_read", Text: "<b>"}}}}
	topic := store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}, Thread: 7}
	console := store.Address{Chat: gateway.ChatID{Channel: "console"}}
	write(t, s, tell(anna, store.Message{UID: "u1", Body: llm.Text(llm.RoleUser, "hi <you>"), Sender: 123, SenderName: "Anna", At: day}))
	write(t, s, tell(anna, store.Message{UID: "u2", Body: call, Model: "small", InputTokens: 10, OutputTokens: 2, At: day}))
	write(t, s, tell(anna, store.Message{UID: "u3", Body: result, At: day.Add(time.Second)}))
	write(t, s, tell(topic, store.Message{UID: "u4", Body: llm.Text(llm.RoleAssistant, "no"), Type: "error", At: day}))
	write(t, s, func(tx *store.Tx) error { _, err := tx.Sessions().StartSession(console); return err })
	must(t, s.WriteLog(t.Context()))
	must(t, s.WriteLog(t.Context()))

	root := filepath.Join(dir, "conversations")
	want := map[string][]string{
		"telegram_123/2026-03-01.jsonl": {
			`{"id":"u1","ts":"2026-03-01T23:59:59.250Z","role":"user","content":"hi <you>","meta":{"channel":"telegram","chat_id":"telegram_123","sender":123,"sender_name":"Anna"}}`,
			`{"id":"u2","ts":"2026-03-01T23:59:59.250Z","role":"assistant","content":"Let me look.\nfile_read {\"path\":\"a\"}","type":"tool_call","meta":{"channel":"telegram","chat_id":"telegram_123","model":"small","tokens_in":10,"tokens_out":2,"tool":"file_read","body":{"role":"assistant","blocks":[{"text":"Let me look."},{"call":{"id":"c1","name":"file_read","arguments":"{\"path\":\"a\"}"}}]}}}`,
		},
		"telegram_123/2026-03-02.jsonl": {
			`{"id":"u3","ts":"2026-03-02T00:00:00.250Z","role":"tool","content":"<b>","type":"tool_result","meta":{"channel":"telegram","chat_id":"telegram_123","tool":"file_read","body":{"role":"tool","blocks":[{"result":{"call_id":"c1","name":"file_read","text":"<b>"}}]}}}`,
		},
		"telegram_-100_7/2026-03-01.jsonl": {
			`{"id":"u4","ts":"2026-03-01T23:59:59.250Z","role":"assistant","content":"no","type":"error","meta":{"channel":"telegram","chat_id":"telegram_-100","thread":7}}`,
		},
	}
	for name, want := range want {
		if diff := cmp.Diff(want, lines(t, filepath.Join(root, name))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	today, err := filepath.Glob(filepath.Join(root, "console_default", "*.jsonl"))
	must(t, err)
	if len(today) != 1 {
		t.Fatalf("console logs are %v", today)
	}
	if got := lines(t, today[0]); len(got) != 1 || !strings.Contains(got[0], `"type":"session_break","meta":{"channel":"console","chat_id":"console_default","reason":"user_reset"}`) {
		t.Errorf("console log is %q", got)
	}
	if info, err := os.Stat(today[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("log has mode %v, %v", info.Mode(), err)
	}
}

func TestWriteLogAfterACrash(t *testing.T) {
	whole := `{"id":"u0","ts":"2026-03-01T23:59:59.250Z","role":"user","content":"m","meta":{"channel":"telegram","chat_id":"telegram_123"}}`
	tests := map[string]string{
		"before the append":          "",
		"after the append":           whole + "\n",
		"in the line":                whole[:40],
		"before the newline":         whole,
		"in the next line":           whole + "\n" + strings.Replace(whole, "u0", "u1", 1)[:60],
		"after a line by hand":       "a note\n" + whole,
		"zeros after a power cut":    whole + "\n\x00\x00\x00\x00",
		"with another message first": strings.Replace(whole, "u0", "x", 1) + "\n" + whole[:20],
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "conversations", "telegram_123", "2026-03-01.jsonl")
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must(t, os.WriteFile(path, []byte(text), 0o600))
			s := open(t, dir)
			for i := range 3 {
				write(t, s, tell(anna, store.Message{UID: fmt.Sprint("u", i), Body: llm.Text(llm.RoleUser, "m"), At: day}))
			}
			must(t, s.WriteLog(t.Context()))
			seen := map[string]int{}
			for _, line := range lines(t, path) {
				var r struct{ ID string }
				if err := json.Unmarshal([]byte(line), &r); err != nil && line != "a note" {
					t.Errorf("line %q: %v", line, err)
				}
				seen[r.ID]++
			}
			delete(seen, "x")
			delete(seen, "")
			if diff := cmp.Diff(map[string]int{"u0": 1, "u1": 1, "u2": 1}, seen); diff != "" {
				t.Error(diff)
			}
			if !strings.HasSuffix(text, "\n") && strings.HasPrefix(text, "a note") && lines(t, path)[0] != "a note" {
				t.Error("a line by hand is gone")
			}
		})
	}
}

// TestWriteLogWhenMarkingFails repeats passes that append and then cannot
// commit, as a full disk or a kill between the two would.
func TestWriteLogWhenMarkingFails(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	storetest.Raw(t, filepath.Join(dir, "klawbot.db"), "CREATE TRIGGER broken BEFORE UPDATE OF logged ON messages BEGIN SELECT raise(FAIL, 'no room'); END")
	for i := range 3 {
		write(t, s, tell(anna, store.Message{Body: llm.Text(llm.RoleUser, fmt.Sprint(i)), At: day}))
		if err := s.WriteLog(t.Context()); err == nil || !strings.Contains(err.Error(), "no room") {
			t.Fatalf("WriteLog: %v", err)
		}
	}
	storetest.Raw(t, filepath.Join(dir, "klawbot.db"), "DROP TRIGGER broken")
	must(t, s.WriteLog(t.Context()))
	counts := logged(t, dir)
	if len(counts) != 3 {
		t.Errorf("%d messages in the log", len(counts))
	}
	for id, n := range counts {
		if n != 1 {
			t.Errorf("message %s is there %d times", id, n)
		}
	}
	if n := count(t, s, "messages WHERE logged = 0"); n != 0 {
		t.Errorf("%d messages are not marked", n)
	}
}

func TestWriteLogManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	write(t, s, func(tx *store.Tx) error {
		for i := range int64(700) {
			if err := storetest.Say(store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 1 + i%30}}, "m")(tx); err != nil {
				return err
			}
		}
		return nil
	})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := s.WriteLog(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	counts := logged(t, dir)
	total := 0
	for _, n := range counts {
		total += n
	}
	if len(counts) != 700 || total != 700 {
		t.Errorf("%d messages in %d lines", len(counts), total)
	}
}

func TestWriteLogNamesThePath(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "conversations"), nil, 0o600))
	s := open(t, dir)
	write(t, s, storetest.Say(anna, "m"))
	if err := s.WriteLog(t.Context()); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "conversations")) {
		t.Errorf("WriteLog: %v", err)
	}
}
