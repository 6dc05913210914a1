//go:build linux

package exec_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"klawbot/internal/clip"
	"klawbot/internal/needs"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/exec"
	"klawbot/tools/sandbox"
	"klawbot/tools/sandbox/keep"
)

// coder is code_execute in a workspace of its own, with the pipeline around it.
type coder struct {
	t        *testing.T
	ws       string
	policy   tools.Policy
	box      *sandbox.Sandbox
	executor *tools.Executor
	scratch  string
	kept     map[string]string // what was kept, by path
	readOnly []string
}

func newCoder(t *testing.T, kind string) *coder {
	t.Helper()
	dir := t.TempDir()
	c := &coder{t: t, ws: filepath.Join(dir, "ws"), scratch: filepath.Join(dir, "scratch"), policy: tools.Policy{Autonomy: tools.Full}, kept: map[string]string{}}
	if err := os.Mkdir(c.ws, 0o755); err != nil {
		t.Fatal(err)
	}
	skills := filepath.Join(dir, "skills")
	if err := os.MkdirAll(filepath.Join(skills, "greet", "scripts"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(skills, "greet", "scripts", "hello.py"), []byte("print('hello from a skill')"), 0o644); err != nil {
		t.Fatal(err)
	}
	if kind != sandbox.TypeOff {
		needs.Sandbox(t, kind)
		box, err := sandbox.New(sandbox.Config{Type: kind, Workspace: c.ws, Skills: skills})
		if err != nil {
			t.Fatal(err)
		}
		c.box = box
	}
	registry, err := tools.NewRegistry(exec.NewCode(exec.CodeConfig{
		Workspace: c.ws, Sandbox: func() *sandbox.Sandbox { return c.box }, ReadOnly: func(tools.Call) []string { return c.readOnly },
	}))
	if err != nil {
		t.Fatal(err)
	}
	c.executor = tools.NewExecutor(tools.ExecutorConfig{
		Registry: registry, Policy: func() tools.Policy { return c.policy }, Redact: &redact.Set{}, ScratchDir: c.scratch,
		Keep: func(r io.Reader) (string, error) {
			text, err := io.ReadAll(r)
			name := "kept-" + string(rune('a'+len(c.kept)))
			c.kept[name] = string(text)
			return name, err
		},
		Log: slog.New(slog.DiscardHandler),
	})
	return c
}

func (c *coder) call(name string, arguments map[string]any) tools.Result {
	c.t.Helper()
	text, err := json.Marshal(arguments)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := c.executor.Execute(c.t.Context(), tools.Call{ID: "c1", Name: name, Arguments: text, Chat: "telegram_1"}, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

func (c *coder) python(code string) tools.Result {
	c.t.Helper()
	if c.box != nil {
		needs.Python(c.t)
	}
	return c.call("code_execute", map[string]any{"language": "python", "code": code})
}

func boxes(t *testing.T, test func(t *testing.T, kind string)) {
	for _, kind := range []string{sandbox.TypeBwrap, sandbox.TypeLandlock} {
		t.Run(kind, func(t *testing.T) { test(t, kind) })
	}
}

func TestCodeRunsPythonAndBash(t *testing.T) {
	boxes(t, func(t *testing.T, kind string) {
		c := newCoder(t, kind)
		r := c.python("import sys\nprint(6*7)\nprint('careful', file=sys.stderr)")
		if !r.Success || !strings.HasPrefix(r.Output, "42\n[stderr]\ncareful\n[exit code 0, ") {
			t.Errorf("%+v", r)
		}
		r = c.call("code_execute", map[string]any{"language": "bash", "code": "a=(x y); echo ${a[1]}; exit 3"})
		if r.Success || r.ExitCode == nil || *r.ExitCode != 3 || !strings.HasPrefix(r.Output, "y\n[exit code 3, ") {
			t.Errorf("%+v", r)
		}
		r = c.call("sandbox_exec", map[string]any{"code": "echo $((2+3))"})
		if !r.Success || !strings.HasPrefix(r.Output, "5\n") {
			t.Errorf("sandbox_exec: %+v", r)
		}
		r = c.python("1/0")
		if r.Success || !strings.Contains(r.Output, "ZeroDivisionError") || !strings.Contains(r.Output, "main.py") {
			t.Errorf("%+v", r)
		}
	})
}

func TestCodeSharesTheWorkspaceAndReadsTheSkills(t *testing.T) {
	boxes(t, func(t *testing.T, kind string) {
		c := newCoder(t, kind)
		if err := os.WriteFile(filepath.Join(c.ws, "in.txt"), []byte("given"), 0o644); err != nil {
			t.Fatal(err)
		}
		r := c.python("import os\nopen('out.txt','w').write(open(os.environ['WORKSPACE']+'/in.txt').read().upper())\nexec(open(os.environ['SKILLS']+'/greet/scripts/hello.py').read())")
		if text, err := os.ReadFile(filepath.Join(c.ws, "out.txt")); !r.Success || string(text) != "GIVEN" || !strings.Contains(r.Output, "hello from a skill") {
			t.Errorf("%+v, %q, %v", r, text, err)
		}
		r = c.python("import os\nopen(os.environ['SKILLS']+'/greet/new','w')")
		if r.Success {
			t.Errorf("the skills can be written: %+v", r)
		}
	})
}

// TestCodeKeepsReadOnlyFilesAsTheyAre: by a mount, or by putting them back.
func TestCodeKeepsReadOnlyFilesAsTheyAre(t *testing.T) {
	boxes(t, func(t *testing.T, kind string) {
		c := newCoder(t, kind)
		c.readOnly = []string{"HEARTBEAT.md", "absent.md"}
		file := filepath.Join(c.ws, "HEARTBEAT.md")
		if err := os.WriteFile(file, []byte("as it was"), 0o640); err != nil {
			t.Fatal(err)
		}
		if r := c.python("print(open('HEARTBEAT.md').read())"); !r.Success || !strings.HasPrefix(r.Output, "as it was\n") || strings.Contains(r.Output, "[stderr]") {
			t.Errorf("%+v", r)
		}
		for name, code := range map[string]string{
			"write":   "open('HEARTBEAT.md','w').write('planned')",
			"remove":  "os.remove('HEARTBEAT.md')",
			"replace": "open('x','w').write('planned'); os.rename('x','HEARTBEAT.md')",
			"link":    "os.rename('HEARTBEAT.md','y'); os.symlink('y','HEARTBEAT.md')",
			"folder":  "os.remove('HEARTBEAT.md'); os.mkdir('HEARTBEAT.md')",
		} {
			r := c.python("import os\n" + code)
			info, err := os.Lstat(file)
			if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o640 {
				t.Errorf("%s: %v, %v", name, info, err)
			}
			if text, err := os.ReadFile(file); string(text) != "as it was" {
				t.Errorf("%s: it holds %q, %v", name, text, err)
			}
			if r.Success && !strings.Contains(r.Output, "HEARTBEAT.md may not be changed here") {
				t.Errorf("%s: %+v", name, r)
			}
		}
		c.python("open('absent.md','w').write('planned')")
		if _, err := os.Stat(filepath.Join(c.ws, "absent.md")); !os.IsNotExist(err) {
			t.Errorf("the file was made: %v", err)
		}
		if text, err := os.ReadFile(filepath.Join(c.ws, "absent.md"+keep.RefusedSuffix)); string(text) != "planned" {
			t.Errorf("%q, %v", text, err)
		}
	})
}

func TestCodeSendsItsOutputFolder(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("canary"), 0o644); err != nil {
		t.Fatal(err)
	}
	boxes(t, func(t *testing.T, kind string) {
		c := newCoder(t, kind)
		r := c.python(`
import os
o=os.environ['OUTPUT_DIR']
open(o+'/table.csv','w').write('a,b')
os.mkdir(o+'/sub'); open(o+'/sub/note.txt','w').write('hi')
os.symlink('` + secret + `', o+'/link.txt')
os.symlink('` + filepath.Dir(secret) + `', o+'/dir')
os.symlink('/etc/passwd', o+'/passwd')
os.mkfifo(o+'/pipe')
`)
		var texts []string
		for _, text := range c.kept {
			texts = append(texts, text)
		}
		slices.Sort(texts)
		if !r.Success || len(r.Artifacts) != 2 || !slices.Equal(texts, []string{"a,b", "hi"}) {
			t.Errorf("%+v, kept %q", r, texts)
		}
		if left, err := os.ReadDir(c.scratch); err != nil || len(left) > 0 {
			t.Errorf("the scratch directory has %v, %v", left, err)
		}
		clear(c.kept)
		r = c.python("import os\nfor i in range(1500): open(os.environ['OUTPUT_DIR']+'/f%04d'%i,'w').write('x')")
		if len(r.Artifacts) > 10 || !strings.Contains(r.Output, "too many files") {
			t.Errorf("%d artifacts, %.300q", len(r.Artifacts), r.Output)
		}
	})
}

func TestCodeReportsTimeout(t *testing.T) {
	boxes(t, func(t *testing.T, kind string) {
		c := newCoder(t, kind)
		needs.Python(t)
		r := c.call("code_execute", map[string]any{"language": "python", "code": "import time\nprint('begun')\ntime.sleep(100)", "timeout": 1})
		if r.Success || r.ErrorKind != tools.Timeout || !strings.Contains(r.Output, "begun") || r.DurationMS > 20_000 {
			t.Errorf("%+v", r)
		}
	})
}

func TestCodeReportsBrokenLimit(t *testing.T) {
	boxes(t, func(t *testing.T, kind string) {
		c := newCoder(t, kind)
		r := c.call("code_execute", map[string]any{"language": "bash", "code": "head -c 600000000 /dev/zero >big"})
		if r.Success || !strings.Contains(r.Error, "limit of the sandbox: disk") {
			t.Errorf("%+v", r)
		}
	})
}

func TestCodeCutsItsOutput(t *testing.T) {
	boxes(t, func(t *testing.T, kind string) {
		c := newCoder(t, kind)
		r := c.python("print('x'*200_000)")
		if !r.Success || !r.Truncated || !strings.Contains(r.Output, "xxx\n... output truncated at 10000 chars: 19") || !strings.HasPrefix(r.Output, "xxx") || !strings.Contains(r.Output, "xxx\n[exit code 0, ") {
			t.Errorf("%.300s … %s", r.Output, clip.Tail(r.Output, 300))
		}
	})
}

func TestCodeIsHiddenWithoutASandbox(t *testing.T) {
	c := newCoder(t, sandbox.TypeOff)
	r := c.python("print(1)")
	if r.Success || !strings.Contains(r.Error, "tools.sandbox.type is off") {
		t.Errorf("%+v", r)
	}
}

func TestCodeAsks(t *testing.T) {
	c := newCoder(t, sandbox.TypeLandlock)
	c.policy = tools.Policy{}
	if r := c.python("print(1)"); r.Success || r.ErrorKind != tools.ApprovalDenied {
		t.Errorf("it ran unasked: %+v", r)
	}
	c.policy = tools.Policy{Autonomy: tools.ReadOnly}
	if r := c.python("print(1)"); r.Success || r.ErrorKind != tools.PolicyDenied {
		t.Errorf("it ran in read-only mode: %+v", r)
	}
}

func TestCodeReportsFailedStart(t *testing.T) {
	c := newCoder(t, sandbox.TypeLandlock)
	for want, arguments := range map[string]map[string]any{
		"must be one of python, bash":      {"language": "ruby", "code": "1"},
		"Missing required parameter: code": {"language": "bash"},
		"code is empty":                    {"language": "bash", "code": " \n"},
	} {
		if r := c.call("code_execute", arguments); r.Success || r.ErrorKind != tools.Validation || !strings.Contains(r.Error, want) {
			t.Errorf("%s: %+v", want, r)
		}
	}
	if err := os.RemoveAll(c.ws); err != nil {
		t.Fatal(err)
	}
	if r := c.python("print(1)"); r.Success || r.Error != "No workspace set" {
		t.Errorf("%+v", r)
	}
}

// TestShellInASandbox: it sees nothing of the machine, keeps read-only files and
// says which limit ended it.
func TestShellInASandbox(t *testing.T) {
	ws := t.TempDir()
	needs.Sandbox(t, sandbox.TypeLandlock)
	box, err := sandbox.New(sandbox.Config{Type: sandbox.TypeLandlock, Workspace: ws, Limits: sandbox.Limits{DiskMB: 1, Seconds: 1}})
	if err != nil {
		t.Fatal(err)
	}
	shell := exec.NewShell(exec.ShellConfig{
		Workspace: ws, Settings: func() exec.ShellSettings { return exec.ShellSettings{Mode: exec.ModeFull} },
		Runner: func() sandbox.Runner { return box }, ReadOnly: func(tools.Call) []string { return []string{"HEARTBEAT.md"} },
	})
	t.Cleanup(shell.Close)
	registry, err := tools.NewRegistry(shell.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	executor := tools.NewExecutor(tools.ExecutorConfig{
		Registry: registry, Policy: func() tools.Policy { return tools.Policy{Autonomy: tools.Full} }, Redact: &redact.Set{}, Log: slog.New(slog.DiscardHandler),
	})
	for text, want := range map[string]string{
		"head -c 3000000 /dev/zero >big; c=$?; rm big; exit $c": "the command broke a limit of the sandbox: disk",
		"cat /etc/hostname || echo $((6*7))":                    "42",
		"echo planned >HEARTBEAT.md":                            "HEARTBEAT.md may not be changed here",
		"while sleep 9; do :; done # for a while":               "did not end within ",
	} {
		arguments, err := json.Marshal(map[string]any{"command": text, "timeout": 200})
		if err != nil {
			t.Fatal(err)
		}
		r, err := executor.Execute(t.Context(), tools.Call{ID: "c1", Name: "shell", Arguments: arguments}, nil)
		if err != nil || !strings.Contains(r.Output, want) || strings.Contains(r.Output, "within 3m20s") {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
	if _, err := os.Stat(filepath.Join(ws, "HEARTBEAT.md")); !os.IsNotExist(err) {
		t.Errorf("the file was made: %v", err)
	}
}
