package exec_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/exec"
	"klawbot/tools/exec/command"
	"klawbot/tools/sandbox"
)

// bench is a shell in a workspace of its own, with the pipeline around it.
type bench struct {
	t        testing.TB
	ws       string
	mu       sync.Mutex // held where settings change while a command runs
	settings exec.ShellSettings
	policy   tools.Policy
	shell    *exec.Shell
	executor *tools.Executor
	approver tools.Approver
	chat     string
	// bare says that the kernel has no Landlock, as far as the shell knows.
	bare bool
	// readOnly is what calls may not change.
	readOnly []string
	runner   sandbox.Runner
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, ws: filepath.Join(t.TempDir(), "ws"), chat: "telegram_1", settings: exec.ShellSettings{Harmless: true}, runner: sandbox.Off()}
	if err := os.Mkdir(b.ws, 0o755); err != nil {
		t.Fatal(err)
	}
	return b.connect()
}

// connect puts the shell of the workspace into a pipeline.
func (b *bench) connect() *bench {
	t := b.t
	t.Helper()
	settings := func() exec.ShellSettings {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.settings
	}
	b.shell = exec.NewShell(exec.ShellConfig{Workspace: b.ws, Settings: settings, Runner: func() sandbox.Runner { return b.runner }, Confines: func() bool { return !b.bare && sandbox.Confines() }, ReadOnly: func(tools.Call) []string { return b.readOnly }})
	t.Cleanup(b.shell.Close)
	registry, err := tools.NewRegistry(b.shell.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	b.executor = tools.NewExecutor(tools.ExecutorConfig{
		Registry: registry, Policy: func() tools.Policy { return b.policy }, Redact: &redact.Set{},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	return b
}

// file writes a file of the workspace.
func (b *bench) file(name, content string) {
	b.t.Helper()
	full := filepath.Join(b.ws, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// open lets everything run that is not blocked.
func (b *bench) open() *bench {
	b.settings.Mode, b.policy.Autonomy = exec.ModeFull, tools.Full
	return b
}

// allow lets commands run unasked.
func (b *bench) allow(texts ...string) *bench {
	b.t.Helper()
	b.settings = exec.ShellSettings{Mode: exec.ModeAllowlist}
	for _, text := range texts {
		p, err := command.NewPattern(text)
		if err != nil {
			b.t.Fatal(err)
		}
		b.settings.Allow = append(b.settings.Allow, p)
	}
	return b
}

func (b *bench) make(tool string, args map[string]any) tools.Call {
	b.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	return tools.Call{Name: tool, Arguments: raw, Chat: b.chat, Approver: b.approver}
}

// call calls a tool.
func (b *bench) call(tool string, args map[string]any) tools.Result {
	b.t.Helper()
	r, err := b.executor.Execute(context.Background(), b.make(tool, args), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// sh runs a command.
func (b *bench) sh(text string) tools.Result {
	b.t.Helper()
	return b.call("shell", map[string]any{"command": text})
}

// check says what would happen to a command.
func (b *bench) check(text string) tools.Decision {
	b.t.Helper()
	return b.executor.Check(b.make("shell", map[string]any{"command": text}))
}

// body is the output without its last line, which names the exit code.
func body(r tools.Result) string {
	i := strings.LastIndex(r.Output, "\n[exit code ")
	if i < 0 {
		return r.Output
	}
	return r.Output[:i]
}

// eventually waits for something that another process does.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("never happened: " + what)
		}
	}
}

// yes agrees to everything and notes what it was asked.
type yes struct{ asked []tools.ApprovalRequest }

func (y *yes) Approve(_ context.Context, q tools.ApprovalRequest) (tools.Answer, error) {
	y.asked = append(y.asked, q)
	return tools.Answer{Granted: true}, nil
}

func TestStdoutStderrAndExitCode(t *testing.T) {
	b := newBench(t).open()
	for text, want := range map[string]struct {
		body string
		code int
	}{
		"echo out":                       {"out", 0},
		"echo bad >&2":                   {"[stderr]\nbad", 0},
		"echo out; echo bad >&2; exit 3": {"out\n[stderr]\nbad", 3},
		"true":                           {"(no output)", 0},
		"false":                          {"(no output)", 1},
		"printf 'a\\nb\\n' | wc -l":      {"2", 0},
		"kill -9 $$":                     {"(no output)", 137},
		"for i in 1 2; do echo $i; done": {"1\n2", 0},
	} {
		r := b.sh(text)
		if body(r) != want.body || r.ExitCode == nil || *r.ExitCode != want.code || r.Success != (want.code == 0) {
			t.Errorf("%q: %+v", text, r)
		}
		if !r.Success && (r.Error == "" || r.ErrorKind != tools.Execution) {
			t.Errorf("%q fails without a word: %+v", text, r)
		}
	}
}

// TestApprovedListRunsProgramByProgram: the same lines, without any shell.
func TestApprovedListRunsProgramByProgram(t *testing.T) {
	b := newBench(t).allow("*")
	b.file("a.txt", "b\na\nb\n")
	for text, want := range map[string]struct {
		body string
		code int
	}{
		"echo out":                           {"out", 0},
		"echo 'a  b' \"c\" d\\ e":            {"a  b c d e", 0},
		"echo '$HOME' '*'":                   {"$HOME *", 0},
		"sort a.txt | uniq -c | sort -rn":    {"      2 b\n      1 a", 0},
		"false && echo no; echo yes":         {"yes", 0},
		"false || echo yes && echo more":     {"yes\nmore", 0},
		"true || echo no && echo yes":        {"yes", 0},
		"true && false":                      {"(no output)", 1},
		"false | true":                       {"(no output)", 0},
		"true | false":                       {"(no output)", 1},
		"ls missing 2>/dev/null":             {"(no output)", 2},
		"ls missing >/dev/null 2>&1; echo x": {"x", 0},
		"echo x >&2":                         {"[stderr]\nx", 0},
		"echo x >&2 2>/dev/null":             {"[stderr]\nx", 0},
		"echo x >/dev/null":                  {"(no output)", 0},
		"cat </dev/null; pwd -P | wc -l":     {"1", 0},
		"cat":                                {"(no output)", 0},
		"nosuchprogram || echo there":        {"there\n[stderr]\nnosuchprogram: command not found", 0},
		"nosuchprogram":                      {"[stderr]\nnosuchprogram: command not found", 127},
		"./a.txt":                            {"[stderr]\n./a.txt: permission denied", 127},
		"cat a.txt | nosuchprogram":          {"[stderr]\nnosuchprogram: command not found", 127},
		"ls missing 2>&1 | wc -l":            {"1", 0},
		"cat a.txt | head -1\necho end":      {"b\nend", 0},
	} {
		r := b.sh(text)
		if body(r) != want.body || r.ExitCode == nil || *r.ExitCode != want.code {
			t.Errorf("%q: %q %+v", text, body(r), r)
		}
	}
}
