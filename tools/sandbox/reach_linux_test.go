package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/tools/sandbox"
)

// TestReachConfines: with Off, a command with a Reach reads its workspace and writes
// what it is granted, and nothing else of the machine; no folder of its own is left.
func TestReachConfines(t *testing.T) {
	if !sandbox.Confines() {
		t.Fatal("this kernel has no Landlock, which these tests need")
	}
	workspace, outside, granted := t.TempDir(), t.TempDir(), t.TempDir()
	for _, file := range []string{filepath.Join(workspace, "a"), filepath.Join(outside, "a"), filepath.Join(granted, "a")} {
		if err := os.WriteFile(file, []byte(file+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := "cat a; cat " + outside + "/a; cat " + granted + "/a; echo x >made; echo x >" + granted + "/made; echo x >" + outside + "/made; chmod 777 a; echo t >$TMPDIR/t && cat $HOME/t; cat"
	out, err := sandbox.Off().Run(t.Context(), sandbox.Command{
		Argv: []string{"/bin/sh", "-c", script}, Pipe: [][]string{{"/bin/cat"}}, Dir: workspace,
		Reach: &sandbox.Reach{Workspace: workspace, Programs: []sandbox.Grant{{Write: []string{granted, "/no/such"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := workspace + "/a\n" + granted + "/a\nt\n"; out.Stdout.String() != want || out.ExitCode != 0 {
		t.Errorf("%q, want %q: %d %s", out.Stdout.String(), want, out.ExitCode, out.Stderr.String())
	}
	for file, want := range map[string]bool{workspace + "/made": false, outside + "/made": false, granted + "/made": true} {
		if _, err := os.Stat(file); (err == nil) != want {
			t.Errorf("%s: %v", file, err)
		}
	}
	if info, err := os.Stat(workspace + "/a"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestReachKeepsToItsBounds: the memory of each program, and what cannot be run.
func TestReachKeepsToItsBounds(t *testing.T) {
	workspace := t.TempDir()
	run := func(memory uint64, argv ...string) sandbox.Outcome {
		t.Helper()
		out, err := sandbox.Off().Run(t.Context(), sandbox.Command{Argv: argv, Dir: workspace, MaxMemory: []uint64{memory}, Reach: &sandbox.Reach{Workspace: workspace}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	hog := []string{"/bin/sh", "-c", "head -c 100000000 /dev/zero | tr '\\0' x | sort -S 300M | wc -c"}
	if out := run(0, hog...); out.ExitCode != 0 {
		t.Errorf("%+v %s", out, out.Stderr.String())
	}
	if out := run(20<<20, "/bin/sh", "-c", "ulimit -d"); strings.TrimSpace(out.Stdout.String()) != "20480" {
		t.Errorf("%s %s", out.Stdout.String(), out.Stderr.String())
	}
	if out := run(0, "/no/such/program"); out.ExitCode != 126 || !strings.HasPrefix(out.Stderr.String(), "sandbox: ") {
		t.Errorf("%+v %s", out, out.Stderr.String())
	}
}

// TestTemporaryFoldersAreSwept: a bot that was killed leaves those of its commands.
func TestTemporaryFoldersAreSwept(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	workspace, other := t.TempDir(), t.TempDir()
	out, err := sandbox.Off().Run(t.Context(), sandbox.Command{Argv: []string{"/bin/sh", "-c", "echo $TMPDIR"}, Dir: workspace, Reach: &sandbox.Reach{Workspace: workspace}})
	if err != nil {
		t.Fatal(err)
	}
	was := strings.TrimSpace(out.Stdout.String())
	if err := os.Mkdir(was, 0o700); err != nil || filepath.Dir(was) != tmp {
		t.Fatalf("%q: %v", was, err)
	}
	sandbox.SweepTemporary(other)
	if _, err := os.Stat(was); err != nil {
		t.Error("the folder of another bot is gone")
	}
	sandbox.SweepTemporary(workspace)
	if _, err := os.Stat(was); err == nil {
		t.Error("it is left")
	}
}

// TestReachBoundsTemporaryFiles: what a command keeps in its own folder is bounded.
func TestReachBoundsTemporaryFiles(t *testing.T) {
	workspace := t.TempDir()
	for name, want := range map[string]string{"head -c 60M /dev/zero >$TMPDIR/a; exec sleep 60": "disk", "head -c 1M /dev/zero >$TMPDIR/a; sleep 0.3": ""} {
		out, err := sandbox.Off().Run(t.Context(), sandbox.Command{
			Argv: []string{"/bin/sh", "-c", name}, Dir: workspace, Reach: &sandbox.Reach{Workspace: workspace, MaxDisk: 16 << 20},
		})
		if err != nil || out.Broken != want {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}
