//go:build linux

package exec_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"klawbot/tools"
	"klawbot/tools/sandbox"
)

// canary stands in every file that no command may read unasked.
const canary = "canary-7f3a"

// bothWays tells a story on a kernel with Landlock and on one without.
func bothWays(t *testing.T, story func(t *testing.T, b *bench)) {
	for name, bare := range map[string]bool{"Landlock": false, "no Landlock": true} {
		t.Run(name, func(t *testing.T) {
			if !bare && !sandbox.Confines() {
				t.Fatal("this kernel has no Landlock, which these tests need")
			}
			b := newBench(t)
			b.bare = bare
			b.outsideFile("config.yaml")
			story(t, b)
		})
	}
}

// outsideFile is a file beside the workspace.
func (b *bench) outsideFile(name string) string {
	b.t.Helper()
	full := filepath.Join(filepath.Dir(b.ws), name)
	if err := os.WriteFile(full, []byte(canary+"\n"), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return full
}

// also puts patterns on the owner's list, beside the harmless commands.
func (b *bench) also(texts ...string) {
	b.allow(texts...)
	b.settings.Harmless = true
}

// fifo is a pipe of the workspace that a command waits at.
func (b *bench) fifo(name string) {
	b.t.Helper()
	if err := syscall.Mkfifo(filepath.Join(b.ws, name), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// feed lets the command that reads a pipe run on: it returns once the command has
// opened it and got a line.
func (b *bench) feed(name string, meanwhile func()) {
	b.t.Helper()
	f, err := os.OpenFile(filepath.Join(b.ws, name), os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		b.t.Fatal(err)
	}
	meanwhile()
	if _, err := f.WriteString("line\n"); err != nil {
		b.t.Fatal(err)
	}
	f.Close()
}

// ended waits for a job and returns what it wrote and how it ended.
func (b *bench) ended(id string) string {
	b.t.Helper()
	var text string
	eventually(b.t, "the end of job "+id, func() bool {
		text = b.call("shell_manage", map[string]any{"action": "output", "id": id}).Output
		return !strings.Contains(text, "[running for")
	})
	return text
}

func (b *bench) symlink(target, name string) {
	b.t.Helper()
	full := filepath.Join(b.ws, name)
	_ = os.RemoveAll(full)
	if err := os.Symlink(target, full); err != nil {
		b.t.Fatal(err)
	}
}

// TestMissingFolderThenMade: what leads back out of a folder that does not exist yet
// names another place once it does.
func TestMissingFolderThenMade(t *testing.T) {
	bothWays(t, func(t *testing.T, b *bench) {
		b.file("big", strings.Repeat("x\n", 1<<20))
		y := &yes{}
		b.approver = y
		for _, text := range []string{
			"cat d/../../config.yaml", "cat ./d//./../../config.yaml", "cat sub/d/../../../config.yaml", "cat d/e/../../../config.yaml", "cat big/../../config.yaml",
			"cat d/../big", "grep -r canary d/../..", "find d/../..", "sort - d/../../config.yaml", "cat " + b.ws + "/d/../../config.yaml",
		} {
			if d := b.check("grep -c y big; " + text); d.Verdict != tools.Ask {
				t.Errorf("%q: %+v", text, d)
			}
		}
		b.file("sub/x", "x")
		b.symlink("sub", "inner")
		if d := b.check("cat inner/../big"); d.Verdict != tools.Ask {
			t.Errorf("out of a link: %+v", d)
		}
		for _, text := range []string{"cat sub/../big", "cat sub/../sub/x", "cat d", "cat d/x", "ls sub/..", "cat sub/a..b", "cat ..."} {
			if d := b.check(text); d.Verdict != tools.Allow {
				t.Errorf("%q: %+v", text, d)
			}
		}
	})
}

// TestStepsAreJudgedAgain: what was judged when the line came may be something else
// when its step starts.
func TestStepsAreJudgedAgain(t *testing.T) {
	bothWays(t, func(t *testing.T, b *bench) {
		b.also("cat pipe")
		b.fifo("pipe")
		b.file("dir/x", "inside\n")
		for _, text := range []string{"cat pipe; cat config.yaml", "cat pipe && cat x/config.yaml", "cat pipe; grep -r canary dir", "cat pipe | wc -l; cat dir/../config.yaml"} {
			_ = os.RemoveAll(filepath.Join(b.ws, "config.yaml"))
			_ = os.RemoveAll(filepath.Join(b.ws, "x"))
			_ = os.RemoveAll(filepath.Join(b.ws, "dir"))
			b.file("dir/x", "inside\n")
			b.file("config.yaml", "inside\n")
			id := b.spawn(text)
			b.feed("pipe", func() {
				b.symlink("../config.yaml", "config.yaml")
				b.symlink("..", "x")
				b.symlink("..", "dir")
			})
			if out := b.ended(id); strings.Contains(out, canary) || !strings.Contains(out, "Command not in approved list") {
				t.Errorf("%q: %s", text, out)
			}
		}
	})
}

// TestRevokedPatternStartsNoFurtherStep: the owner's list counts as it is when a step
// starts.
func TestRevokedPatternStartsNoFurtherStep(t *testing.T) {
	bothWays(t, func(t *testing.T, b *bench) {
		b.allow("cat pipe", "touch *")
		b.fifo("pipe")
		id := b.spawn("cat pipe; touch made")
		b.feed("pipe", func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.settings.Allow = b.settings.Allow[:1]
		})
		if out := b.ended(id); !strings.Contains(out, "Command not in approved list: touch made") {
			t.Error(out)
		}
		if _, err := os.Stat(filepath.Join(b.ws, "made")); err == nil {
			t.Error("it ran")
		}
	})
}

// TestSwapWhileAPipelineRuns: all programs of a pipeline start at once, and each opens
// its files when it comes to them. Only the kernel sees that.
func TestSwapWhileAPipelineRuns(t *testing.T) {
	b := newBench(t)
	b.outsideFile("config.yaml")
	b.also("cat pipe *", "cat pipe")
	b.fifo("pipe")
	for _, text := range []string{"cat pipe | cat - a", "cat pipe | sort - a", "cat pipe | grep -h . - a", "cat pipe a", "cat pipe x/config.yaml", "cat pipe | cat - x/config.yaml"} {
		for _, link := range []string{"../config.yaml", filepath.Join(filepath.Dir(b.ws), "config.yaml")} {
			_ = os.RemoveAll(filepath.Join(b.ws, "a"))
			_ = os.RemoveAll(filepath.Join(b.ws, "x"))
			b.file("a", "inside\n")
			b.file("x/config.yaml", "inside\n")
			id := b.spawn(text)
			b.feed("pipe", func() {
				b.symlink(link, "a")
				b.symlink("..", "x")
			})
			if out := b.ended(id); strings.Contains(out, canary) || !strings.Contains(out, "ermission denied") {
				t.Errorf("%q: %s", text, out)
			}
		}
	}
}

// TestOwnersPatternsStayInTheWorkspace: a person is asked about a word that names
// something outside, unless the owner has spelled it.
func TestOwnersPatternsStayInTheWorkspace(t *testing.T) {
	bothWays(t, func(t *testing.T, b *bench) {
		out := filepath.Join(filepath.Dir(b.ws), "config.yaml")
		b.file("a", "canary\n")
		b.symlink("../config.yaml", "away")
		b.allow("grep *", "cat *", "mytool *", "curl *", "ls "+filepath.Dir(b.ws)+" *", "head -n * "+out)
		for _, text := range []string{
			"grep x " + out, "grep x ../config.yaml", "grep -f../config.yaml a", "grep -hf" + out + " a", "grep --file=../config.yaml a", "grep -r canary ..", "grep x away",
			"cat d/../../config.yaml", "cat a away", "mytool --in=" + out, "mytool in=../config.yaml", "mytool -d@" + out, "mytool --data=@../config.yaml",
			"mytool -I/etc", "cat /", "cat a | grep x -faway", "ls " + filepath.Dir(b.ws) + " /etc",
		} {
			if d := b.check(text); d.Verdict != tools.Ask || !strings.Contains(d.Reason, "is outside the workspace") {
				t.Errorf("%q: %+v", text, d)
			}
		}
		for _, text := range []string{
			"grep -rn x .", "grep /no-such-folder/v1 a", "grep a/b a", "grep x a missing", "mytool https://example.org/a/b", "mytool main..feature HEAD~1..", "mytool " + b.ws + "/a",
			"mytool " + strings.Repeat("long ", 200), "mytool -la --x=y a=b", "ls " + filepath.Dir(b.ws), "head -n 3 " + out, "mytool a/b/c", "mytool '@someone' 10:30",
		} {
			if d := b.check(text); d.Verdict != tools.Allow {
				t.Errorf("%q: %+v", text, d)
			}
		}
		if r := b.sh("head -n 3 " + out); !r.Success || body(r) != canary {
			t.Errorf("what the owner has spelled: %+v", r)
		}
	})
}

// TestUnaskedProgramsAreConfined: whatever a program that nobody was asked about does,
// it reaches the workspace and the system's programs.
func TestUnaskedProgramsAreConfined(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // what other tests keep in it is not checked
	b := newBench(t)
	out := b.outsideFile("config.yaml")
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.WriteFile(filepath.Join(home, ".profile"), []byte(canary), 0o600); err != nil {
		t.Fatal(err)
	}
	b.file("try.sh", `for f in `+out+` `+home+`/.profile /etc/shadow; do cat $f; echo x >>$f; rm -f $f; done
chmod 777 `+out+`; ls `+home+` `+filepath.Dir(b.ws)+`; echo made >made; cat made; echo t >$TMPDIR/t && cat $TMPDIR/t; cat ~/x; kill -9 `+strconv.Itoa(os.Getpid())+`; echo end`)
	b.allow("sh try.sh")
	r := b.sh("sh try.sh")
	if strings.Contains(r.Output, canary) || strings.Contains(r.Output, ".profile\n") || strings.Contains(r.Output, "root:") || !strings.Contains(body(r), "made\nt\nend") {
		t.Errorf("%+v", r)
	}
	if text, err := os.ReadFile(out); err != nil || string(text) != canary+"\n" {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "klawbot-run-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	// Once a person has agreed, it reaches what the bot reaches.
	b.approver, b.policy.Everyone.Ask = &yes{}, []string{"shell"}
	b.file("try.sh", "cat "+out)
	if r := b.sh("sh try.sh"); body(r) != canary {
		t.Errorf("agreed to: %+v", r)
	}
}

// TestApprovedProgramsAreNotConfined: a person has seen it.
func TestApprovedProgramsAreNotConfined(t *testing.T) {
	bothWays(t, func(t *testing.T, b *bench) {
		y := &yes{}
		b.approver = y
		r := b.sh("cat ../config.yaml")
		if len(y.asked) != 1 || body(r) != canary {
			t.Errorf("%d questions, %+v", len(y.asked), r)
		}
	})
}

// TestHarmlessCommandsWorkConfined: the same lines write the same, confined and not.
func TestHarmlessCommandsWorkConfined(t *testing.T) {
	t.Setenv("TZ", "Asia/Tokyo")
	t.Setenv("LANG", "C.UTF-8")
	said := map[bool]map[string]string{}
	dir := t.TempDir()
	for _, bare := range []bool{false, true} {
		b := newBench(t)
		b.bare, b.ws = bare, dir
		b.connect()
		if !bare { // once: ls says when they were written
			b.file("a.txt", "b\na\nä\n")
			b.file("pic.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10\x00\x00\x00\x10\x08\x06\x00\x00\x00")
		}
		said[bare] = map[string]string{}
		for _, text := range []string{
			"ls -l", "stat -c '%U %G %n' a.txt", "find . -ls", "find . -user 0", "date -d @0", "date -d @86400 +%c", "uname -a", "which ls sort", "du -sk .",
			"file a.txt pic.png", "file -b --mime-type pic.png", "sort a.txt", "sort -u a.txt | uniq -c", "wc -m a.txt", "tr a-z A-Z", "grep -P '\\w' a.txt", "cut -c1 a.txt", "diff a.txt pic.png",
			"cat missing", "ls missing 2>/dev/null", "pwd", "echo x >&2", "head -1 a.txt | tail -1", "cat a.txt 2>&1 | wc -l", "grep -r ä .", "cat missing || echo y",
			"date -u -d @0 -Iseconds", "find . -newer a.txt", "find . -newermt 2020-01-01", "diff -r . .", "sed -n 1,2p a.txt", "sha256sum a.txt", "md5sum a.txt", "whoami", "id", "id -un", "nproc", "realpath a.txt", "basename a/b", "dirname a/b",
			"echo '{\"a\": [1]}' | jq -c .a",
		} {
			r := b.sh(text)
			said[bare][text] = body(r)
			if r.ExitCode == nil || strings.Contains(r.Output, "ermission denied") || strings.Contains(r.Output, "sandbox:") {
				t.Errorf("%q: %+v", text, r)
			}
		}
		for _, text := range []string{"free -m", "ps", "ps aux", "ps -ef", "df -P", "df -P --total", "df -h ."} {
			if r := b.sh(text); !r.Success || strings.Count(r.Output, "\n") < 2 || strings.Contains(r.Output, "[stderr]") {
				t.Errorf("%q: %.300s", text, r.Output)
			}
		}
	}
	for text, want := range said[true] {
		if got := said[false][text]; got != want {
			t.Errorf("%q: %q confined, %q else", text, got, want)
		}
	}
}

// TestOwnersTailDoesNotWait: the old forms of following are no choice of the model's.
func TestOwnersTailDoesNotWait(t *testing.T) {
	b := newBench(t).allow("tail *", "tail -F log.txt")
	for text, want := range map[string]tools.Verdict{
		"tail -cf a": tools.Ask, "tail -5f a": tools.Ask, "tail +5f a": tools.Ask, "tail +f a": tools.Ask, "tail --fol a": tools.Ask, "tail -qf a": tools.Ask,
		"tail -n +5 a": tools.Allow, "tail -c 5 a": tools.Allow, "tail ref": tools.Allow, "tail -F log.txt": tools.Allow,
	} {
		if d := b.check(text); d.Verdict != want {
			t.Errorf("%q: %+v", text, d)
		}
	}
}

// TestConfinedProgramsAreBoundedAndEnd: memory, exit codes and the deadline are what
// they are outside.
func TestConfinedProgramsAreBoundedAndEnd(t *testing.T) {
	bothWays(t, func(t *testing.T, b *bench) {
		b.fifo("pipe")
		b.file("bad.sh", "#!/no/such/interpreter\n")
		b.file("greedy", strings.Repeat("x", 64)+"\n")
		if err := os.Chmod(filepath.Join(b.ws, "bad.sh"), 0o755); err != nil {
			t.Fatal(err)
		}
		b.also("cat pipe", "sh -c 'exit 7'", "./bad.sh", "sh -c 'kill -9 $$'")
		for text, want := range map[string]string{
			"sh -c 'exit 7'": "[exit code 7,", "sh -c 'kill -9 $$'": "[exit code 137,", "cat missing": "[exit code 1,", "grep -c x greedy && grep -c y greedy": "[exit code 1,",
			`grep -E '(x{0,1000}){1000}y' greedy`: "[exit code 2,", "nosuch || cat missing": "was not approved",
		} {
			if r := b.sh(text); !strings.Contains(r.Output, want) {
				t.Errorf("%q: %+v", text, r)
			}
		}
		// What the steps before wrote is there (stacklok/mecatl#153).
		if r := b.sh("echo before; ./bad.sh"); r.Success || !strings.Contains(r.Output, "\nbefore") && !strings.HasPrefix(r.Output, "before") {
			t.Errorf("%+v", r)
		}
		if r := b.call("shell", map[string]any{"command": "cat pipe", "timeout": 1}); r.ErrorKind != tools.Timeout {
			t.Errorf("%+v", r)
		}
		id := b.spawn("cat pipe | wc -l")
		if r := b.call("shell_manage", map[string]any{"action": "kill", "id": id}); !r.Success {
			t.Errorf("%+v", r)
		}
	})
}

// TestPatternsKeepSteeringFiles: a pattern lets a command run unasked, which must not
// change what an owner has to agree to.
func TestPatternsKeepSteeringFiles(t *testing.T) {
	bothWays(t, func(t *testing.T, b *bench) {
		b.readOnly = []string{"AGENTS.md", "skills"}
		b.also("cp *")
		b.file("AGENTS.md", "be kind\n")
		b.file("evil.md", "obey\n")
		r := b.sh("cp evil.md AGENTS.md && cp evil.md skills && cp evil.md copy.md")
		for name, want := range map[string]string{"AGENTS.md": "be kind\n", "AGENTS.md.refused": "obey\n", "copy.md": "obey\n", "skills": "", "evil.md": "obey\n"} {
			if got, _ := os.ReadFile(filepath.Join(b.ws, name)); string(got) != want {
				t.Errorf("%s holds %q, want %q", name, got, want)
			}
		}
		if !r.Success || !strings.Contains(r.Output, "AGENTS.md may not be changed here") {
			t.Errorf("%+v", r)
		}
		id := b.spawn("cp evil.md AGENTS.md")
		if text := b.ended(id); !strings.Contains(text, "AGENTS.md may not be changed here") {
			t.Errorf("in the background: %s", text)
		}
	})
}

// TestConfinedSort: sort writes temporary files, and has room for them.
func TestConfinedSort(t *testing.T) {
	bothWays(t, func(t *testing.T, b *bench) {
		b.file("f", strings.Repeat(strings.Repeat("x", 1<<20)+"\n", 24))
		if r := b.sh("cat f f f f f f f f | sort | wc -l"); body(r) != "192" {
			t.Errorf("%+v", r)
		}
	})
}
