package archive_test

import (
	"bytes"
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
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/storetest"
	"klawbot/gateway"
)

func exported(t testing.TB, s folder, format string) string {
	t.Helper()
	var b strings.Builder
	if err := s.Export(t.Context(), &b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// fill stores two conversations with everything a message can have.
func fill(t testing.TB, s folder) {
	topic := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}, Thread: 7}
	write(t, s, tell(anna, store.Message{Body: llm.Text(llm.RoleUser, "first"), Sender: 123, SenderName: "Anna", At: day}))
	write(t, s, tell(anna, store.Message{Body: llm.Text(llm.RoleAssistant, "1 < 2\n\n\"😀\""), Model: "small", InputTokens: 10, OutputTokens: -1, At: day}))
	write(t, s, func(tx *store.Tx) error {
		current, err := tx.Sessions().Session(anna)
		if err != nil {
			return err
		}
		if err := tx.Sessions().SetModel(current.ID, "large"); err != nil {
			return err
		}
		_, err = tx.Sessions().StartSession(anna)
		return err
	})
	for i, body := range []llm.Message{
		llm.Text(llm.RoleUser, "look"),
		{Role: llm.RoleAssistant, Blocks: []llm.Block{
			{Thinking: &llm.Thinking{Text: "hm", Signature: "s", Field: "reasoning_content", Provider: "p", Model: "m"}},
			{Text: "a"}, {Text: "b"},
			{Call: &llm.ToolCall{ID: "c1", WireID: "w1", Name: "file_read", Arguments: `{`, Fault: "bad", Extra: []byte(`{"x":1}`)}},
			{Call: &llm.ToolCall{ID: "c2", Name: "file_list", Arguments: `{}`}},
		}},
		{Role: llm.RoleTool, Blocks: []llm.Block{
			{Result: &llm.ToolResult{CallID: "c1", Name: "file_read", Text: "bad", Failed: true}},
			{Result: &llm.ToolResult{CallID: "c2", Name: "file_list", Text: ""}},
		}},
		{Role: llm.RoleAssistant},
	} {
		at := time.Now().Add(time.Duration(i) * time.Hour)
		write(t, s, tell(anna, store.Message{Body: body, At: at}))
	}
	write(t, s, tell(topic, store.Message{Body: llm.Text(llm.RoleAssistant, "oh"), Type: "error", At: day}))
}

func TestExportAndImport(t *testing.T) {
	from, to := open(t, t.TempDir()), open(t, t.TempDir())
	fill(t, from)
	text := exported(t, from, "json")
	n := strings.Count(text, "\n")
	added, err := to.Import(t.Context(), strings.NewReader(text))
	if err != nil || added != n {
		t.Fatalf("added %d of %d: %v", added, n, err)
	}
	if diff := cmp.Diff(text, exported(t, to, "json")); diff != "" {
		t.Error(diff)
	}
	var want, got []store.Message
	var session store.Session
	collect := func(all *[]store.Message) func(*store.Tx) error {
		return func(tx *store.Tx) (err error) {
			if session, err = tx.Sessions().Session(anna); err != nil {
				return err
			}
			*all, err = tx.Sessions().History(session.ID, 100)
			for i := range *all {
				(*all)[i].ID, (*all)[i].Session = 0, 0
			}
			return err
		}
	}
	read(t, from, collect(&want))
	read(t, to, collect(&got))
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 4 {
		t.Error(diff)
	}
	if session.Model != "large" {
		t.Errorf("the model of the session is %q", session.Model)
	}
	if added, err := to.Import(t.Context(), strings.NewReader(text)); added != 0 || err != nil {
		t.Errorf("again: added %d, %v", added, err)
	}
}

func TestImportOfLogs(t *testing.T) {
	dir := t.TempDir()
	from := open(t, dir)
	fill(t, from)
	must(t, from.WriteLog(t.Context()))
	paths, err := filepath.Glob(filepath.Join(dir, "conversations", "*", "*.jsonl"))
	must(t, err)
	to := open(t, t.TempDir())
	for _, path := range paths {
		f, err := os.Open(path)
		must(t, err)
		_, err = to.Import(t.Context(), f)
		must(t, errors.Join(err, f.Close()))
	}
	if got, want := count(t, to, "messages"), count(t, from, "messages"); got != want {
		t.Errorf("%d of %d messages", got, want)
	}
	if diff := cmp.Diff(history(t, from, anna), history(t, to, anna)); diff != "" {
		t.Error(diff)
	}
}

func TestImportKeepsTheCurrentSession(t *testing.T) {
	s := open(t, t.TempDir())
	write(t, s, storetest.Say(anna, "now"))
	line := `{"id":"old-%d","ts":"2020-01-02T03:04:05Z","role":"user","content":"old","meta":{"chat_id":"telegram_123"}}` + "\n"
	added, err := s.Import(t.Context(), strings.NewReader(fmt.Sprintf(line+line, 1, 2)))
	if added != 2 || err != nil {
		t.Fatalf("added %d, %v", added, err)
	}
	if diff := cmp.Diff([]string{"now"}, history(t, s, anna)); diff != "" {
		t.Error(diff)
	}
}

