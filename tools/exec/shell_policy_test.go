package exec_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/tools"
	"klawbot/tools/exec"
	"klawbot/tools/rule"
	"klawbot/tools/sandbox"
)

// TestPreValidateShellByAutonomy: what the shell says before anybody is asked,
// at each level.
func TestPreValidateShellByAutonomy(t *testing.T) {
	for _, a := range []tools.Autonomy{tools.ReadOnly, tools.Supervised, tools.Full} {
		b := newBench(t)
		b.policy.Autonomy = a
		for text, want := range map[string]string{
			"":                "the command is empty",
			"rm -rf /":        "Command blocked: it deletes everything",
			"cat /etc/shadow": "Command blocked: it touches a file of passwords",
			"ls 'x":           "not valid shell",
			"ls \u202ex":      "U+202E",
		} {
			if d := b.check(text); d.Verdict != tools.Deny || d.Layer != "pre-check" || !strings.Contains(d.Reason, want) {
				t.Errorf("%s, %q: %+v", a, text, d)
			}
		}
		want := map[tools.Autonomy]tools.Verdict{tools.ReadOnly: tools.Deny, tools.Supervised: tools.Allow, tools.Full: tools.Allow}[a]
		if d := b.check("ls"); d.Verdict != want {
			t.Errorf("%s, ls: %+v", a, d)
		}
	}
}

// TestExecModes: hit and miss in each mode at each level of autonomy.
func TestExecModes(t *testing.T) {
	const (
		hit, miss, odd = "ls -l", "rm x", "ls $X"
		listed         = "Command is in approved list"
		unlisted       = "Command not in approved list: rm x"
		notPlain       = "Command not in approved list: ls $X (it uses a variable)"
		blocked        = "All exec calls are blocked"
		readOnly       = "Read-only mode: shell may not change anything"
		approval       = "Tool requires approval"
	)
	type want struct {
		verdict tools.Verdict
		reason  string
	}
	for _, c := range []struct {
		mode           exec.Mode
		autonomy       tools.Autonomy
		hit, miss, odd want
	}{
		{exec.ModeDeny, tools.ReadOnly, want{tools.Deny, readOnly}, want{tools.Deny, readOnly}, want{tools.Deny, readOnly}},
		{exec.ModeDeny, tools.Supervised, want{tools.Deny, blocked}, want{tools.Deny, blocked}, want{tools.Deny, blocked}},
		{exec.ModeDeny, tools.Full, want{tools.Deny, blocked}, want{tools.Deny, blocked}, want{tools.Deny, blocked}},
		{exec.ModeAllowlist, tools.ReadOnly, want{tools.Deny, readOnly}, want{tools.Deny, readOnly}, want{tools.Deny, readOnly}},
		{exec.ModeAllowlist, tools.Supervised, want{tools.Allow, listed}, want{tools.Ask, unlisted}, want{tools.Ask, notPlain}},
		{exec.ModeAllowlist, "", want{tools.Allow, listed}, want{tools.Ask, unlisted}, want{tools.Ask, notPlain}},
		{"", "", want{tools.Allow, listed}, want{tools.Ask, unlisted}, want{tools.Ask, notPlain}},
		{"unknown", "", want{tools.Allow, listed}, want{tools.Ask, unlisted}, want{tools.Ask, notPlain}},
		{exec.ModeAllowlist, tools.Full, want{tools.Allow, listed}, want{tools.Deny, unlisted}, want{tools.Deny, notPlain}},
		{exec.ModeFull, tools.ReadOnly, want{tools.Deny, readOnly}, want{tools.Deny, readOnly}, want{tools.Deny, readOnly}},
		{exec.ModeFull, tools.Supervised, want{tools.Ask, approval}, want{tools.Ask, approval}, want{tools.Ask, approval}},
		{exec.ModeFull, tools.Full, want{tools.Allow, "All commands are allowed"}, want{tools.Allow, "All commands are allowed"}, want{tools.Allow, "All commands are allowed"}},
	} {
		b := newBench(t).allow("ls *")
		b.settings.Mode, b.policy.Autonomy = c.mode, c.autonomy
		for text, w := range map[string]want{hit: c.hit, miss: c.miss, odd: c.odd} {
			if d := b.check(text); d.Verdict != w.verdict || d.Reason != w.reason {
				t.Errorf("mode %q, autonomy %q, %q: %+v, want %+v", c.mode, c.autonomy, text, d, w)
			}
		}
	}
}

