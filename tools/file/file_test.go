package file_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/file"
)

// bench runs the file tools as the bot does, through the executor.
type bench struct {
	t   testing.TB
	dir string // the workspace
	log *memoryLog
	*tools.Executor
}

// newBench makes a workspace; change, if any, changes the configuration.
func newBench(t testing.TB, change func(*file.Config)) bench {
	t.Helper()
	base := t.TempDir()
	c := file.Config{Workspace: filepath.Join(base, "ws"), Data: filepath.Join(base, "data"), Spill: filepath.Join(base, "data", "spill"),
		Location: func() *time.Location { return time.FixedZone("JST", 9*60*60) }}
	if err := os.MkdirAll(c.Workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&c)
	}
	registry, err := tools.NewRegistry(file.New(c)...)
	if err != nil {
		t.Fatal(err)
	}
	return bench{t, c.Workspace, &memoryLog{}, tools.NewExecutor(tools.ExecutorConfig{
		Registry: registry, SpillDir: c.Spill, Redact: new(redact.Set), Log: slog.New(slog.DiscardHandler),
	})}
}

// call executes a call; arguments come as name, value, name, value.
func (b bench) call(name string, pairs ...any) tools.Result {
	b.t.Helper()
	arguments := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		arguments[pairs[i].(string)] = pairs[i+1]
	}
	source, err := json.Marshal(arguments)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.execute(tools.Call{ID: "c1", Name: name, Arguments: source, Owner: true}) // the command line
}

// execute executes a call that records its changes in the bench.
func (b bench) execute(c tools.Call) tools.Result {
	b.t.Helper()
	c.Changelog = b.log
	r, err := b.Execute(b.t.Context(), c, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// put makes a file below the workspace without the tools.
func (b bench) put(name, content string) {
	b.t.Helper()
	put(b.t, filepath.Join(b.dir, name), content)
}

func put(t testing.TB, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// holds checks the content of a file below the workspace.
func (b bench) holds(name, want string) {
	b.t.Helper()
	got, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil || string(got) != want {
		b.t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
	}
}

// says checks what the model reads.
func (b bench) says(r tools.Result, want string) {
	b.t.Helper()
	if r.Output != want {
		b.t.Errorf("got  %q\nwant %q", r.Output, want)
	}
}

func TestNoWorkspace(t *testing.T) {
	for name, dir := range map[string]string{"none": "", "missing": filepath.Join(t.TempDir(), "later")} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *file.Config) { c.Workspace = dir })
			for _, tool := range []string{"file_read", "file_list", "file_write"} {
				r := b.call(tool, "path", "a.txt")
				if tool == "file_write" {
					r = b.call(tool, "path", "a.txt", "content", "x")
				}
				b.says(r, "Error: No workspace set")
			}
		})
	}
}

func TestWorkspaceThatComesLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	b := newBench(t, func(c *file.Config) { c.Workspace = dir })
	b.says(b.call("file_read", "path", "a.txt"), "Error: No workspace set")
	b.put("a.txt", "here")
	b.says(b.call("file_read", "path", "a.txt"), "here")
}

func TestLanguages(t *testing.T) {
	for _, tool := range file.New(file.Config{}) {
		for _, language := range tools.Languages() {
			if text := tool.Spec().Texts[language]; text.Description == "" || len(text.Parameters) == 0 {
				t.Errorf("%s has no text in %s", tool.Spec().Name, language)
			}
		}
	}
}
