package store_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/redact"
)

var day = time.Date(2026, 3, 1, 23, 59, 59, 250_000_000, time.UTC)

// TestNoRowHoldsSecret stores a known secret, and something with the shape of one, in
// all that comes from outside, and looks for both in every file.
func TestNoRowHoldsSecret(t *testing.T) {
	const known, shape = "key-of-the-roof-1234", "sk-shape0123456789abcdef"
	secret := known + " and " + shape
	dir := t.TempDir()
	secrets := new(redact.Set)
	secrets.Add(known)
	s, err := store.Open(t.Context(), store.Config{Dir: dir, Redact: secrets, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	a := store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 11}}
	raw := []byte(`{"text":"` + secret + ` @bot","entities":[{"type":"mention","offset":49,"length":4}]}`)
	call := llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "c", Name: "shell", Arguments: `{"command":"` + secret + `"}`}}}}
	var inbox store.InboxID
	write(t, s, func(tx *store.Tx) error {
		session, err := tx.Sessions().Session(a)
		must(t, err)
		turn, err := tx.Turns().AddTurn(store.Turn{Session: session.ID, Address: a})
		must(t, err)
		inbox, _, err = tx.Inbox().AddUpdate(store.Update{Update: gateway.Update{Channel: "telegram", ID: 1, Kind: "message", Address: a, Raw: raw}})
		must(t, err)
		must(t, tx.Turns().AddAnswer(turn, 0, call, llm.Usage{}))
		must(t, tx.Turns().StartCall(store.Call{ID: "c", Turn: turn, Name: "shell"}))
		must(t, tx.Turns().FinishCall("c", []byte(`{"output":"`+secret+`"}`)))
		must(t, tx.Chats().SeeChat("telegram", 11, secret, day))
		_, err = tx.Chats().KillChat("telegram", 12, secret)
		must(t, err)
		_, err = tx.Sessions().AddMessage(store.Message{Session: session.ID, Body: call, SenderName: secret})
		must(t, err)
		message, err := tx.Sessions().AddMessage(store.Message{Session: session.ID, Body: llm.Text(llm.RoleUser, "{"+secret)})
		must(t, err)
		must(t, tx.Outbox().AddOut(store.Out{Key: "k", Address: a, Body: []byte(`{"text":"` + secret + `"}`), Note: secret}))
		out, err := tx.Outbox().OutNamed("k")
		must(t, err)
		out.Note = "the server said " + secret
		must(t, tx.Outbox().UpdateOut(out))
		_, err = tx.Approvals().AddApproval(store.Approval{Token: "t", Turn: turn, Call: "c", Address: a, Hash: "h", Shown: secret})
		must(t, err)
		_, err = tx.Approvals().AddGrant(store.Grant{Channel: "telegram", Chat: 11, Tool: "shell", Hash: "h", Shown: secret, ExpiresAt: day.AddDate(99, 0, 0)})
		must(t, err)
		must(t, tx.Sessions().AddSummary(store.Summary{Session: session.ID, First: message, Through: message, Text: secret}))
		memory := store.Memory{Channel: "telegram", Chat: 11, Key: secret, Category: "core", Source: "chat", Content: secret}
		memory.ID, err = tx.Memories().AddMemory(memory)
		must(t, err)
		if found, err := tx.Memories().MemoryByKey("telegram", 11, secret); err != nil || found.ID != memory.ID {
			t.Errorf("the memory is not found by its key: %+v, %v", found, err)
		}
		must(t, tx.Memories().AddMemoryChange(memory.ID, &memory))
		chunk, err := tx.Index().AddChunk(store.Chunk{Kind: "memory", Owner: int64(memory.ID), Channel: "telegram", Chat: 11, Source: "chat", Content: secret})
		must(t, err)
		must(t, tx.Index().SetTerms(chunk.ID, strings.ReplaceAll(secret, "-", " ")))
		job, err := tx.Jobs().AddJob(store.Job{Kind: "schedule", Name: "n", Message: "tell " + known, Home: a, Target: a, Note: secret})
		must(t, err)
		run, err := tx.Runs().ClaimRun(store.Run{Job: job, ScheduledAt: day, State: "running"})
		must(t, err)
		must(t, tx.Runs().UpdateRun(store.Run{ID: run, State: "done", Result: secret, Note: secret}))
		must(t, tx.Servers().SetServerToken("server", `{"access_token":"`+shape+`-of-a-server"}`))
		// The turn ends: nothing has to run any more.
		must(t, tx.Turns().EndTurn(store.Turn{ID: turn, State: store.TurnFailed, Note: "HTTP 401: " + secret}))
		return tx.Inbox().EndUpdates(store.InboxDone, secret, inbox)
	})
	beside := archive.Of(s)
	must(t, beside.WriteLog(t.Context()))
	var exported bytes.Buffer
	must(t, beside.Export(t.Context(), &exported, "json"))
	must(t, beside.Export(t.Context(), &exported, "md"))
	must(t, os.WriteFile(filepath.Join(dir, "exported"), exported.Bytes(), 0o600))
	must(t, beside.Backup(t.Context(), filepath.Join(dir, "backup.db")))
	read(t, s, func(tx *store.Tx) error {
		token, err := tx.Servers().ServerToken("server")
		if err != nil || token != `{"access_token":"`+shape+`-of-a-server"}` {
			t.Errorf("the token of the server is %q, %v", token, err)
		}
		text, err := tx.Text(`SELECT raw FROM inbox`)
		if want := `{"text":"█░█░█░█░█░█░█░█░█░█░ and █░█░█░█░█░█░█░█░█░█░█░█░ @bot","entities":[{"type":"mention","offset":49,"length":4}]}`; text != want {
			t.Errorf("the update is kept as %s", text)
		}
		return err
	})
	must(t, s.Close())
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		text = bytes.ReplaceAll(text, []byte(shape+"-of-a-server"), nil)
		if i := bytes.Index(text, []byte(known)); i >= 0 {
			t.Errorf("%s holds the known secret: %q", path, text[max(0, i-60):i+20])
		}
		// Of what only has the shape of a secret, the pages of what was deleted may.
		if i := bytes.Index(text, []byte(shape)); i >= 0 && filepath.Ext(path) != ".db" && !strings.HasSuffix(path, "-wal") || i >= 0 && filepath.Base(path) == "backup.db" {
			t.Errorf("%s holds the shape of a secret: %q", path, text[max(0, i-60):i+20])
		}
		return err
	}))
}
