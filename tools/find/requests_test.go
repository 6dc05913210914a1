package find_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/doc"
	"klawbot/tools"
	"klawbot/tools/exec"
	"klawbot/tools/exec/git"
	"klawbot/tools/file"
	"klawbot/tools/find"
	"klawbot/tools/guide"
	"klawbot/tools/job"
	"klawbot/tools/message"
	"klawbot/tools/recall"
	"klawbot/tools/self"
	"klawbot/tools/web"
	"klawbot/tools/web/browser"
)

// builtIn are all tools that come with the program, for a person's turn.
func builtIn() []tools.Tool {
	all := slices.Concat(
		file.New(file.Config{}), guide.New(guide.Config{Manual: doc.FS}), self.New(self.Config{}),
		message.New(message.Config{OpenFile: file.Opener(file.Config{})}),
		exec.NewShell(exec.ShellConfig{}).Tools(), []tools.Tool{exec.NewCode(exec.CodeConfig{}), git.New(git.Config{}), browser.New(browser.Config{}).Tool()},
		job.Tools(job.Config{}), web.New(web.Config{}).Tools(), recall.New(nil),
	)
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(t tools.Tool) bool {
		name := t.Spec().Name
		again := seen[name] || name == job.DeliverName
		seen[name] = true
		return again
	})
}

// wish is what a person wrote, and the tools that fit.
type wish struct {
	Request, Lang, Tool string
	Also                []string
}

func wishes(t *testing.T, file string) (all []wish) {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(source)) {
		var w wish
		if err := json.Unmarshal([]byte(line), &w); err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	return all
}

// rates are how often a tool is shown at once, and shown or found.
type rates struct{ asked, once, found, extras, idle, idleExtras int }

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// note counts what becomes of a wish.
func (r *rates) note(t *testing.T, all []tools.Tool, show string, w wish) {
	t.Helper()
	most := map[string]int{find.ShowAuto: 4, find.ShowFew: 2}[show]
	core := func(o tools.Tool) bool { return slices.Contains(find.Core(show), o.Spec().Name) }
	fits := func(o tools.Tool) bool { return o.Spec().Name == w.Tool || slices.Contains(w.Also, o.Spec().Name) }
	hidden := slices.DeleteFunc(slices.Clone(all), core)
	extras := find.Preselect(t.Context(), hidden, w.Request, most, nil)
	if w.Tool == "" {
		r.idle++
		r.idleExtras += len(extras)
		return
	}
	r.asked++
	r.extras += len(extras)
	shown := slices.ContainsFunc(all, func(o tools.Tool) bool { return core(o) && fits(o) }) || slices.ContainsFunc(extras, fits)
	if shown {
		r.once++
	}
	hidden = slices.DeleteFunc(hidden, func(h tools.Tool) bool { return slices.Contains(names(extras), h.Spec().Name) })
	if shown || slices.ContainsFunc(find.Tools(t.Context(), hidden, w.Request, 5, nil), fits) {
		r.found++
	} else {
		t.Logf("%s: %s is not found for %q", show, w.Tool, w.Request)
	}
}

// TestToolsForRequests holds what people ask for against the tools that they get, by
// words alone; make bench has the embedding model help. 200 tools of servers must not
// crowd ours out.
func TestToolsForRequests(t *testing.T) {
	all := map[string]float64{} // shown at once, by language and choice, of all sets
	sets := []string{"tool-requests", "own-requests", "everyday-requests", "peer-requests", "homely-requests", "office-requests", "fresh-requests"}
	for _, file := range sets {
		for show, goal := range map[string][2]float64{find.ShowAuto: {85, 98}, find.ShowFew: {70, 95}} {
			for _, foreign := range []int{0, 200} {
				by := map[string]*rates{"en": {}, "ru": {}}
				tools := append(builtIn(), crowd(foreign)...)
				for _, w := range wishes(t, "testdata/"+file+".jsonl") {
					by[w.Lang].note(t, tools, show, w)
				}
				en, ru := by["en"], by["ru"]
				if foreign == 0 {
					all[show+" en"] += float64(en.once) / float64(en.asked)
					all[show+" ru"] += float64(ru.once) / float64(ru.asked)
				}
				for language, r := range by {
					name := fmt.Sprintf("%s, %s, %s, %d foreign tools", file, show, language, foreign)
					once, found := percent(r.once, r.asked), percent(r.found, r.asked)
					t.Logf("%s: at once %.1f %%, together %.1f %%", name, once, found)
					if once < goal[0] || found < goal[1] {
						t.Errorf("%s: at once %.1f %%, together %.1f %%, want %v", name, once, found, goal)
					}
					if float64(r.extras) > 1.5*float64(r.asked) || float64(r.idleExtras) > 0.5*float64(r.idle) {
						t.Errorf("%s: %d tools are added for %d requests, %d for %d that want none", name, r.extras, r.asked, r.idleExtras, r.idle)
					}
				}
				if d := percent(en.found, en.asked) - percent(ru.found, ru.asked); d > 3 || d < -3 {
					t.Errorf("%s, %s: English and Russian are %.1f points apart", file, show, d)
				}
			}
		}
	}
	for _, show := range []string{find.ShowAuto, find.ShowFew} {
		en, ru := 100*all[show+" en"]/float64(len(sets)), 100*all[show+" ru"]/float64(len(sets))
		t.Logf("%s, all sets alike: at once en %.1f %%, ru %.1f %%", show, en, ru)
		if d := en - ru; d > 3 || d < -3 {
			t.Errorf("%s: English and Russian are %.1f points apart at once", show, d)
		}
	}
}

