package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"klawbot/internal/needs"
	"klawbot/tools/sandbox"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv("KLAWBOT_TEST_BOT"); kind != "" {
		os.Exit(bot(kind))
	}
	os.Exit(m.Run())
}

// bot is a program that runs the command of its arguments in a sandbox.
func bot(kind string) int {
	command := sandbox.Command{Argv: os.Args[1:], Dir: os.Getenv("PWD")}
	if kind == "off" {
		_, _ = sandbox.Off().Run(context.Background(), command) // it is killed
		return 1
	}
	s, err := sandbox.New(sandbox.Config{Type: kind, Workspace: os.Getenv("PWD"), Image: image})
	if err == nil {
		_, err = s.Run(context.Background(), command)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}

// box is a sandbox around a workspace of the test.
type box struct {
	*sandbox.Sandbox
	t         *testing.T
	kind      string
	workspace string
}

func newBox(t *testing.T, kind string, change func(*sandbox.Config)) box {
	t.Helper()
	needs.Sandbox(t, kind)
	workspace := t.TempDir()
	c := sandbox.Config{Type: kind, Workspace: workspace}
	if kind == sandbox.TypeDocker {
		c.Image = image
	}
	if change != nil {
		change(&c)
	}
	s, err := sandbox.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return box{s, t, kind, workspace}
}

// sh runs a script of the shell.
func (b box) sh(script string) sandbox.Outcome {
	b.t.Helper()
	return b.run("sh", "-c", script)
}

// python runs a program in Python.
func (b box) python(code string) sandbox.Outcome {
	b.t.Helper()
	if b.kind != sandbox.TypeDocker { // it has its own
		needs.Python(b.t)
	}
	return b.run("python3", "-c", code)
}

func (b box) run(argv ...string) sandbox.Outcome {
	b.t.Helper()
	return mustRun(b.t, b, sandbox.Command{Argv: argv, Dir: b.workspace})
}

// image is what docker runs, when it is tested.
const image = "klawbot-sandbox-test"

func kinds(t *testing.T, test func(t *testing.T, kind string)) {
	for _, kind := range tested {
		t.Run(kind, func(t *testing.T) { test(t, kind) })
	}
}

func TestSandboxRunsInFolderWithOddName(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		link := filepath.Join(t.TempDir(), "link")
		b := newBox(t, kind, func(c *sandbox.Config) {
			if err := os.Symlink(c.Workspace, link); err != nil {
				t.Fatal(err)
			}
			c.Workspace = link
		})
		if err := os.Mkdir(filepath.Join(b.workspace, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{link + "/sub", b.workspace + "/sub"} {
			out := mustRun(t, b, sandbox.Command{Argv: []string{"sh", "-c", "echo x >made; ls"}, Dir: dir})
			if out.Stdout.String() != "made\n" {
				t.Errorf("%s: outcome %+v %s", dir, out, out.Stderr.String())
			}
		}
	})
}

func TestSandboxRunsInTheWorkspace(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, nil)
		if err := b.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		out := b.sh("echo hello >made; cat made; echo $WORKSPACE; pwd; exit 7")
		if want := "hello\n" + b.Workspace() + "\n" + b.Workspace() + "\n"; out.Stdout.String() != want || out.ExitCode != 7 {
			t.Errorf("outcome %+v, stdout %q, stderr %q", out, out.Stdout.String(), out.Stderr.String())
		}
		if text, err := os.ReadFile(filepath.Join(b.workspace, "made")); err != nil || strings.TrimSpace(string(text)) != "hello" {
			t.Errorf("%q, %v", text, err)
		}
		t.Log(b.Describe())
	})
}

// TestSandboxWaitsAtTheGate: nothing starts while it is closed, and it closes when
// nothing runs, whatever way a command ended or did not start.
func TestSandboxWaitsAtTheGate(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		gate := new(sandbox.Gate)
		b := newBox(t, kind, func(c *sandbox.Config) { c.Gate = gate })
		open, err := gate.Close(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hurried, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		touch := sandbox.Command{Argv: []string{"touch", "ran"}, Dir: b.workspace}
		if _, err := b.Run(hurried, touch); err == nil {
			t.Error("a command started at the closed gate")
		}
		<-hurried.Done()
		open()
		mustRun(t, b, touch)
		if _, err := b.Run(t.Context(), sandbox.Command{Argv: []string{"true"}, Dir: "/nowhere"}); err == nil {
			t.Error("a command runs outside the workspace")
		}
		if _, err := gate.Close(hurried); err != nil {
			t.Errorf("a command that has ended, or never started, keeps it open: %v", err)
		}
	})
}
