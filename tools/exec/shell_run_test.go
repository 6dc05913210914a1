package exec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"klawbot/internal/needs"
	"klawbot/tools"
	"klawbot/tools/exec"
	"klawbot/tools/sandbox"
)

// TestShellWorkdir: the lines of the corpus for shell.cwd, and what is like them.
func TestShellWorkdir(t *testing.T) {
	b := newBench(t).open()
	out := filepath.Join(filepath.Dir(b.ws), "out")
	for _, dir := range []string{out, b.ws + "-evil"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.file("sub/deep/x", "")
	b.file("a b/x", "")
	for name, target := range map[string]string{"dl": "../out", "in": "sub/deep", "back": "../ws/sub", "abs": out, "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(b.ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	for workdir, want := range map[string]string{
		"": b.ws, ".": b.ws, "./": b.ws, "sub": b.ws + "/sub", "sub/deep": b.ws + "/sub/deep", "in": b.ws + "/sub/deep", "sub/..": b.ws, "a b": b.ws + "/a b",
		b.ws: b.ws, b.ws + "/sub": b.ws + "/sub", b.ws + "/": b.ws, "in/..": b.ws + "/sub",
	} {
		if r := b.call("shell", map[string]any{"command": "pwd -P", "workdir": workdir}); body(r) != want {
			t.Errorf("workdir %q: %+v", workdir, r)
		}
	}
	for _, workdir := range []string{"../out", "dl", "dl/", "..", "/", "/etc", out, b.ws + "-evil", b.ws + "/../out", "sub/../../out", "back", "abs", "../ws", "loop", "in/../../.."} {
		r := b.call("shell", map[string]any{"command": "touch made", "workdir": workdir})
		if r.ErrorKind != tools.Security || r.Output != "Error: Access denied: path outside workspace" {
			t.Errorf("workdir %q: %+v", workdir, r)
		}
	}
	for workdir, kind := range map[string]tools.ErrorKind{"missing": tools.NotFound, "sub/deep/x": tools.Validation, "a\x00b": tools.Validation, strings.Repeat("x/", 4000): tools.Validation} {
		if r := b.call("shell", map[string]any{"command": "touch made", "workdir": workdir}); r.ErrorKind != kind {
			t.Errorf("workdir %.20q: %+v", workdir, r)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "made")); err == nil {
		t.Error("a command ran outside")
	}
}

// TestHarmlessCommandMemoryIsBounded: a grep needs no approval, so no regular
// expression may fill the memory of the machine. Without a bound this one takes more
// than 8 GB.
func TestHarmlessCommandMemoryIsBounded(t *testing.T) {
	b := newBench(t)
	b.file("notes", "text\n")
	r := b.call("shell", map[string]any{"command": "grep -E 'a{1,30000}{1,30000}' notes", "timeout": 60})
	if r.ExitCode == nil || *r.ExitCode != 2 || !strings.Contains(r.Output, "xhausted") {
		t.Errorf("%+v", r)
	}
	if r := b.call("shell", map[string]any{"command": "sort notes | grep -c t"}); !r.Success {
		t.Errorf("%+v", r)
	}
	// What the owner has put on the list takes what it needs, also beside a grep.
	b.allow("sh limit.sh").settings.Harmless = true
	b.file("limit.sh", "ulimit -d\n")
	if r := b.call("shell", map[string]any{"command": "sh limit.sh | grep -vx 262144"}); !r.Success {
		t.Errorf("%+v", r)
	}
}

func TestNoWorkspace(t *testing.T) {
	b := newBench(t).open()
	if err := os.Remove(b.ws); err != nil {
		t.Fatal(err)
	}
	if r := b.sh("ls"); r.Output != "Error: No workspace set" {
		t.Errorf("%+v", r)
	}
}

// running reports whether a process with this text in its command line is there.
func running(t *testing.T, text string) bool {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(all) == 0 {
		t.Fatalf("no processes in /proc: %v", err)
	}
	for _, name := range all {
		line, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(line), text) && !strings.HasPrefix(name, fmt.Sprintf("/proc/%d/", os.Getpid())) {
			return true
		}
	}
	return false
}

// TestToolTimeoutLeavesNoProcess: whatever a command started is gone with it,
// also what left its group.
func TestToolTimeoutLeavesNoProcess(t *testing.T) {
	b := newBench(t).open()
	mark := fmt.Sprintf("31%d.5", os.Getpid())
	begun := time.Now()
	r := b.call("shell", map[string]any{"command": fmt.Sprintf("echo before; sleep %[1]s & setsid sleep %[1]s & (trap '' TERM; sleep %[1]s) & sleep %[1]s", mark), "timeout": 1})
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	if r.ErrorKind != tools.Timeout || !strings.Contains(r.Error, "did not end within 1s") || !strings.Contains(r.Output, "before") {
		t.Errorf("%+v", r)
	}
	if running(t, mark) {
		t.Error("a process is left")
	}
	b.allow("sleep *", "echo *")
	if r := b.call("shell", map[string]any{"command": "echo a && sleep " + mark + " | sleep " + mark + "; echo never", "timeout": 1}); r.ErrorKind != tools.Timeout || strings.Contains(r.Output, "never") {
		t.Errorf("%+v", r)
	}
	if running(t, mark) {
		t.Error("a process of the list is left")
	}
}