// crowd are tools of servers, with texts about everything.
func crowd(n int) (all []tools.Tool) {
	verbs := []string{"create", "list", "get", "update", "search", "delete", "send", "read", "run", "find"}
	nouns := []string{"issue", "page", "message", "file", "calendar event", "repository", "reminder", "note", "document", "weather report"}
	for i := range n {
		verb, noun := verbs[i%10], nouns[i/10%10]
		name := fmt.Sprintf("mcp_server%d_%s_%s", i/100, verb, strings.ReplaceAll(noun, " ", "_"))
		all = append(all, described(name, fmt.Sprintf("(Tool %s of the MCP server.) Can %s a %s in your workspace for the user, with all files, messages and notes that belong to it.", name, verb, noun)))
	}
	return all
}

// TestShortForms: what is shown of each built-in tool is short in every language, shows
// the same parameters, and names no example.
func TestShortForms(t *testing.T) {
	for _, tool := range append(builtIn(), find.NewSearch(nil, nil, nil)) {
		s := tool.Spec()
		shown := map[string]string{}
		for _, language := range tools.Languages() {
			brief := find.Brief(s, language)
			if n := len(strings.Fields(brief.Description)); s.Text(language).Short == "" || n > 25 || strings.Contains(brief.Description, "Example") {
				t.Errorf("%s.%s: %d words: %s", s.Name, language, n, brief.Description)
			}
			if len(s.Text(language).Words) == 0 && s.Name != find.SearchName {
				t.Errorf("%s.%s has no words", s.Name, language)
			}
			var schema struct {
				Properties map[string]json.RawMessage
				Required   []string
			}
			if err := json.Unmarshal(brief.Parameters, &schema); err != nil {
				t.Fatal(err)
			}
			shown[language] = fmt.Sprint(slices.Sorted(maps.Keys(schema.Properties)), schema.Required)
		}
		if shown["en"] != shown["ru"] {
			t.Errorf("%s shows %s and %s", s.Name, shown["en"], shown["ru"])
		}
	}
}

// TestOddMessages ask for nothing, and cost little.
func TestOddMessages(t *testing.T) {
	all := append(builtIn(), crowd(200)...)
	began := time.Now()
	for _, text := range []string{
		"", " ", "\x00\xff", "…", "🙂🙂🙂", "👍", "?", "你好", "مرحبا", "नमस्ते", "ok", strings.Repeat("a", 1<<20), strings.Repeat("git ", 0), "\u202e\u200b",
		strings.Repeat("(", 10_000), strings.Repeat("lorem ipsum dolor sit amet ", 50_000),
	} {
		if got := names(find.Preselect(t.Context(), all, text, 4, nil)); len(got) > 0 {
			t.Errorf("%.20q shows %q", text, got)
		}
		find.Tools(t.Context(), all, text, 5, nil)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it takes %s", took)
	}
	for text, want := range map[string]string{
		"GIT!!!": "git", "please, пожалуйста: закоммить и push it": "git", "«репозиторий»": "git", "take\na\nscreenshot": "browser",
	} {
		if got := names(find.Preselect(t.Context(), all, text, 4, nil)); !slices.Contains(got, want) {
			t.Errorf("%q shows %q, want %s", text, got, want)
		}
	}
}

// TestSearchInPoorWords: when nothing fits, the usual tools of ours are found.
func TestSearchInPoorWords(t *testing.T) {
	if got := names(find.Tools(t.Context(), builtIn(), "xyzzy", 5, nil)); len(got) != 5 || got[0] != "web_search" {
		t.Errorf("got %q, want the usual tools", got)
	}
	if got := find.Tools(t.Context(), crowd(200), "xyzzy", 5, nil); len(got) > 0 {
		t.Errorf("%q of a server are no usual tools", names(got))
	}
}

// TestSearchSpreads: one family does not take all places.
func TestSearchSpreads(t *testing.T) {
	got := names(find.Tools(t.Context(), builtIn(), "list schedules, reminders, alarms", 5, nil))
	n := 0
	for _, name := range got {
		if strings.HasPrefix(name, "schedule_") {
			n++
		}
	}
	if len(got) != 5 || n != 2 {
		t.Errorf("got %q, want two of the schedules and three others", got)
	}
}

// TestLikelyToolOfShortMessage: many shared words select a tool without a phrase, but not
// in a pasted text.
func TestLikelyToolOfShortMessage(t *testing.T) {
	const message = "deviation correlation crunch trend"
	if got := names(find.Preselect(t.Context(), builtIn(), message, 2, nil)); len(got) != 1 || got[0] != "code_execute" {
		t.Errorf("%q shows %q, want code_execute", message, got)
	}
	if got := names(find.Preselect(t.Context(), builtIn(), message+strings.Repeat(" lorem", 40), 2, nil)); len(got) > 0 {
		t.Errorf("a long text shows %q", got)
	}
}
