package guide_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"klawbot/doc"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/guide"
)

// library are skills by their names.
type library map[string]string

func (l library) List() ([]guide.Skill, error) {
	if l == nil {
		return nil, guide.ErrNoWorkspace
	}
	var all []guide.Skill
	for _, name := range []string{"brew-tea", "plan-week"} {
		if _, ok := l[name]; ok {
			all = append(all, guide.Skill{Name: name, Description: "Use for " + name + "."})
		}
	}
	return all, nil
}

func (l library) Load(name string) (string, bool, error) {
	if l == nil {
		return "", false, guide.ErrNoWorkspace
	}
	if name == "broken" {
		return "", false, errors.New("SKILL.md is larger than 1024 KiB")
	}
	text, found := l[name]
	return text, found, nil
}

func manual() fstest.MapFS {
	return fstest.MapFS{
		"index.md": {Data: []byte("# The manual\n\nStart here.\n")},
		"tools/files.md": {Data: []byte("# Files\n\nAbout files.\n\n## file_read\n\nReads a text file of the workspace.\n\n" +
			"### Skills\n\nScripts of a skill.\n\n```\n# not a heading\n```\n\n## file_write\n\nWrites a text file.\n")},
		"tools/memory.md": {Data: []byte("# Memory\n\nНапоминание о встрече приходит вовремя.\n\n## 中文\n\n备份和恢复数据库。\n")},
		"picture.png":     {Data: []byte("no page")},
	}
}

