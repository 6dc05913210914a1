package archive_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/storetest"
	"klawbot/gateway"
)

// indexing is how these tests index: as the bot does.
func indexing() archive.Reindexing {
	size := memory.ChunkSize{Size: 400, Overlap: 80}
	return archive.Reindexing{
		Message:  func(tx *store.Tx, m store.Said) error { return memory.AddMessages(tx, []store.Said{m}, size) },
		Memories: func(tx *store.Tx, some []store.Memory) error { return memory.IndexAll(tx, some, size) },
	}
}

func reindex(t *testing.T, s folder) archive.Reindexed {
	t.Helper()
	done, err := s.Reindex(t.Context(), indexing())
	must(t, err)
	return done
}

// found are the texts that the words of a question find.
func found(t *testing.T, s folder, question string) (texts []string) {
	t.Helper()
	hits, err := memory.New(memory.Config{Store: s.Store}).Search(t.Context(), memory.Query{Text: question})
	must(t, err)
	for _, h := range hits {
		texts = append(texts, h.Content)
	}
	return texts
}

// writeLine appends to a conversation log by hand.
func writeLine(t *testing.T, dir, folder, file, line string) {
	t.Helper()
	path := filepath.Join(dir, "conversations", folder, file)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(t, err)
	_, err = f.WriteString(line)
	must(t, errors.Join(err, f.Close()))
}

func said(id string, minute int, text string) string {
	return fmt.Sprintf(`{"id":%q,"ts":"2026-03-01T10:%02d:00Z","role":"user","content":%q,"meta":{"channel":"telegram","chat_id":"telegram_123"}}`+"\n", id, minute, text)
}

func TestReindexKeepsWhatIsThere(t *testing.T) {
	s := open(t, t.TempDir())
	fill(t, s)
	write(t, s, func(tx *store.Tx) error {
		_, _, _, err := memory.Save(tx, store.Memory{Key: "tea", Content: "Anna drinks green tea"}, memory.ChunkSize{Size: 400})
		return err
	})
	text, past := exported(t, s, "json"), history(t, s, anna)
	for range 2 { // also of tables that were swapped before
		done := reindex(t, s)
		if done.Messages != strings.Count(text, "\n") || done.Kept+done.Skipped != 0 || done.Chats != 2 || done.Breaks != 1 || done.Memories != 1 {
			t.Errorf("done %+v", done)
		}
		if diff := cmp.Diff(text, exported(t, s, "json")); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(past, history(t, s, anna)); diff != "" {
			t.Error(diff)
		}
		if got := found(t, s, "what tea?"); len(got) == 0 || got[0] != "Anna drinks green tea" {
			t.Errorf("found %q", got)
		}
		if got := found(t, s, "look"); len(got) == 0 || got[0] != "look" {
			t.Errorf("found %q", got)
		}
		must(t, s.Check(t.Context()))
	}
	write(t, s, tell(anna, store.Message{Body: llm.Text(llm.RoleUser, "it goes on"), At: time.Now()}))
}