func TestRefusedCommandDoesNotRun(t *testing.T) {
	b := newBench(t).allow("ls *")
	b.policy.Autonomy = tools.Full
	r := b.sh("touch made")
	if r.ErrorKind != tools.PolicyDenied || r.Error != `Tool "shell" blocked by policy: Command not in approved list: touch made` {
		t.Errorf("%+v", r)
	}
	b.settings.Mode = exec.ModeDeny
	if r := b.sh("ls"); r.Error != `Tool "shell" blocked by policy: All exec calls are blocked` {
		t.Errorf("%+v", r)
	}
	b.settings.Mode, b.policy.Autonomy = exec.ModeAllowlist, tools.Supervised
	if r := b.sh("touch made"); r.ErrorKind != tools.ApprovalDenied { // there is nobody to ask
		t.Errorf("%+v", r)
	}
	if entries, err := os.ReadDir(b.ws); err != nil || len(entries) > 0 {
		t.Errorf("the workspace holds %v (%v)", entries, err)
	}
}

// TestEmptyListAllowsNothing: a list that is written replaces the harmless one.
func TestEmptyListAllowsNothing(t *testing.T) {
	b := newBench(t).allow()
	if d := b.check("ls"); d.Verdict != tools.Ask {
		t.Errorf("an empty list: %+v", d)
	}
	b.allow("rm *")
	if d := b.check("ls"); d.Verdict != tools.Ask {
		t.Errorf("another list: %+v", d)
	}
	b.settings.Harmless = true
	for _, text := range []string{"ls", "rm x", "ls | wc -l; rm x"} {
		if d := b.check(text); d.Verdict != tools.Allow {
			t.Errorf("%q with the harmless ones and more: %+v", text, d)
		}
	}
}

func TestCustomRulesForbidCommands(t *testing.T) {
	b := newBench(t).open()
	one, err := rule.New("no-network", []string{"shell"}, nil, []string{"curl", "wget", "nc", "re:^sync\\b"})
	if err != nil {
		t.Fatal(err)
	}
	b.policy.Rules = []rule.Rule{one}
	for text, denied := range map[string]bool{
		"curl x": true, "ls; wget x": true, "/bin/nc x": true, "echo nc": true, "echo sync": false, "echo curling": false, "sync": true,
	} {
		d := b.check(text)
		if got := d.Verdict == tools.Deny; got != denied || denied && d.Layer != "tools.rules.no-network" {
			t.Errorf("%q: %+v", text, d)
		}
	}
}

// TestApprovedCommandRunsAsShown: the text that was shown runs, in the folder
// that was shown.
func TestApprovedCommandRunsAsShown(t *testing.T) {
	b := newBench(t)
	b.file("sub/a.txt", "x")
	who := &yes{}
	b.approver = who
	text := "cd .; for f in *; do echo \"$f\"; done > out.txt; cat out.txt; printf 'a  b\n\tc'"
	r := b.call("shell", map[string]any{"command": text, "cwd": "sub"})
	if body(r) != "a.txt\nout.txt\na  b\n\tc" || len(who.asked) != 1 {
		t.Fatalf("%+v, asked %d times", r, len(who.asked))
	}
	if q := who.asked[0]; string(q.Call.Arguments) != string(must(json.Marshal(map[string]any{"background": false, "command": text, "workdir": "sub"}))) || !q.Dangerous || q.Binds == "" {
		t.Errorf("asked about %s, binds %q", q.Call.Arguments, q.Binds)
	}
}

