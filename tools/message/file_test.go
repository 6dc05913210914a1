package message_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/file"
	"klawbot/tools/message"
)

func TestSendFile(t *testing.T) {
	base := t.TempDir()
	ws := filepath.Join(base, "ws")
	for name, content := range map[string]string{
		"ws/a/report.csv": "x,y\n1,hunter2-secret\n", "ws/empty": "", "ws/picture.png": "\x89PNG\r\n\x1a\n\x00", "out/secret.txt": "SECRET",
		"ws/long": strings.Repeat("x", 1<<20+1), "ws/huge": "x",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(base, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(base, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(ws, "huge"), tools.MaxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../out/secret.txt", filepath.Join(ws, "rel")); err != nil {
		t.Fatal(err)
	}
	secrets := &redact.Set{}
	secrets.Add("hunter2-secret")
	registry, err := tools.NewRegistry(message.New(message.Config{
		Door:     door{"telegram_123", "telegram_7", "console_default"},
		OpenFile: file.Opener(file.Config{Workspace: ws}),
	})...)
	if err != nil {
		t.Fatal(err)
	}
	e := tools.NewExecutor(tools.ExecutorConfig{
		Registry: registry, Redact: secrets, Log: slog.New(slog.DiscardHandler),
		Keep: func(r io.Reader) (string, error) {
			content, err := io.ReadAll(r)
			return string(content), err
		},
	})
	const here = "telegram_123"
	// Path is what was kept.
	report := &tools.File{Name: "report.csv", MIME: "text/plain; charset=utf-8", Path: "x,y\n1,[redacted]\n"}
	picture := &tools.File{Name: "picture.png", MIME: "image/png", Path: "\x89PNG\r\n\x1a\n\x00"}
	long := &tools.File{Name: "long", MIME: "text/plain; charset=utf-8", Path: strings.Repeat("x", 1<<20+1)}
	for name, c := range map[string]struct {
		chat, arguments, want string
		out                   tools.Outgoing
	}{
		"this chat":         {here, `{"path":"a/report.csv","caption":"March"}`, "OK: file report.csv sent to telegram_123", tools.Outgoing{Chat: here, Thread: 5, Text: "March", File: report}},
		"this one by name":  {here, `{"path":"a/report.csv","chatId":123}`, "OK: file report.csv sent to telegram_123", tools.Outgoing{Chat: here, Thread: 5, File: report}},
		"another chat":      {here, `{"path":"workspace/a/report.csv","chatId":"telegram_7"}`, "OK: file report.csv sent to telegram_7", tools.Outgoing{Chat: "telegram_7", File: report}},
		"a bare id":         {here, `{"path":"a/report.csv","chatId":"7"}`, "OK: file report.csv sent to telegram_7", tools.Outgoing{Chat: "telegram_7", File: report}},
		"the terminal":      {"console_default", `{"path":"a/report.csv"}`, "OK: file report.csv sent to console_default", tools.Outgoing{Chat: "console_default", Thread: 5, File: report}},
		"not listed":        {here, `{"path":"a/report.csv","chatId":"telegram_5"}`, "Error: chatId telegram_5 not in allowedChatIds", tools.Outgoing{}},
		"nowhere":           {"", `{"path":"a/report.csv"}`, "Error: this call has no chat; give chatId, such as telegram_123456", tools.Outgoing{}},
		"a bare id nowhere": {"", `{"path":"a/report.csv","chatId":"7"}`, "Error: chatId needs its messenger, such as telegram_123456", tools.Outgoing{}},
		"traversal":         {here, `{"path":"../out/secret.txt"}`, "Error: Access denied: path outside workspace", tools.Outgoing{}},
		"a link out":        {here, `{"path":"rel"}`, "Error: Access denied: path outside workspace", tools.Outgoing{}},
		"missing":           {here, `{"path":"no.txt"}`, "Error: file not found: no.txt", tools.Outgoing{}},
		"a folder":          {here, `{"path":"a"}`, "Error: a is a directory; file_list shows what is in it", tools.Outgoing{}},
		"empty":             {here, `{"path":"empty"}`, "Error: empty is empty; there is nothing to send", tools.Outgoing{}},
		"binary":            {here, `{"path":"picture.png"}`, "OK: file picture.png sent to telegram_123", tools.Outgoing{Chat: here, Thread: 5, File: picture}},
		"a long text":       {here, `{"path":"long"}`, "OK: file long sent to telegram_123", tools.Outgoing{Chat: here, Thread: 5, File: long}},
		"too long":          {here, `{"path":"huge"}`, "Error: huge has 52428801 bytes, and 52428800 can be sent; send a part of it", tools.Outgoing{}},
		"no path":           {here, `{}`, "Error: give path, or paths for an album of 2 to 10 files", tools.Outgoing{}},
		"as a file":         {here, `{"path":"picture.png","as":"file"}`, "OK: file picture.png sent to telegram_123", tools.Outgoing{Chat: here, Thread: 5, File: picture}},
		"one of an album":   {here, `{"paths":["picture.png"]}`, "OK: file picture.png sent to telegram_123", tools.Outgoing{Chat: here, Thread: 5, File: picture}},
		"no voice":          {here, `{"path":"picture.png","as":"voice"}`, "Error: picture.png is no voice message: that is Opus in an .ogg file", tools.Outgoing{}},
		"an album of voice": {here, `{"paths":["picture.png","a/report.csv"],"as":"voice"}`, "Error: an album has no voice messages; send each with a call of its own", tools.Outgoing{}},
		"one is missing":    {here, `{"paths":["picture.png","no.txt"]}`, "Error: file not found: no.txt", tools.Outgoing{}},
		"a long caption":    {here, `{"path":"a/report.csv","caption":"` + strings.Repeat("я", 1001) + `"}`, "Error: caption has 1001 characters, 1000 are allowed; send the rest as a message", tools.Outgoing{}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := e.Execute(t.Context(), tools.Call{ID: "c1", Name: "send_file", Chat: c.chat, Thread: 5, Arguments: json.RawMessage(c.arguments)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Output != c.want {
				t.Errorf("got  %s\nwant %s", r.Output, c.want)
			}
			if !r.Success {
				if len(r.Outgoing) > 0 {
					t.Errorf("outgoing is %+v", r.Outgoing)
				}
				return
			}
			got := r.Outgoing[0]
			if got.File.Name != c.out.File.Name || got.File.MIME != c.out.File.MIME || got.File.Path != c.out.File.Path || got.Chat != c.out.Chat || got.Thread != c.out.Thread || got.Text != c.out.Text {
				t.Errorf("outgoing is %+v %+v", got, *got.File)
			}
		})
	}
}

// TestSendAlbum: several files are one message, each kept and with its own name.
func TestSendAlbum(t *testing.T) {
	ws := t.TempDir()
	for _, name := range []string{"a.txt", "b.txt"} {
		if err := os.WriteFile(filepath.Join(ws, name), []byte("in "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	registry, err := tools.NewRegistry(message.New(message.Config{Door: door{"telegram_7"}, OpenFile: file.Opener(file.Config{Workspace: ws})})...)
	if err != nil {
		t.Fatal(err)
	}
	e := tools.NewExecutor(tools.ExecutorConfig{Registry: registry, Redact: &redact.Set{}, Log: slog.New(slog.DiscardHandler), Keep: func(r io.Reader) (string, error) {
		content, err := io.ReadAll(r)
		return string(content), err
	}})
	r, err := e.Execute(t.Context(), tools.Call{ID: "c1", Name: "send_file", Chat: "telegram_7", Arguments: json.RawMessage(`{"path":"a.txt","paths":["a.txt","b.txt"],"caption":"both"}`)}, nil)
	if err != nil || r.Output != "OK: album of 2 files sent to telegram_7" || len(r.Outgoing) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	m := r.Outgoing[0]
	if m.File != nil || len(m.Album) != 2 || m.Text != "both" || m.Album[0].Path != "in a.txt" || m.Album[1].Name != "b.txt" || m.Album[1].Path != "in b.txt" {
		t.Errorf("%+v", m)
	}
}

func TestSendFileIsHiddenWithoutFiles(t *testing.T) {
	for _, tool := range message.New(message.Config{}) {
		if tool.Spec().Name == "send_file" {
			t.Error("send_file is there")
		}
	}
	all := message.New(message.Config{OpenFile: file.Opener(file.Config{})})
	if spec := all[len(all)-1].Spec(); spec.Name != "send_file" || !spec.Atomic || !spec.Changes {
		t.Errorf("%s: atomic %v, changes %v", spec.Name, spec.Atomic, spec.Changes)
	}
}