func TestReindexOfALostDatabase(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	fill(t, s)
	text, past := exported(t, s, "json"), history(t, s, anna)
	must(t, errors.Join(s.WriteLog(t.Context()), s.Close()))
	for _, name := range []string{"klawbot.db", "instance"} {
		must(t, os.Remove(filepath.Join(dir, name)))
	}
	s = open(t, dir)
	reindex(t, s)
	if diff := cmp.Diff(text, exported(t, s, "json")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(past, history(t, s, anna)); diff != "" {
		t.Errorf("the reset is forgotten: %s", diff)
	}
	read(t, s, func(tx *store.Tx) error {
		session, err := tx.Sessions().Session(anna)
		if session.Model != "large" {
			t.Errorf("the model of the session is %q", session.Model)
		}
		return err
	})
}

func TestReindexRemembersTheLastReset(t *testing.T) {
	dir := t.TempDir()
	writeLine(t, dir, "telegram_123", "2026-03-01.jsonl", said("a", 1, "before")+
		`{"id":"b","ts":"2026-03-01T10:02:00Z","role":"system","content":"","type":"session_break","meta":{"channel":"telegram","chat_id":"telegram_123","model":"small","reason":"user_reset"}}`+"\n")
	writeLine(t, dir, "telegram_123", "2026-03-02.jsonl", said("c", 3, "after"))
	s := open(t, dir)
	if done := reindex(t, s); done.Messages != 3 || done.Breaks != 1 {
		t.Errorf("done %+v", done)
	}
	past := history(t, s, anna)
	if len(past) != 1 || past[0] != "after" {
		t.Errorf("the session holds %+v", past)
	}
}

func TestReindexSkipsTornAndMalformedLines(t *testing.T) {
	dir := t.TempDir()
	writeLine(t, dir, "telegram_123", "2026-03-01.jsonl", said("a", 1, "first")+"no JSON\n\n"+`{"id":"x"}`+"\n"+
		said("b", 2, "second")+said("b", 2, "second")+strings.Repeat("x", 17<<20)+"\n"+said("c", 3, "third")+`{"id":"d","ts":"2026-03-01T10:0`)
	writeLine(t, dir, "telegram_123", "notes.txt", "not a log\n")
	writeLine(t, dir, "no address", "2026-03-01.jsonl", `{"id":"y","ts":"2026-03-01T10:02:00Z","role":"user","content":"whose?","meta":null}`+"\n")
	s := open(t, dir)
	done := reindex(t, s)
	if done.Messages != 3 || done.Skipped != 5 || len(done.Faults) != 5 {
		t.Errorf("done %+v", done)
	}
	if !strings.Contains(strings.Join(done.Faults, "\n"), "2026-03-01.jsonl line 2: not a conversation record") {
		t.Errorf("faults %q", done.Faults)
	}
	past := history(t, s, anna)
	if len(past) != 3 || past[2] != "third" {
		t.Errorf("the order is not kept: %+v", past)
	}
}

func TestReindexTakesTheChatFromTheFolder(t *testing.T) {
	dir := t.TempDir()
	writeLine(t, dir, "telegram_-100_7", "2026-03-01.jsonl", `{"id":"y","ts":"2026-03-01T10:02:00Z","role":"user","content":"hello","meta":null}`+"\n")
	s := open(t, dir)
	reindex(t, s)
	past := history(t, s, store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}, Thread: 7})
	if len(past) != 1 || past[0] != "hello" {
		t.Errorf("the topic holds %+v", past)
	}
}

func TestReindexWithoutLogs(t *testing.T) {
	s := open(t, t.TempDir())
	if done := reindex(t, s); done.Messages+done.Skipped != 0 {
		t.Errorf("done %+v", done)
	}
}

// TestReindexKeepsTheEndThatNoLogHas is a power cut: the database is synced, the
// logs are not.
func TestReindexKeepsTheEndThatNoLogHas(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for i := range 5 {
		write(t, s, tell(anna, store.Message{UID: fmt.Sprint("u", i), Body: llm.Text(llm.RoleUser, fmt.Sprint("message ", i)), At: day}))
	}
	must(t, s.WriteLog(t.Context()))
	logs, err := filepath.Glob(filepath.Join(dir, "conversations", "*", "*.jsonl"))
	must(t, err)
	text, err := os.ReadFile(logs[0])
	must(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	// The second is edited away, the fourth is torn, the last one missing.
	must(t, os.WriteFile(logs[0], []byte(lines[0]+lines[2]+lines[3][:20]), 0o600))
	if done := reindex(t, s); done.Messages != 4 || done.Kept != 2 || done.Skipped != 1 {
		t.Errorf("done %+v", done)
	}
	if diff := cmp.Diff([]string{"message 0", "message 2", "message 3", "message 4"}, history(t, s, anna)); diff != "" {
		t.Error(diff)
	}
	must(t, s.WriteLog(t.Context()))
	text, err = os.ReadFile(logs[0])
	must(t, err)
	if n := strings.Count(string(text), "\n"); n != 4 {
		t.Errorf("the log has %d lines:\n%s", n, text)
	}
}

func TestReindexThatIsInterruptedChangesNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	fill(t, s)
	text := exported(t, s, "json")
	must(t, s.WriteLog(t.Context()))
	writeLine(t, dir, "telegram_123", "2026-03-01.jsonl", said("new", 1, "only in the log"))
	ctx, cancel := context.WithCancel(t.Context())
	how := indexing()
	how.Ready = cancel
	if _, err := s.Reindex(ctx, how); !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	if diff := cmp.Diff(text, exported(t, s, "json")); diff != "" {
		t.Error(diff)
	}
	if left := count(t, s, "sqlite_schema WHERE name LIKE 'shadow_%'"); left > 0 {
		t.Errorf("%d tables are left", left)
	}
}