func must(raw []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return raw
}

// sly agrees and changes something at the same moment.
type sly struct{ change func() }

func (s sly) Approve(context.Context, tools.ApprovalRequest) (tools.Answer, error) {
	s.change()
	return tools.Answer{Granted: true}, nil
}

// TestApprovalRequestWarnsOfChanges: what only looks can be undone.
func TestApprovalRequestWarnsOfChanges(t *testing.T) {
	b := newBench(t)
	y := &yes{}
	b.approver = y
	for text, warned := range map[string]bool{"cat /etc/hostname": false, "find / -maxdepth 1 | head -1": false, "touch made": true, "cat /etc/hostname > made": true, "ls *.go": true} {
		b.sh(text)
		if last := y.asked[len(y.asked)-1]; last.Dangerous != warned || !strings.Contains(string(last.Call.Arguments), text[:4]) {
			t.Errorf("%q: %+v", text, last)
		}
	}
}

// TestApprovalIsForTheSandbox: a call that may run in a sandbox is another one without.
func TestApprovalIsForTheSandbox(t *testing.T) {
	b := newBench(t)
	without := b.check("rm x")
	b.runner = sandbox.Refusing(errors.New("not now"))
	if within := b.check("rm x"); within.Verdict != tools.Ask || within.Binds == without.Binds {
		t.Errorf("%+v, and without a sandbox %+v", within, without)
	}
}

