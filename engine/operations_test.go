package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/engine"
	"klawbot/engine/health"
	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/modeltest"
	"klawbot/internal/redact"
	"klawbot/whitelist"
)

// bare is an engine without a model, for tests in a bubble: nothing in it uses
// the network.
func bare(t *testing.T, dir string, s settings.Settings) *engine.Engine {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	g, err := gateway.New(gateway.Config{
		Channels:  []gateway.Channel{newMessenger()},
		Whitelist: func() whitelist.List { return whitelist.List{"telegram": {Chats: []int64{alice}}} },
		Log:       log,
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(t.Context(), engine.Config{Base: engine.Base{
		Dir: dir, Gateway: g, HTTP: http.DefaultClient, Settings: func() settings.Settings { return s },
		Workspace: filepath.Join(dir, "workspace"), Redact: new(redact.Set), Version: "test", Log: log,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestBackupsAreMadeHourlyAndRotated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		e := bare(t, dir, settings.Settings{Backup: settings.Backups{Every: time.Hour, Keep: 3}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		count := func() int {
			all, err := archive.Backups(dir)
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		for _, c := range []struct {
			after time.Duration
			want  int
		}{{30 * time.Second, 1}, {time.Minute, 1}, {30 * time.Minute, 1}, {31 * time.Minute, 2}, {5 * time.Hour, 3}} {
			time.Sleep(c.after)
			synctest.Wait()
			if n := count(); n != c.want {
				t.Errorf("%s later there are %d backups, want %d", c.after, n, c.want)
			}
		}
		s, err := e.Status(ctx)
		if err != nil || time.Since(s.Backup.At) > 62*time.Minute || s.Backup.Path == "" || s.Backup.Bytes == 0 || s.Backup.Fault != "" {
			t.Errorf("the status says %+v, %v", s.Backup, err)
		}
		stop()
		if err := errors.Join(<-ended, e.Close()); err != nil {
			t.Error(err)
		}
	})
}

func TestNoBackupsWhenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		e := bare(t, dir, settings.Settings{})
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Hour)
		defer stop()
		if err := errors.Join(e.Run(ctx), e.Close()); err != nil {
			t.Fatal(err)
		}
		if all, err := archive.Backups(dir); len(all) > 0 || err != nil {
			t.Errorf("backups are %v, %v", all, err)
		}
	})
}

// TestOwnersHearOfARestoredBackup damages the database of a stopped bot.
func TestOwnersHearOfARestoredBackup(t *testing.T) {
	h := build(t)
	h.echo()
	h.start().says(alice, "before")
	h.shows(alice, "re: before")
	h.end()
	st, err := store.Open(t.Context(), store.Config{Dir: h.dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = archive.Of(st).BackupNow(t.Context(), 1)
	if err = errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "klawbot.db"), []byte("spoilt"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.start()
	if !h.messenger.wait(10*time.Second, func() bool {
		texts := h.messenger.texts(alice)
		return len(texts) == 2 && strings.HasPrefix(texts[1], "My database was damaged. I restored the backup of 20")
	}) {
		t.Fatalf("the owner reads %q", h.messenger.texts(alice))
	}
	if texts := h.messenger.texts(bob); len(texts) > 0 {
		t.Errorf("somebody else reads %q", texts)
	}
	h.says(alice, "again")
	h.shows(alice, append(h.messenger.texts(alice)[:2:2], "re: again")...)
}

func TestDoctorIsForOwnersInPrivate(t *testing.T) {
	h := build(t)
	h.examine = func(context.Context) []health.Finding {
		return []health.Finding{health.Broken("roof", "mend it", errors.New("it leaks sk-secret-of-the-roof"))}
	}
	h.redact.Add("sk-secret-of-the-roof")
	h.model.Push(modeltest.CallTool("current_time", map[string]any{}), modeltest.Text("late"))
	h.start()
	h.says(alice, "/doctor")
	if !h.messenger.wait(10*time.Second, func() bool { return len(h.messenger.texts(alice)) == 1 }) {
		t.Fatal("no answer")
	}
	text := h.messenger.texts(alice)[0]
	for _, want := range []string{"✓ database: integrity check passed", "✗ roof: it leaks ", "→ mend it", "✓ model: test-model at test answers in", "; calls tools"} {
		if !strings.Contains(text, want) {
			t.Errorf("the answer lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "sk-secret") {
		t.Errorf("the answer holds a secret:\n%s", text)
	}
	h.says(bob, "/doctor")
	h.shows(bob, "/doctor is for owners only.")
	h.accept(h.next(gateway.Message{
		Address: gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}}, Sender: gateway.Sender{ID: alice}, Group: true, Text: "/doctor",
	}))
	h.shows(-100, "/doctor works in private chats only.")
}

func TestProbeTools(t *testing.T) {
	for name, c := range map[string]struct {
		replies []modeltest.Reply
		calls   bool
		fault   string
	}{
		"calls":          {[]modeltest.Reply{modeltest.CallTool("current_time", map[string]any{}), modeltest.Text("noon")}, true, ""},
		"answers":        {[]modeltest.Reply{modeltest.Text("noon")}, false, ""},
		"says nothing":   {[]modeltest.Reply{modeltest.Text("")}, false, "empty reply"},
		"calls and ends": {[]modeltest.Reply{modeltest.CallTool("current_time", map[string]any{}), modeltest.Text("")}, false, "said nothing about the result"},
		"wrong key":      {[]modeltest.Reply{{Status: http.StatusUnauthorized, Body: `{"error":{"message":"no"}}`}}, false, "the key is refused"},
	} {
		t.Run(name, func(t *testing.T) {
			server := modeltest.Start("k")
			defer server.Close()
			server.Push(c.replies...)
			m := settings.Model{Provider: "test", Type: "openai", BaseURL: server.URL + "/v1", APIKey: "k", Name: "test-model"}
			calls, err := health.ProbeTools(t.Context(), http.DefaultClient, m)
			if calls != c.calls || (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("got %v, %v, want %v, %q", calls, err, c.calls, c.fault)
			}
			if all := server.Completions(); len(all) == 2 && all[1].Last().Role != "tool" {
				t.Errorf("the model was not given the result: %+v", all[1].Messages)
			}
		})
	}
}