func TestImportNamesBadLines(t *testing.T) {
	s := open(t, t.TempDir())
	record := func(id, role, ts, chat, more string) string {
		return fmt.Sprintf(`{"id":%q,"ts":%q,"role":%q,"content":"x","meta":{"chat_id":%q}%s}`, id, ts, role, chat, more)
	}
	const ts = "2026-01-02T03:04:05+02:00"
	in := []string{
		record("a", "user", ts, "telegram_1", ""),
		"",
		"no JSON",
		record("", "user", ts, "telegram_1", ""),
		record("b", "robot", ts, "telegram_1", ""),
		record("c", "user", "yesterday", "telegram_1", ""),
		record("d", "user", ts, "../../etc_1", ""),
		record("e", "user", ts, "telegram_x", ""),
		record("f", "user", ts, "1", ""),
		record("g", "assistant", ts, "telegram_1", `,"type":"tool_call"`),
		record("h", "tool", ts, "telegram_1", ""),
		record("i", "assistant", ts, "console_default", ""),
		"[1]",
	}
	added, err := s.Import(t.Context(), strings.NewReader(strings.Join(in, "\r\n")))
	if added != 4 || err == nil {
		t.Fatalf("added %d, %v", added, err)
	}
	for _, want := range []string{"line 3:", "line 4:", "line 5:", "line 6:", "line 7:", "line 8:", "line 9:", "line 13:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %s: %v", want, err)
		}
	}
	if got := history(t, s, store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 1}}); len(got) != 1 {
		t.Errorf("a call without its body is in the history: %q", got)
	}
	long := strings.Repeat("x", 17<<20) + "\n" + `{"id":"long1","ts":"2026-03-01T10:00:00Z","role":"user","content":"after it","meta":{"chat_id":"console_default"}}` + "\n"
	if n, err := s.Import(t.Context(), strings.NewReader(long)); n != 1 || err == nil || !strings.Contains(err.Error(), "line 1: the line is too long") {
		t.Errorf("after a line that is too long: %d, %v", n, err)
	}
	if _, err := s.Import(t.Context(), strings.NewReader(strings.Repeat("bad\n", 50))); !strings.Contains(err.Error(), "lines left out: 50 (line 1: ") || !strings.HasSuffix(err.Error(), "; and 40 more)") {
		t.Errorf("many bad lines: %v", err)
	}
}

func TestImportOfManyRecords(t *testing.T) {
	s := open(t, t.TempDir())
	var b strings.Builder
	for i := range 1050 {
		fmt.Fprintf(&b, `{"id":"m%d","ts":"2026-01-02T03:04:05Z","role":"user","content":"%d","meta":{"chat_id":"telegram_123"}}`+"\n", i, i)
	}
	if added, err := s.Import(t.Context(), strings.NewReader(b.String())); added != 1050 || err != nil {
		t.Fatalf("added %d, %v", added, err)
	}
	if got := history(t, s, anna); len(got) != 1000 || got[999] != "1049" {
		t.Errorf("history has %d, the last is %q", len(got), got[len(got)-1])
	}
	must(t, s.WriteLog(t.Context()))
}

func TestExportAsMarkdown(t *testing.T) {
	s := open(t, t.TempDir())
	write(t, s, tell(anna, store.Message{Body: llm.Text(llm.RoleUser, "hi"), SenderName: "Anna", At: day}))
	write(t, s, tell(anna, store.Message{Body: llm.Text(llm.RoleAssistant, "hello"), At: day.Add(time.Second)}))
	write(t, s, tell(anna, store.Message{Body: llm.Message{Role: "system"}, Type: "session_break", At: day.Add(time.Minute)}))
	write(t, s, tell(anna, store.Message{Body: llm.Text(llm.RoleAssistant, "oh"), Type: "error", At: day.Add(time.Minute)}))
	want := "# telegram_123\n\n## 2026-03-01\n\n**Anna**, 23:59 UTC\n\nhi\n\n" +
		"## 2026-03-02\n\n**assistant**, 00:00 UTC\n\nhello\n\n---\n\n**assistant (error)**, 00:00 UTC\n\noh\n\n"
	if diff := cmp.Diff(want, exported(t, s, "md")); diff != "" {
		t.Error(diff)
	}
	if err := s.Export(t.Context(), new(strings.Builder), "pdf"); err == nil {
		t.Error("an unknown format was exported")
	}
}

// FuzzRecord reads any line: what is a record stays the same record, however
// often it is written and read.
func FuzzRecord(f *testing.F) {
	f.Add(`{"id":"a","ts":"2026-01-02T03:04:05Z","role":"user","content":"x","meta":{"chat_id":"telegram_1"}}`)
	f.Add(`{"id":"a","ts":"2026-01-02T03:04:05.123456Z","role":"tool","type":"tool_result","meta":{"chat_id":"console_default","thread":-3,"body":{"role":"x","blocks":[{"result":{"text":"y"}},{}]}}}`)
	f.Add(`{"id":"\u0000","ts":"2000-01-01T00:00:00Z","role":"system","type":"session_break","content":"\ud800","meta":{"chat_id":"a-1_-9223372036854775808"}}`)
	f.Add(`{"id":"a","ts":"1970-01-01T00:00:01Z","role":"user","meta":{"chat_id":"a_1","body":{"blocks":[{"text":"a"},{"thinking":{}},{"call":{"extra":{"a":[1]}}}]}}}`)
	f.Add(`{"id":"a","ts":"9999-12-31T23:59:59-12:00","role":"user","meta":{"chat_id":"a_1"}}`)
	f.Add(`{"id":"a","ts":"2000-01-01T00:00:00Z","role":"tool","type":"tool_result","meta":{"chat_id":"a_default","body":{}}}`)
	f.Add("null")
	f.Add("\"\xff\"")
	f.Fuzz(func(t *testing.T, text string) {
		first, err := archive.Rewrite([]byte(text))
		if err != nil {
			return
		}
		second, err := archive.Rewrite(first)
		if err != nil || string(second) != string(first) || bytes.Count(first, []byte("\n")) != 1 {
			t.Errorf("first\n%s\nthen (%v)\n%s", first, err, second)
		}
	})
}
