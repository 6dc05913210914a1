package plugin_test

import (
	"cmp"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/plugin"
	"klawbot/tools/sandbox"
)

// bench is a folder of plugins with the pipeline around them.
type bench struct {
	t      *testing.T
	data   string
	reads  []string
	keep   []string
	runner sandbox.Runner
	policy tools.Policy
	host   *plugin.Host
	// timeout is what the plugins of say ask for, in seconds; 0: as much as a
	// busy machine can need.
	timeout int
	*tools.Executor
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, data: t.TempDir(), runner: sandbox.Off(), policy: tools.Policy{Autonomy: tools.Full}}
	for _, dir := range []string{"plugins", "workspace"} {
		if err := os.Mkdir(filepath.Join(b.data, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.again()
	return b
}

// again makes a new host and pipeline, as another process does.
func (b *bench) again() {
	b.host = plugin.New(plugin.Config{
		Dir: b.path(""), Workspace: filepath.Join(b.data, "workspace"), Log: slog.New(slog.DiscardHandler),
		Runner: func() sandbox.Runner { return b.runner }, ReadOnly: func() []string { return b.reads },
		Keep: func(tools.Call) []string { return b.keep },
	})
	registry, err := tools.NewRegistry(builtin{})
	if err != nil {
		b.t.Fatal(err)
	}
	secrets := new(redact.Set)
	secrets.Add("hunter2-secret")
	b.Executor = tools.NewExecutor(tools.ExecutorConfig{
		Registry: registry, Sources: []tools.Source{b.host}, Redact: secrets, Log: slog.New(slog.DiscardHandler),
		Policy: func() tools.Policy { return b.policy },
		Keep: func(r io.Reader) (string, error) {
			content, err := io.ReadAll(r)
			return string(content), err
		},
	})
}

// asked is how often the plugins that count it were asked for their
// specifications.
func (b *bench) asked() int {
	text, _ := os.ReadFile(filepath.Join(b.data, "asked")) // none is none
	return strings.Count(string(text), "asked")
}

// path is the path of a plugin.
func (b *bench) path(name string) string { return filepath.Join(b.data, "plugins", name) }

// put writes a plugin.
func (b *bench) put(name, script string, mode os.FileMode) {
	b.t.Helper()
	// Another file, as an editor makes one: a program that runs cannot be written.
	if err := os.RemoveAll(b.path(name)); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.path(name), []byte(script), mode); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Chmod(b.path(name), mode); err != nil { // whatever the umask
		b.t.Fatal(err)
	}
}

// say puts a plugin with a name and a body that runs for a call.
func (b *bench) say(name, body string) {
	b.t.Helper()
	b.put(name, `#!/bin/sh
if [ "$1" = --spec ]; then
  echo '{"name":"`+name+`","description":"Does `+name+`.","timeout":`+strconv.Itoa(cmp.Or(b.timeout, 60))+`,"parameters":{"type":"object","properties":{"n":{"type":"integer","description":"A number.","default":7}}}}'
  exit
fi
`+body, 0o755)
}

// look makes the host look now.
func (b *bench) look() *bench {
	b.host.Look(b.t.Context())
	return b
}

// names are the tools that there are.
func (b *bench) names() (all []string) {
	for _, t := range b.Registry().All() {
		all = append(all, t.Spec().Name)
	}
	return all
}

// faults are the faults in words.
func (b *bench) faults() (all []string) {
	for _, f := range b.Registry().Faults() {
		all = append(all, f.String())
	}
	return all
}

func (b *bench) call(name, arguments string) tools.Result {
	b.t.Helper()
	r, err := b.Execute(b.t.Context(), tools.Call{ID: "c1", Chat: "telegram_1", Name: name, Arguments: json.RawMessage(arguments)}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
