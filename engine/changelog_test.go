package engine_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/engine"
	"klawbot/engine/data"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/modeltest"
	"klawbot/internal/redact"
	"klawbot/whitelist"
)

// openData opens the data directory of a house as a command does.
func openData(t *testing.T, h *house) *data.Data {
	t.Helper()
	d, err := data.Open(t.Context(), dataConfig(t, h))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// dataConfig is what a command opens the data directory of a house with.
func dataConfig(t *testing.T, h *house) engine.Base {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	g, err := gateway.New(gateway.Config{Channels: []gateway.Channel{h.messenger}, Whitelist: func() whitelist.List { return nil }, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return engine.Base{
		Dir: h.dir, Gateway: g, Tools: h.tools, HTTP: http.DefaultClient, Settings: func() settings.Settings { return h.settings },
		Workspace: h.workspace(), Redact: new(redact.Set), Log: log,
	}
}

// callTool calls a tool as a command and returns what it says.
func callTool(t *testing.T, d *data.Data, name, arguments string) string {
	t.Helper()
	r, err := d.CallTool(t.Context(), name, json.RawMessage(arguments))
	if err != nil {
		t.Fatal(err)
	}
	return r.Output
}

func TestCommandsRecordTheirChanges(t *testing.T) {
	h := build(t)
	d := openData(t, h)
	if got := callTool(t, d, "file_list", `{}`); got != "(empty directory)" {
		t.Errorf("list: %s", got)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "klawbot.db")); !os.IsNotExist(err) {
		t.Errorf("a read-only call began the database: %v", err)
	}
	callTool(t, d, "file_write", `{"path": "a.txt", "content": "1"}`)
	callTool(t, d, "file_write", `{"path": "a.txt", "content": "2"}`)
	if got := callTool(t, d, "file_undo", `{"action": "revert"}`); got != "OK: a.txt is as it was before change 2" {
		t.Errorf("undo: %s", got)
	}
	if got, err := os.ReadFile(filepath.Join(h.workspace(), "a.txt")); err != nil || string(got) != "1" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if got := callTool(t, d, "file_undo", `{}`); strings.Count(got, "\n") != 2 || !strings.Contains(got, "file_undo a.txt (undid 2)") {
		t.Errorf("list:\n%s", got)
	}
}

func TestACommandUndoesWhatARunningBotWrote(t *testing.T) {
	h := build(t)
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if r.Messages[len(r.Messages)-1].Role == "tool" {
			return modeltest.Text("written")
		}
		return modeltest.CallTool("file_write", map[string]any{"path": "a.txt", "content": "from the bot"})
	})
	h.start().says(alice, "write")
	h.shows(alice, "written")
	d := openData(t, h)
	if got := callTool(t, d, "file_undo", `{"action": "list"}`); !strings.HasSuffix(got, ", turn 1, file_write a.txt (new file)") {
		t.Errorf("list: %s", got)
	}
	if got := callTool(t, d, "file_undo", `{"action": "revert_turn", "id": 1}`); got != "OK: a.txt is removed, as before change 1" {
		t.Errorf("undo: %s", got)
	}
	if _, err := os.Stat(filepath.Join(h.workspace(), "a.txt")); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
}
