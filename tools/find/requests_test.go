package find_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

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
type rates struct{ asked, once, found, idle, extras, idleExtras int }

func (r rates) share(n int) float64 { return 100 * float64(n) / float64(max(r.asked, 1)) }

func TestToolsForRequests(t *testing.T) {
	all := builtIn()
	for _, show := range []string{find.ShowAuto, find.ShowFew} {
		most := map[string]int{find.ShowAuto: 4, find.ShowFew: 2}[show]
		by := map[string]*rates{"en": {}, "ru": {}}
		for _, w := range wishes(t, "testdata/tool-requests.jsonl") {
			var shown, hidden []tools.Tool
			for _, tool := range all {
				if slices.Contains(find.Core(show), tool.Spec().Name) {
					shown = append(shown, tool)
				} else {
					hidden = append(hidden, tool)
				}
			}
			extras := find.Preselect(hidden, w.Request, most)
			hidden = slices.DeleteFunc(hidden, func(h tools.Tool) bool { return slices.Contains(names(extras), h.Spec().Name) })
			r := by[w.Lang]
			if w.Tool == "" {
				r.idle++
				r.idleExtras += len(extras)
				if os.Getenv("VERBOSE") != "" && len(extras) > 0 {
					fmt.Println(show, "IDLE", w.Request, names(extras))
				}
				continue
			}
			r.asked++
			r.extras += len(extras)
			fits := func(all []tools.Tool) bool {
				return slices.ContainsFunc(all, func(o tools.Tool) bool {
					return o.Spec().Name == w.Tool || slices.Contains(w.Also, o.Spec().Name)
				})
			}
			once := fits(shown) || fits(extras)
			five := find.Tools(hidden, w.Request, 5)
			if once {
				r.once++
			}
			if once || fits(five) {
				r.found++
			}
			if os.Getenv("VERBOSE") != "" && !once {
				fmt.Println(show, w.Tool, "|", w.Request, "| extras", names(extras), "| search", fits(five), names(five))
			}
		}
		sum := rates{}
		for _, r := range by {
			sum.asked += r.asked
			sum.once += r.once
			sum.found += r.found
			sum.idle += r.idle
			sum.extras += r.extras
			sum.idleExtras += r.idleExtras
		}
		en, ru := by["en"], by["ru"]
		fmt.Printf("%s: at once %.1f (en %.1f ru %.1f) together %.1f (en %.1f ru %.1f) extras %.2f idle %.2f\n", show, sum.share(sum.once), en.share(en.once), ru.share(ru.once),
			sum.share(sum.found), en.share(en.found), ru.share(ru.found), float64(sum.extras)/float64(sum.asked), float64(sum.idleExtras)/float64(sum.idle))
	}
}
