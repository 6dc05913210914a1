package plugin_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/tools"
)

// builtin is a tool of klawbot's own.
type builtin struct{}

func (builtin) Spec() tools.Spec {
	return tools.Spec{
		Name: "file_read", Aliases: []tools.Alias{{Name: "read_file"}},
		Texts: map[string]tools.Text{tools.English: {Description: "Reads.", Parameters: []byte(`{"type":"object"}`)}},
	}
}

func (builtin) Run(context.Context, tools.Call) tools.Result { return tools.OK("built in") }

func TestPluginsAreFoundWhileTheBotRuns(t *testing.T) {
	b := newBench(t)
	before := b.host.Changed()
	b.say("weather", `echo '{"output":"sunny"}'`)
	b.look()
	if diff := cmp.Diff([]string{"file_read", "weather"}, b.names()); diff != "" {
		t.Error(diff)
	}
	turn := b.Snapshot()
	b.say("news", `echo '{"output":"none"}'`)
	if err := os.Remove(b.path("weather")); err != nil {
		t.Fatal(err)
	}
	b.look()
	if diff := cmp.Diff([]string{"file_read", "news"}, b.names()); diff != "" {
		t.Error(diff)
	}
	if _, _, ok := turn.Registry().Find("news"); ok || b.host.Changed() != before+2 {
		t.Errorf("a turn got a new tool; %d changes", b.host.Changed()-before)
	}
	if b.look(); b.host.Changed() != before+2 {
		t.Error("nothing changed, and it was counted")
	}
}

func TestRunLooksEverySecond(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { b.host.Run(ctx); close(done) }()
	b.say("weather", `echo '{"output":"sunny"}'`)
	deadline := time.After(time.Minute)
	for len(b.names()) < 2 {
		select {
		case <-deadline:
			t.Fatal("the plugin is not found")
		case <-time.After(50 * time.Millisecond):
		}
	}
	cancel()
	<-done
}

func TestPluginNeverShadowsABuiltIn(t *testing.T) {
	b := newBench(t)
	b.say("file_read", `echo '{"output":"mine"}'`)
	b.say("read_file", `echo '{"output":"mine"}'`)
	b.say("weather", `echo '{"output":"first"}'`)
	b.put("zz", strings.ReplaceAll(`#!/bin/sh
[ "$1" = --spec ] && echo '{"name":"weather","description":"Another."}'`, "\t", ""), 0o755)
	if diff := cmp.Diff([]string{"file_read", "weather"}, b.names()); diff != "" {
		t.Error(diff)
	}
	equal(t, "file_read", b.call("file_read", `{}`).Output, "built in")
	equal(t, "weather", strings.Contains(b.call("weather", `{}`).Output, "first"), true)
	want := []string{
		"file_read: the name file_read belongs to the tool file_read; rename it",
		"read_file: the name read_file belongs to the tool file_read; rename it",
		"weather: the name weather belongs to the tool weather; rename it",
	}
	if diff := cmp.Diff(want, b.faults()); diff != "" {
		t.Error(diff)
	}
}

