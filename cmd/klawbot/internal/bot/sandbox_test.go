//go:build linux

package bot

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/sandbox"
)

// testBox is the box of a configuration in a home of its own.
func testBox(t *testing.T, text string) *box {
	t.Helper()
	home := t.TempDir()
	l := config.Fixed(parse(t, text).Config)
	f := config.Folders{Data: filepath.Join(home, "data"), Workspace: filepath.Join(home, "workspace")}
	if err := os.MkdirAll(f.Workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	return &box{live: l, folders: f}
}

func TestSandboxThatIsMissingIsNeverReplaced(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	b := testBox(t, "tools: {sandbox: {type: nsjail, shell: true}}\n")
	if err := b.check(t.Context()); err == nil || !strings.Contains(err.Error(), "nsjail not found; use bwrap or landlock") {
		t.Errorf("the start goes on: %v", err)
	}
	if _, err := b.shell().Run(t.Context(), sandbox.Command{Argv: []string{"/bin/true"}, Dir: "/"}); err == nil {
		t.Error("the shell runs without the sandbox")
	}
	if told := fmt.Sprint(b.entries()); !strings.Contains(told, "{in use none although nsjail is set: ") || !strings.Contains(told, "{docker not possible here: docker not found") {
		t.Errorf("self_info says %s", told)
	}
	if b.code() != nil || b.row().Text == "" || b.finding(t.Context()).OK {
		t.Errorf("row %+v, finding %+v", b.row(), b.finding(t.Context()))
	}
}

func TestSandboxFollowsTheConfiguration(t *testing.T) {
	b := testBox(t, "")
	if b.code() != nil || b.shell().Name() != "off" || !strings.HasPrefix(b.row().Text, "off (no code_execute)") {
		t.Errorf("row %+v", b.row())
	}
	b.live = config.Fixed(parse(t, "tools: {sandbox: {type: landlock, memoryMB: 100}}\n").Config)
	if b.code() == nil || b.shell().Name() != "off" || !strings.Contains(b.row().Text, "landlock: no network, 100 MB memory") || !strings.Contains(b.row().Text, "shell outside; commands without approval are ") {
		t.Errorf("row %+v", b.row())
	}
	told := fmt.Sprint(b.entries())
	for _, want := range []string{"{in use landlock: no network, 100 MB memory", "{code_execute in it", "{shell outside", "{docker ", "{bwrap ", "{landlock in use", "{nsjail "} {
		if !strings.Contains(told, want) {
			t.Errorf("self_info lacks %q: %s", want, told)
		}
	}
	first := b.code()
	if b.code() != first {
		t.Error("it is made anew each time")
	}
	b.live = config.Fixed(parse(t, "tools: {sandbox: {type: landlock, shell: true}}\n").Config)
	if b.code() == first || b.shell().Name() != "landlock" {
		t.Errorf("the shell runs in %s", b.shell().Name())
	}
	b.live = config.Fixed(parse(t, "").Config)
	if b.code() != nil {
		t.Error("the sandbox stays")
	}
}

// TestSandboxRowNamesConfinement: the row, the doctor and self_info tell an owner
// whether the kernel holds what nobody approves.
func TestSandboxRowNamesConfinement(t *testing.T) {
	const full = "tools: {exec: {mode: full}}\nsecurity: {autonomy: full}\n"
	for _, c := range []struct {
		config   string
		confines bool
		want     string
	}{
		{"", true, "commands without approval are confined by Landlock, approved ones run as the bot does"},
		{"", false, "commands without approval are checked but not confined (no Landlock)"},
		{"tools: {exec: {mode: full}}\n", true, "commands without approval are confined by Landlock, approved ones run as the bot does"},
		{full, true, "commands run as the bot does"},
		{full, false, "commands run as the bot does"},
	} {
		if got := outside(&parse(t, c.config).Config, c.confines); got != c.want {
			t.Errorf("%q, %v: %q", c.config, c.confines, got)
		}
	}
	b := testBox(t, "")
	want := outside(b.live.Config(), sandbox.Confines())
	if got := b.row().Text; !strings.Contains(got, want) {
		t.Errorf("the row is %q", got)
	}
	if got := fmt.Sprint(b.entries()); !strings.Contains(got, want) {
		t.Errorf("self_info says %s", got)
	}
}

// TestRunsDoNotPlanByCommands: of an owner's commands only a person's may write the
// heartbeat's file, unless the owner lets runs plan.
func TestRunsDoNotPlanByCommands(t *testing.T) {
	b := testBox(t, "")
	for origin, want := range map[tools.Origin]int{tools.OriginPerson: 0, tools.OriginSchedule: 1, tools.OriginSubagent: 1} {
		if got := b.readOnly(tools.Call{Origin: origin, Owner: true}); len(got) != want || want == 1 && got[0] != "HEARTBEAT.md" {
			t.Errorf("%s: %v", origin, got)
		}
	}
	b.live = config.Fixed(parse(t, "tools: {policy: {scheduled: {allow: [schedule_add, shell]}}}\n").Config)
	if got := b.readOnly(tools.Call{Origin: tools.OriginSchedule, Owner: true}); got != nil {
		t.Errorf("although runs may plan: %v", got)
	}
}

// TestCommandsDoNotSteerTheBot: commands of others, and of an owner's model that has
// read something, leave what enters prompts alone, unless an owner agreed to them.
func TestCommandsDoNotSteerTheBot(t *testing.T) {
	b := testBox(t, "")
	asked := tools.Decision{Verdict: tools.Ask}
	for _, c := range []struct {
		call tools.Call
		free bool
	}{
		{tools.Call{Owner: true}, true},
		{tools.Call{Owner: true, Heard: true}, false},
		{tools.Call{Owner: true, Others: true}, false},
		{tools.Call{Owner: true, Heard: true, Decided: asked}, true},
		{tools.Call{Chat: "telegram_222"}, false},
		{tools.Call{Chat: "telegram_222", Decided: asked}, false},
		{tools.Call{Chat: "telegram_222", Decided: tools.Decision{Verdict: tools.Ask, OwnerOnly: true}}, true},
	} {
		got := b.readOnly(c.call)
		if c.free != (got == nil) || !c.free && (!slices.Contains(got, "AGENTS.md") || !slices.Contains(got, "skills")) {
			t.Errorf("%+v: %v", c.call, got)
		}
	}
}

// parse is a configuration as if it stood in config.yaml.
func parse(t *testing.T, text string) *config.Loaded {
	t.Helper()
	l, err := config.Source{File: "config.yaml", Redact: &redact.Set{}}.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}