func call(t *testing.T, c guide.Config, name, arguments string) tools.Result {
	t.Helper()
	registry, err := tools.NewRegistry(guide.New(c)...)
	if err != nil {
		t.Fatal(err)
	}
	e := tools.NewExecutor(tools.ExecutorConfig{Registry: registry, Redact: new(redact.Set), Log: slog.New(slog.DiscardHandler)})
	r, err := e.Execute(t.Context(), tools.Call{ID: "c1", Name: name, Arguments: json.RawMessage(arguments)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Success == (r.Error != "") {
		t.Errorf("success %v with the error %q", r.Success, r.Error)
	}
	return r
}

func wants(t *testing.T, r tools.Result, want string) {
	t.Helper()
	if r.Output != want {
		t.Errorf("got  %q\nwant %q", r.Output, want)
	}
}

var tea = guide.Config{Manual: manual(), Skills: library{"brew-tea": "---\nname: brew-tea\n---\nBoil water.\n", "plan-week": "x"}}

// The scenarios of the skill tools, by their names.

func TestSkillLoadReturnsFullSkillMdContent(t *testing.T) {
	wants(t, call(t, tea, "skill_load", `{"name":"brew-tea"}`), "---\nname: brew-tea\n---\nBoil water.\n")
	wants(t, call(t, tea, "skill", `{"name":" plan-week "}`), "x")
}

func TestSkillLoadReturnsErrorForUnknownSkill(t *testing.T) {
	r := call(t, tea, "skill_load", `{"name":"/etc"}`)
	wants(t, r, "Error: skill '/etc' not found; there are brew-tea, plan-week")
	if r.ErrorKind != tools.NotFound {
		t.Errorf("kind %s", r.ErrorKind)
	}
	wants(t, call(t, guide.Config{Skills: library{}}, "skill_load", `{"name":"x"}`), "Error: skill 'x' not found; there are none")
	wants(t, call(t, tea, "skill_load", `{"name":"broken"}`), "Error: SKILL.md is larger than 1024 KiB")
	if r := call(t, tea, "skill_load", `{"name":"`+strings.Repeat("я", 5000)+`"}`); len(r.Output) > 400 {
		t.Errorf("an error of %d bytes", len(r.Output))
	}
}

func TestSkillListReturnsAllDiscoveredSkills(t *testing.T) {
	wants(t, call(t, tea, "skill_list", ``), "- brew-tea: Use for brew-tea.\n- plan-week: Use for plan-week.")
}

func TestSkillListSaysWhenThereAreNone(t *testing.T) {
	wants(t, call(t, guide.Config{Skills: library{}}, "skill_list", `{}`), "No skills available")
}

func TestSkillToolsWithoutAWorkspace(t *testing.T) {
	without := guide.Config{Skills: library(nil)}
	wants(t, call(t, without, "skill_list", `{}`), "Error: No workspace set")
	wants(t, call(t, without, "skill_load", `{"name":"x"}`), "Error: No workspace set")
}

// The tools of the manual.

func TestDocsSearchReturnsTheBestSections(t *testing.T) {
	for query, want := range map[string]string{
		"how do I write text files?": "### tools/files.md — file_write\nWrites a text file.",
		"file_read":                  "### tools/files.md — file_read\nReads a text file of the workspace.",
		"напоминания":                "### tools/memory.md — Memory\nНапоминание о встрече приходит вовремя.",
	} {
		arguments, err := json.Marshal(map[string]any{"query": query, "topK": 1})
		if err != nil {
			t.Fatal(err)
		}
		wants(t, call(t, tea, "docs_search", string(arguments)), want)
	}
	if r := call(t, tea, "docs_search", `{"query":"file"}`); strings.Count(r.Output, "### tools/files.md — ") != 4 {
		t.Errorf("got %s", r.Output)
	}
}

func TestDocsSearchWithoutAHit(t *testing.T) {
	wants(t, call(t, tea, "docs_search", `{"query":"zebra"}`), "No documentation found for: zebra")
	wants(t, call(t, tea, "docs_search", `{"query":" ","topK":3}`), "Error: query is empty; say in a few words what you want to know")
}

func TestDocsReadReturnsAPageOrASection(t *testing.T) {
	whole := string(manual()["tools/files.md"].Data)
	for path, want := range map[string]string{
		"tools/files.md":            whole,
		"tools/files":               whole,
		"doc/tools/files.md":        whole,
		"./tools//files.md#":        whole,
		"tools/files.md#file_write": "## file_write\n\nWrites a text file.",
		"tools/files.md#file_read":  whole[strings.Index(whole, "## file_read"):strings.Index(whole, "\n\n## file_write")],
		"tools/files.md#Skills":     "### Skills\n\nScripts of a skill.\n\n```\n# not a heading\n```",
		"tools/files.md#nonsense":   "Error: tools/files.md has no section 'nonsense'; there are #files, #file_read, #skills, #file_write",
		"nonsense.md":               "File not found: nonsense.md",
		"tools":                     "File not found: tools",
		"":                          "File not found: ",
	} {
		arguments, err := json.Marshal(map[string]string{"path": path})
		if err != nil {
			t.Fatal(err)
		}
		wants(t, call(t, tea, "docs_read", string(arguments)), want)
	}
}

func TestDocsReadStaysInTheManual(t *testing.T) {
	for _, path := range []string{"../../etc/passwd", "tools/../../../etc/passwd#x", "/etc/passwd", "..", "doc/../../x"} {
		r := call(t, tea, "docs_read", `{"path":"`+path+`"}`)
		wants(t, r, "Error: Access denied: path outside workspace")
		if r.ErrorKind != tools.Security {
			t.Errorf("%s: kind %s", path, r.ErrorKind)
		}
	}
}

func TestDocsListIsATreeWithTitles(t *testing.T) {
	wants(t, call(t, tea, "docs_list", `{}`), "index.md — The manual\ntools/\n  tools/files.md — Files\n  tools/memory.md — Memory")
}

func TestDocsToolsAreHiddenWithoutAManual(t *testing.T) {
	for _, tool := range guide.New(guide.Config{Skills: library{}}) {
		if strings.HasPrefix(tool.Spec().Name, "docs_") {
			t.Errorf("%s is there", tool.Spec().Name)
		}
	}
}

// TestManualAnswers asks the real manual what people ask.
func TestManualAnswers(t *testing.T) {
	real := guide.Config{Manual: doc.FS, Skills: library{}}
	for query, page := range map[string]string{
		"how can I let another chat talk to the bot": "telegram.md",
		"undo a change of a file":                    "file_undo",
		"run in a container":                         "docker.md",
		"write a new skill":                          "skills.md",
		"a tool is not called by the model":          "writing-a-tool.md",
	} {
		r := call(t, real, "docs_search", `{"query":"`+query+`","topK":3}`)
		if !strings.Contains(r.Output, page) {
			t.Errorf("%s: got %s", query, r.Output)
		}
	}
}

// FuzzDocs wants a result for whatever a model asks the manual, and no page from
// outside of it.
func FuzzDocs(f *testing.F) {
	for _, text := range []string{"file_read", "../../etc/passwd", "tools/files.md#file_read", "中文 поиск", "_", "a_b__c", "\x00", "#", "doc/"} {
		f.Add(text)
	}
	registry, err := tools.NewRegistry(guide.New(tea)...)
	if err != nil {
		f.Fatal(err)
	}
	e := tools.NewExecutor(tools.ExecutorConfig{Registry: registry, Redact: new(redact.Set), Log: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, text string) {
		for name, key := range map[string]string{"docs_search": "query", "docs_read": "path", "skill_load": "name"} {
			arguments, err := json.Marshal(map[string]string{key: text})
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.Execute(t.Context(), tools.Call{ID: "c", Name: name, Arguments: arguments}, nil)
			if err != nil || r.Output == "" || r.Success == (r.Error != "") || strings.Contains(r.Output, "broke on this call") {
				t.Errorf("%s %q: %+v, %v", name, text, r, err)
			}
		}
	})
}
