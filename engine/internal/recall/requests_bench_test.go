//go:build bench

package recall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/doc"
	"klawbot/engine/internal/recall"
	"klawbot/engine/settings"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/exec"
	"klawbot/tools/exec/git"
	"klawbot/tools/file"
	"klawbot/tools/find"
	"klawbot/tools/guide"
	"klawbot/tools/job"
	"klawbot/tools/message"
	recalltools "klawbot/tools/recall"
	"klawbot/tools/self"
	"klawbot/tools/web"
	"klawbot/tools/web/browser"
)

// TestBenchToolsByMeaning says how often the tools that people want are shown at once,
// and shown or found, with the embedding model in $ASSETS.
func TestBenchToolsByMeaning(t *testing.T) {
	s := settings.Settings{Memory: settings.Memory{Embedding: settings.Embedding{Type: "onnx", Model: "e5-small-v2"}}}
	m := recall.New(recall.Config{Dir: t.TempDir(), Settings: func() settings.Settings { return s }, Assets: []string{os.Getenv("ASSETS")}, HTTP: http.DefaultClient, Redact: new(redact.Set), Log: slog.New(slog.DiscardHandler)})
	defer m.Close()
	all := slices.Concat(
		file.New(file.Config{}), guide.New(guide.Config{Manual: doc.FS}), self.New(self.Config{}),
		message.New(message.Config{OpenFile: file.Opener(file.Config{})}),
		exec.NewShell(exec.ShellConfig{}).Tools(), []tools.Tool{exec.NewCode(exec.CodeConfig{}), git.New(git.Config{}), browser.New(browser.Config{}).Tool()},
		job.Tools(job.Config{}), web.New(web.Config{}).Tools(), recalltools.New(nil),
	)
	near := find.Nearness(m.Nearness)
	texts := make([]string, len(all))
	for i, o := range all {
		texts[i] = o.Spec().Text("en").Description
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for near(t.Context(), "ready", texts) == nil { // until all have their vectors
		<-tick.C
	}
	for _, file := range []string{"tool-requests", "own-requests", "everyday-requests", "peer-requests"} {
		source, err := os.ReadFile("../../../tools/find/testdata/" + file + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for show, most := range map[string]int{find.ShowAuto: 4, find.ShowFew: 2} {
			for _, language := range []string{"en", "ru"} {
				var asked, once, found, extra, idle, idleExtra int
				for line := range strings.Lines(string(source)) {
					var w struct {
						Request, Lang, Tool string
						Also                []string
					}
					if err := json.Unmarshal([]byte(line), &w); err != nil {
						t.Fatal(err)
					}
					if w.Lang != language {
						continue
					}
					core := func(o tools.Tool) bool { return slices.Contains(find.Core(show), o.Spec().Name) }
					fits := func(o tools.Tool) bool {
						return o.Spec().Name == w.Tool || slices.Contains(w.Also, o.Spec().Name)
					}
					hidden := slices.DeleteFunc(slices.Clone(all), core)
					extras := find.Preselect(context.Background(), hidden, w.Request, most, near)
					if w.Tool == "" {
						idle++
						idleExtra += len(extras)
						continue
					}
					hidden = slices.DeleteFunc(hidden, func(o tools.Tool) bool {
						return slices.ContainsFunc(extras, func(e tools.Tool) bool { return e.Spec().Name == o.Spec().Name })
					})
					asked++
					extra += len(extras)
					shown := slices.ContainsFunc(all, func(o tools.Tool) bool { return core(o) && fits(o) }) || slices.ContainsFunc(extras, fits)
					if shown {
						once++
					}
					five := find.Tools(context.Background(), hidden, w.Request, 5, near)
					if shown || slices.ContainsFunc(five, fits) {
						found++
					} else if os.Getenv("VERBOSE") != "" {
						fmt.Println(show, w.Tool, "|", w.Request)
					}
				}
				fmt.Printf("%s %s %s: at once %.1f, together %.1f, extras %.2f, idle %.2f\n", file, show, language,
					100*float64(once)/float64(asked), 100*float64(found)/float64(asked), float64(extra)/float64(asked), float64(idleExtra)/float64(idle))
			}
		}
	}
}