func TestFilesThatAreNotPlugins(t *testing.T) {
	b := newBench(t)
	const script = "#!/bin/sh\necho '{\"name\":\"x\",\"description\":\"X.\"}'"
	b.put("notes.txt", script, 0o644)
	b.put(".hidden", script, 0o755)
	b.put("world", script, 0o757)
	b.put("team", script, 0o775)
	outside := filepath.Join(b.data, "outside")
	if err := os.WriteFile(outside, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, b.path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(outside, b.path("hard")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(b.path("folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"plugins/hard: has a second name (hard link); put a copy into the directory",
		"plugins/link: is a link; put the file itself into the directory",
		"plugins/team: can be written by others; fix it with chmod go-w",
		"plugins/world: can be written by others; fix it with chmod go-w",
	}
	if diff := cmp.Diff(want, b.faults()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"file_read"}, b.names()); diff != "" {
		t.Error(diff)
	}
}

func TestFolderThatOthersCanWrite(t *testing.T) {
	b := newBench(t)
	b.say("weather", `echo '{"output":"sunny"}'`)
	if err := os.Chmod(b.path(""), 0o777); err != nil {
		t.Fatal(err)
	}
	want := []string{"plugins/weather: its directory can be written by others; fix it with chmod go-w"}
	if diff := cmp.Diff(want, b.faults()); diff != "" {
		t.Error(diff)
	}
	if err := os.Chmod(b.path(""), 0o755); err != nil {
		t.Fatal(err)
	}
	b.look()
	equal(t, "the number of tools", len(b.names()), 2)
}

func TestSpecsThatCannotBeUsed(t *testing.T) {
	for name, tt := range map[string]struct{ script, want string }{
		"prints nothing":   {"true", "--spec: not a specification: EOF"},
		"prints no JSON":   {"echo hello", "--spec: not a specification: invalid character 'h' looking for beginning of value"},
		"fails":            {"echo 'no key' >&2; exit 3", "--spec ended with exit code 3: no key"},
		"prints too much":  {"head -c 70000 /dev/zero; exit 1", "--spec printed more than 65536 bytes"},
		"no program":       {"exec /nowhere/at/all", "--spec ended with exit code 127"},
		"no name":          {`echo '{"description":"X."}'`, `--spec: name "" must be a letter and up to 63 of a-z, 0-9 and _`},
		"a wrong name":     {`echo '{"name":"X-y","description":"X."}'`, `--spec: name "X-y" must be a letter and up to 63 of a-z, 0-9 and _`},
		"no description":   {`echo '{"name":"x","description":" "}'`, "--spec: description must have 1 to 4000 characters"},
		"a wrong group":    {`echo '{"name":"x","description":"X.","group":"root"}'`, `--spec: group "root" does not exist; there are [runtime fs net browser memory system message]`},
		"a wrong timeout":  {`echo '{"name":"x","description":"X.","timeout":301}'`, "--spec: timeout must be 1 to 300 seconds"},
		"an unknown field": {`echo '{"name":"x","description":"X.","sudo":true}'`, `--spec: not a specification: json: unknown field "sudo"`},
		"two of them":      {`echo '{"name":"x","description":"X."}{}'`, "--spec: something follows the specification"},
		"no object":        {`echo '{"name":"x","description":"X.","parameters":{"type":"string"}}'`, `--spec: parameters: the root is "string", not an object`},
		"a reference":      {`echo '{"name":"x","description":"X.","parameters":{"type":"object","properties":{"a":{"$ref":"#/b"}}}}'`, `--spec: parameters: "$ref" is not understood by models; write it out`},
		"not described":    {`echo '{"name":"x","description":"X.","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}'`, `--spec: parameters: "a" needs a type and a description`},
		"English twice":    {`echo '{"name":"x","description":"X.","texts":{"en":{"description":"Y."}}}'`, "--spec: texts.en: the English text stands at the top"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.put("p", "#!/bin/sh\n"+tt.script, 0o755)
			got := strings.Join(b.faults(), "; ")
			if !strings.HasPrefix(got, "plugins/p: "+tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestPluginsThatDoNotStart(t *testing.T) {
	b := newBench(t)
	b.put("a", "#!/nowhere/at/all\n", 0o755)
	b.put("b", "\x7fELF?", 0o755)
	want := []string{
		"plugins/a: --spec did not start: the program that its first line names (#!) is not there",
		"plugins/b: --spec did not start: it is no program for this machine, or lacks the first line that says what runs it (#!)",
	}
	if diff := cmp.Diff(want, b.faults()); diff != "" {
		t.Error(diff)
	}
}

// TestSpecThatHangs: it costs its time, and no other plugin.
func TestSpecThatHangs(t *testing.T) {
	b := newBench(t)
	b.put("p", "#!/bin/sh\necho asked >> ../asked; sleep 600", 0o755)
	b.say("weather", `echo '{"output":"sunny"}'`)
	if diff := cmp.Diff([]string{"plugins/p: --spec printed nothing for 5s"}, b.faults()); diff != "" {
		t.Error(diff)
	}
	equal(t, "the number of tools", len(b.names()), 2)
	b.look()
	equal(t, "how often it was asked", b.asked(), 1)
	b.put("p", `#!/bin/sh
echo asked >> ../asked; echo '{"name":"p","description":"Fixed."}'`, 0o755)
	b.look()
	equal(t, "the number of tools", len(b.names()), 3)
}

// TestPluginsAreAskedTogether: each waits for the others before it answers.
func TestPluginsAreAskedTogether(t *testing.T) {
	b := newBench(t)
	all := []string{"p1", "p2", "p3", "p4"}
	for _, name := range all {
		b.put(name, `#!/bin/sh
: > ../here-`+name+`
while [ $(ls .. | grep -c here-) -lt `+strconv.Itoa(len(all))+` ]; do sleep 0.02; done
echo '{"name":"`+name+`","description":"It waits."}'`, 0o755)
	}
	if diff := cmp.Diff(append([]string{"file_read"}, all...), b.names()); diff != "" {
		t.Error(diff, b.faults())
	}
}

func TestSpecIsShownToModels(t *testing.T) {
	b := newBench(t)
	b.put("p", `#!/bin/sh
cat <<'END'
{"name": "weather", "description": " Tells the weather. ", "group": "net", "timeout": 20, "changes": false,
 "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "The city."}}, "required": ["city"]},
 "texts": {"ru": {"description": "Сообщает погоду."}}}
END
`, 0o755)
	found, _, ok := b.Registry().Find("weather")
	if !ok {
		t.Fatal(b.faults())
	}
	spec := found.Spec()
	equal(t, "the description", spec.Text("en").Description, "Tells the weather.")
	equal(t, "the description", spec.Text("ru").Description, "Сообщает погоду.")
	equal(t, "the parameters", string(spec.Text("ru").Parameters), string(spec.Text("en").Parameters))
	equal(t, "the group", spec.Group, tools.GroupNet)
	// What it says itself is not believed.
	equal(t, "changes", spec.Changes && spec.RequiresApproval && spec.Outside, true)
	b.reads = []string{"weather"}
	b.look()
	found, _, _ = b.Registry().Find("weather")
	equal(t, "changes", found.Spec().Changes || found.Spec().RequiresApproval, false)
}