func TestEndedCommandLeavesNoProcess(t *testing.T) {
	b := newBench(t).open()
	mark := fmt.Sprintf("32%d.5", os.Getpid())
	if r := b.sh("sleep " + mark + " & setsid sleep " + mark + " & echo done"); !strings.Contains(r.Output, "done") || running(t, mark) {
		t.Errorf("%+v, left: %v", r, running(t, mark))
	}
}

// TestStopEndsTheCommand: the turn is cancelled while it runs.
func TestStopEndsTheCommand(t *testing.T) {
	b := newBench(t).open()
	mark := fmt.Sprintf("33%d.5", os.Getpid())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		defer stop()
		eventually(t, "the command runs", func() bool { return running(t, mark) })
	}()
	_, err := b.executor.Execute(ctx, b.make("shell", map[string]any{"command": "sleep " + mark}), nil)
	if !errors.Is(err, context.Canceled) || running(t, mark) {
		t.Errorf("error %v, left: %v", err, running(t, mark))
	}
}

func TestTimeoutOfACall(t *testing.T) {
	b := newBench(t)
	timeouts := map[string]time.Duration{}
	for _, tool := range b.shell.Tools() {
		if s := tool.Spec(); s.Name == "shell" {
			for _, args := range []string{`{}`, `{"timeout":5}`, `{"timeout":100000}`, `{"timeout":9000000000000000000}`} {
				timeouts[args] = s.TimeoutOf([]byte(args))
			}
			b.settings.Timeout = 7 * time.Second
			timeouts["configured"] = s.TimeoutOf([]byte(`{}`))
			presets := map[string]any{}
			for _, a := range s.Aliases {
				presets[a.Name] = a.Preset["timeout"]
			}
			if presets["exec"] != 180 || presets["shell_execute"] != 60 || presets["run_command"] != nil || len(presets) != 3 {
				t.Errorf("presets %v", presets)
			}
		}
	}
	want := map[string]time.Duration{
		`{}`: 30 * time.Second, `{"timeout":5}`: 5 * time.Second, `{"timeout":100000}`: 300 * time.Second,
		`{"timeout":9000000000000000000}`: 300 * time.Second, "configured": 7 * time.Second,
	}
	for args, w := range want {
		if timeouts[args] != w {
			t.Errorf("%s: %s, want %s", args, timeouts[args], w)
		}
	}
}