func TestReindexReportsItsProgress(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 1200 {
		lines.WriteString(said(fmt.Sprint("u", i), i%60, fmt.Sprint("message ", i)))
	}
	writeLine(t, dir, "telegram_123", "2026-03-01.jsonl", lines.String())
	s := open(t, dir)
	var steps []int64
	how := indexing()
	how.Progress = func(done, all int64) {
		if all != int64(lines.Len()) {
			t.Errorf("all is %d, want %d", all, lines.Len())
		}
		steps = append(steps, done)
	}
	_, err := s.Reindex(t.Context(), how)
	must(t, err)
	if len(steps) != 3 || steps[0] <= 0 || steps[1] <= steps[0] || steps[2] != int64(lines.Len()) {
		t.Errorf("the steps are %d", steps)
	}
	if got := found(t, s, "message 777"); len(got) == 0 || got[0] != "message 777" {
		t.Errorf("found %q", got)
	}
}

func TestReindexKeepsSummariesOfTheirMessages(t *testing.T) {
	s := open(t, t.TempDir())
	var ids []store.MessageID
	write(t, s, func(tx *store.Tx) error {
		session, err := tx.Sessions().Session(anna)
		if err != nil {
			return err
		}
		if _, err := tx.Sessions().AddMessage(store.Message{Session: session.ID, Type: "error", Body: llm.Text(llm.RoleAssistant, "x"), At: day.Add(time.Hour)}); err != nil {
			return err
		}
		for i := range 4 {
			id, err := tx.Sessions().AddMessage(store.Message{Session: session.ID, Body: llm.Text(llm.RoleUser, fmt.Sprint(i)), At: day})
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return tx.Sessions().AddSummary(store.Summary{Session: session.ID, First: ids[0], Through: ids[1], Text: "0 and 1", Outside: true})
	})
	reindex(t, s)
	read(t, s, func(tx *store.Tx) error {
		session, err := tx.Sessions().Session(anna)
		if err != nil {
			return err
		}
		past, err := tx.Sessions().Past(session.ID, 10, nil)
		if err == nil && (past.Summary.Text != "0 and 1" || !past.Summary.Outside || past.Count != 2 || past.Messages[0].Body.PlainText() != "2") {
			t.Errorf("the past is %+v", past)
		}
		return err
	})
}

// TestReindexOfADamagedDatabase damages page after page of a database without a
// backup. What the logs have comes back; when a page is read only on the way, at the
// second try, as engine.Reindex does it.
func TestReindexOfADamagedDatabase(t *testing.T) {
	for page := range 12 {
		t.Run(fmt.Sprint("page ", page*3), func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			fill(t, s)
			text := exported(t, s, "json")
			must(t, errors.Join(s.WriteLog(t.Context()), s.Close()))
			storetest.Overwrite(t, filepath.Join(dir, "klawbot.db"), int64(page)*3*4096, storetest.Noise(uint64(page), 4096))
			c := config(dir)
			for try := range 2 {
				s, err := openAs(t, c, true)
				must(t, err)
				_, err = s.Reindex(t.Context(), indexing())
				if try == 0 && store.Damaged(err) {
					must(t, s.Close())
					continue
				}
				must(t, err)
				if diff := cmp.Diff(text, exported(t, s, "json")); diff != "" {
					t.Error(diff)
				}
				must(t, s.Close())
				break
			}
		})
	}
}