// TestApprovalIsForAScriptElsewhere: what lies outside the workspace counts as it was
// when the person read its name.
func TestApprovalIsForAScriptElsewhere(t *testing.T) {
	script := filepath.Join(t.TempDir(), "build.sh")
	write := func(do string) {
		if err := os.WriteFile(script, []byte("#!/bin/sh\n"+do+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("echo good")
	b := newBench(t)
	b.approver = sly{func() { write("touch " + filepath.Join(b.ws, "evil")) }}
	if r := b.sh("bash " + script); r.ErrorKind != tools.ApprovalDenied || !strings.Contains(r.Error, "has changed since the question") {
		t.Errorf("%+v", r)
	}
	b.approver = sly{func() {}}
	if r := b.sh("bash " + script); r.ErrorKind == tools.ApprovalDenied {
		t.Errorf("nothing has changed: %+v", r)
	}
}

// TestApprovalIsForTheScriptAsItWas: what was agreed to is not what would run.
func TestApprovalIsForTheScriptAsItWas(t *testing.T) {
	for name, text := range map[string]string{
		"a program": "./build.sh", "a shell": "bash build.sh", "a source": ". ./build.sh", "behind a wrapper": "env A=1 ./build.sh",
		"in a list": "ls; sh -e build.sh", "make": "make all", "in a text": "sh -c './build.sh'", "not plain": "X=1 bash build.sh > out",
		"below": "cd sub && ./build.sh", "further below": "cd . && cd sub; bash build.sh", "back": "(cd sub/..; ls); (cd sub; ./build.sh)",
		"make below": "cd sub; make", "make of a folder": "make -C sub all", "make of the folder": "make --directory=sub",
		"read": "bash < build.sh", "from a pipe": "cat build.sh | sh", "a module": "python3 -m tool", "below in a text": "sh -c 'cd sub && ./build.sh'",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			fill := func(do string, dirs ...string) {
				for _, dir := range dirs {
					b.file(dir+"build.sh", "#!/bin/sh\n"+do+"\n")
					b.file(dir+"Makefile", "all:\n\t@"+do+"\n")
				}
				b.file("tool.py", "import os; os.system('"+do+"')\n")
			}
			fill("echo good", "", "sub/")
			for _, name := range []string{"build.sh", "sub/build.sh"} {
				if err := os.Chmod(filepath.Join(b.ws, name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			where := ""
			if strings.Contains(text, "sub") {
				where = "sub/"
			}
			b.approver = sly{func() { fill("touch "+filepath.Join(b.ws, "evil"), where) }}
			r := b.sh(text)
			if r.ErrorKind != tools.ApprovalDenied || !strings.Contains(r.Error, "has changed since the question") {
				t.Errorf("%+v", r)
			}
			if _, err := os.Stat(filepath.Join(b.ws, "evil")); err == nil {
				t.Error("what nobody agreed to has run")
			}
			b.approver = sly{func() { b.file("notes.txt", "x") }}
			if r := b.sh(text); r.ErrorKind == tools.ApprovalDenied {
				t.Errorf("a change of another file: %+v", r)
			}
		})
	}
}

// TestApprovalIsForWhatAProgramLoads: main.py is as it was, what it imports is
// not, nor is a second script or what a pattern finds.
func TestApprovalIsForWhatAProgramLoads(t *testing.T) {
	stubs := t.TempDir() // slow programs are only to be started
	for _, name := range []string{"pip", "psql", "tox", "cmake", "cargo"} {
		if err := os.WriteFile(filepath.Join(stubs, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", stubs+":"+os.Getenv("PATH"))
	for text, swapped := range map[string]string{
		"python3 main.py": "lib1.py", "python3 -c 'import lib1'": "lib1.py", "python3 sub/main.py": "sub/lib1.py", "cd sub && python3 main.py": "sub/lib1.py",
		"sh run.sh": "second.sh", "make -f my.mk": "other.mk", "sh *.txt": "steps.txt", "for f in *.md; do sh $f; done": "steps.md",
		"sh -c 'cat second.* | sh'": "second.sh",
		"pip install -r steps.txt":  "steps.txt", "pip install --requirement=steps.txt": "steps.txt", "pip install -rsteps.txt": "steps.txt",
		"psql -f steps.txt": "steps.txt", "sqlite3 x.db < steps.txt": "steps.txt", "cat steps.txt | at now": "steps.txt",
		"tox": "requirements-dev.txt", "cmake .": "CMakeLists.txt", "cargo run": "Cargo.lock",
	} {
		t.Run(text, func(t *testing.T) {
			b := newBench(t)
			for _, dir := range []string{"", "sub/"} {
				b.file(dir+"main.py", "import lib1\n")
				b.file(dir+"lib1.py", "print('good')\n")
			}
			b.file("run.sh", "sh ./second.sh\n")
			b.file("my.mk", "include other.mk\n")
			for _, name := range []string{"second.sh", "other.mk", "steps.txt", "steps.md"} {
				b.file(name, "")
			}
			b.approver = sly{func() { b.file(swapped, "evil") }}
			if r := b.sh(text); r.ErrorKind != tools.ApprovalDenied || !strings.Contains(r.Error, "has changed since the question") {
				t.Errorf("%+v", r)
			}
			b.approver = sly{func() { b.file("notes.log", "x") }}
			if strings.Contains(text, "*") {
				return // it may run that, too
			}
			if r := b.sh(text); r.ErrorKind == tools.ApprovalDenied {
				t.Errorf("a change of another file: %+v", r)
			}
		})
	}
}

// TestWhoApprovesAndForHowLong: outside a sandbox only owners, and every time
// when the command may run files that nobody can tell.
func TestWhoApprovesAndForHowLong(t *testing.T) {
	b := newBench(t)
	for text, once := range map[string]string{
		"touch made": "", "python3 main.py": tools.UnknownFiles, "make": tools.UnknownFiles, "rm $X": tools.UnknownFiles, "sh a.sh": tools.UnknownFiles,
	} {
		if d := b.check(text); d.Verdict != tools.Ask || !d.OwnerOnly || d.OnceOnly != once {
			t.Errorf("%s: %+v", text, d)
		}
	}
	b.policy.AnyoneApproves = true
	if d := b.check("touch made"); d.Verdict != tools.Ask || d.OwnerOnly {
		t.Errorf("with approvers anyone: %+v", d)
	}
	b.policy.AnyoneApproves = false
	if d := b.check("ls"); d.Verdict != tools.Allow || d.OwnerOnly || d.OnceOnly != "" {
		t.Errorf("ls: %+v", d)
	}
	b.runner = sandbox.Refusing(errors.New("none here")) // a sandbox, though a broken one
	if d := b.check("touch made"); d.Verdict != tools.Ask || d.OwnerOnly {
		t.Errorf("in a sandbox: %+v", d)
	}
}

// TestApprovalIsForTheFolderAsItWas: a link that moves meanwhile.
func TestApprovalIsForTheFolderAsItWas(t *testing.T) {
	b := newBench(t)
	b.file("a/x", "")
	b.file("b/x", "")
	link := filepath.Join(b.ws, "here")
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	b.approver = sly{func() {
		if err := os.Remove(link); err != nil {
			t.Error(err)
		}
		if err := os.Symlink("b", link); err != nil {
			t.Error(err)
		}
	}}
	if r := b.call("shell", map[string]any{"command": "touch made", "workdir": "here"}); r.ErrorKind != tools.ApprovalDenied {
		t.Errorf("%+v", r)
	}
}

// TestSettingsCountUntilTheStart: the list changes between the question and
// the answer.
func TestSettingsCountUntilTheStart(t *testing.T) {
	b := newBench(t)
	b.approver = sly{func() { b.settings.Mode = exec.ModeDeny }}
	if r := b.sh("touch made"); r.ErrorKind != tools.PolicyDenied {
		t.Errorf("%+v", r)
	}
}

// TestCorpusThroughThePipeline holds every line against the pipeline: what is to
// be denied neither runs at once nor, where no person is asked, at all.
func TestCorpusThroughThePipeline(t *testing.T) {
	file, err := os.Open("command/testdata/commands.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	b := newBench(t)
	b.policy.Autonomy = tools.Full
	n := 0
	for lines.Scan() {
		var c struct {
			ID, Command, Expect string
			Doubtful            bool
			Policy              struct {
				Mode  exec.Mode
				Allow []string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Doubtful || c.Expect == "either" {
			continue
		}
		n++
		b.allow(c.Policy.Allow...)
		b.settings.Mode = c.Policy.Mode
		if d := b.check(c.Command); string(d.Verdict) != c.Expect {
			t.Errorf("%s: %q is to be %s: %+v", c.ID, c.Command, c.Expect, d)
		}
	}
	if lines.Err() != nil || n < 200 {
		t.Errorf("%d firm lines: %v", n, lines.Err())
	}
}

// TestDecidedCommandsAreWhatRuns: a call that reaches Run without the word that it
// needs now, because the settings or a script changed in between, does not run.
func TestDecidedCommandsAreWhatRuns(t *testing.T) {
	b := newBench(t)
	b.file("work.sh", "touch made\n")
	call := b.make("shell", map[string]any{"command": "sh work.sh"})
	shell := b.shell.Tools()[0]
	asked := shell.Spec().Permit(call, tools.Supervised)
	if asked.Verdict != tools.Ask {
		t.Fatalf("%+v", asked)
	}
	for name, decided := range map[string]tools.Decision{
		"nothing": {}, "allowed by a list that is gone": {Verdict: tools.Allow, Binds: asked.Binds}, "agreed to another script": {Verdict: tools.Ask, Binds: "x"},
	} {
		call.Decided = decided
		if r := shell.Run(t.Context(), call); r.ErrorKind != tools.PolicyDenied {
			t.Errorf("%s: %+v", name, r)
		}
	}
	call.Decided = asked
	if r := shell.Run(t.Context(), call); !r.Success {
		t.Errorf("%+v", r)
	}
	b.settings.Mode = exec.ModeDeny
	if r := shell.Run(t.Context(), call); r.ErrorKind != tools.PolicyDenied {
		t.Errorf("%+v", r)
	}
}