// TestShellAliases: the names and arguments of other systems.
func TestShellAliases(t *testing.T) {
	b := newBench(t)
	b.file("sub/x", "")
	for _, name := range []string{"shell", "exec", "shell_execute", "run_command"} {
		if r := b.call(name, map[string]any{"command": "ls", "cwd": "sub"}); body(r) != "x" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestEnvironmentOfCommands: an allow list, and a PATH without the workspace.
func TestEnvironmentOfCommands(t *testing.T) {
	b := newBench(t).open()
	b.file("bin/ls", "#!/bin/sh\necho canary-4\n")
	if err := os.Chmod(filepath.Join(b.ws, "bin/ls"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(b.ws, "bin"), filepath.Join(filepath.Dir(b.ws), "link")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", b.ws+"/bin:"+filepath.Dir(b.ws)+"/link:bin:.::"+os.Getenv("PATH"))
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "canary-1", "TELEGRAM_BOT_TOKEN": "canary-2", "LD_PRELOAD": "", "BASH_ENV": b.ws + "/evil", "ENV": b.ws + "/evil", "GIT_PAGER": "x", "LANG": "C.UTF-8", "TZ": "UTC",
	} {
		t.Setenv(name, value)
	}
	b.file("evil", "echo canary-3\n")
	r := b.sh("env; ls")
	if strings.Contains(r.Output, "canary") {
		t.Errorf("%s", r.Output)
	}
	for _, line := range strings.Split(body(r), "\n") {
		name, value, is := strings.Cut(line, "=")
		if !is {
			continue
		}
		switch name {
		case "PATH":
			for _, dir := range strings.Split(value, ":") {
				if real, err := filepath.EvalSymlinks(dir); err != nil || !filepath.IsAbs(dir) || strings.HasPrefix(real, b.ws) {
					t.Errorf("PATH has %q", dir)
				}
			}
		case "HOME", "LANG", "TERM", "TZ", "PWD", "SHLVL", "_", "OLDPWD": // the last four come from the shell itself
		default:
			t.Errorf("a command sees %s", line)
		}
	}
	b.allow("*")
	if r := b.sh("ls"); strings.Contains(r.Output, "canary") || !strings.Contains(r.Output, "bin") {
		t.Errorf("%+v", r)
	}
}

// TestFloodOfOutput: 200 MB cost no more memory than what is kept.
// TestHarmlessCommandsWaitForTheSandbox: a command there could lead the path out
// of the workspace between the look and the command.
func TestHarmlessCommandsWaitForTheSandbox(t *testing.T) {
	needs.Sandbox(t, sandbox.TypeLandlock)
	gate, ws := new(sandbox.Gate), t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ws, "a"), []byte("harmless"), 0o600); err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(sandbox.Config{Type: sandbox.TypeLandlock, Workspace: ws, Gate: gate})
	if err != nil {
		t.Fatal(err)
	}
	shell := exec.NewShell(exec.ShellConfig{Workspace: ws, Gate: gate, Settings: func() exec.ShellSettings { return exec.ShellSettings{Harmless: true} }})
	t.Cleanup(shell.Close)
	run := shell.Tools()[0].Run
	for _, background := range []bool{false, true} {
		p, err := box.Start(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", "echo ready; sleep 0.4; rm a; ln -s " + secret + " a"}, Dir: ws})
		if err != nil {
			t.Fatal(err)
		}
		for out, _ := p.Output(); out.Total == 0; out, _ = p.Output() {
			runtime.Gosched()
		}
		r := run(t.Context(), tools.Call{Arguments: must(json.Marshal(map[string]any{"command": "cat a", "background": background}))})
		if r.Success || r.ErrorKind != tools.PolicyDenied || strings.Contains(r.Output, "canary") || !strings.Contains(r.Error, "a is outside the workspace") {
			t.Errorf("background %v: %+v", background, r)
		}
		if err := os.Remove(filepath.Join(ws, "a")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(ws, "a"), []byte("harmless"), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := run(t.Context(), tools.Call{Arguments: must(json.Marshal(map[string]any{"command": "cat a", "background": background}))}); !r.Success {
			t.Errorf("background %v: %+v", background, r)
		}
	}
	shell.Close()
	if open, err := gate.Close(t.Context()); err != nil {
		t.Error(err)
	} else {
		open()
	}
	if _, err := box.Run(t.Context(), sandbox.Command{Argv: []string{"true"}, Dir: ws, Timeout: 5 * time.Second}); err != nil {
		t.Errorf("the sandbox stays closed: %v", err)
	}
}

func TestFloodOfOutput(t *testing.T) {
	b := newBench(t).open()
	peak := watchMemory(t)
	r := b.call("shell", map[string]any{"command": "echo first; head -c 64000000 /dev/zero | tr '\\0' x; echo; echo last", "timeout": 120})
	most := peak()
	t.Logf("64 MB of output cost %d MB", most>>20)
	if most > 32<<20 {
		t.Errorf("it cost %d MB", most>>20)
	}
	if !r.Success || !r.Truncated || len([]rune(r.Output)) > 11000 || !strings.HasPrefix(r.Output, "first\nxxx") || !strings.Contains(r.Output, "xxx\nlast\n[exit code 0, ") {
		t.Errorf("%d characters, truncated %v: %.100s", len(r.Output), r.Truncated, r.Output)
	}
}

// watchMemory measures by how much the heap grows; the function says it.
func watchMemory(t *testing.T) func() uint64 {
	t.Helper()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		most := before.Sys
		for {
			select {
			case <-tick.C:
				var now runtime.MemStats
				runtime.ReadMemStats(&now)
				most = max(most, now.Sys)
			case <-stop:
				done <- most - before.Sys
				return
			}
		}
	}()
	return func() uint64 { close(stop); return <-done }
}

func TestCommandReadsNothing(t *testing.T) {
	b := newBench(t).open()
	if r := b.call("shell", map[string]any{"command": "cat; read x; echo \"[$x]\"", "timeout": 20}); body(r) != "[]" {
		t.Errorf("%+v", r)
	}
}

func TestInvalidArguments(t *testing.T) {
	b := newBench(t).open()
	for _, args := range []map[string]any{{}, {"command": 5, "x": 1}, {"command": "ls", "timeout": 0}, {"command": "ls", "timeout": -1}, {"command": "ls", "env": "x"}, {"command": []string{"ls", "-l"}, "workdir": 3.5}} {
		if r := b.call("shell", args); r.ErrorKind != tools.Validation {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// TestPipelineEndsWithItsReader: who is not read any more is told so and ends.
func TestPipelineEndsWithItsReader(t *testing.T) {
	b := newBench(t).allow("yes", "head *")
	if r := b.call("shell", map[string]any{"command": "yes | head -2", "timeout": 20}); body(r) != "y\ny" || *r.ExitCode != 0 {
		t.Errorf("%+v", r)
	}
}
