package memory_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
)

// asked is a memory and the questions that it answers.
type asked struct {
	Content, Source string
	Questions       []string
}

func readAsked(t *testing.T, name string) []asked {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var all []asked
	for line := range strings.Lines(string(text)) {
		var a asked
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

// TestWordsAloneFindOtherLanguages wants nine of ten answers among the first ten
// hits, without any vector.
func TestWordsAloneFindOtherLanguages(t *testing.T) {
	for _, language := range []string{"russian", "chinese"} {
		t.Run(language, func(t *testing.T) {
			s := openStore(t)
			all := readAsked(t, language+".jsonl")
			for _, a := range all {
				save(t, s, store.Memory{Content: a.Content, Source: a.Source})
			}
			m := newMemory(s, nil)
			first, found, n := 0, 0, 0
			for _, a := range all {
				for _, q := range a.Questions {
					n++
					hits := contents(t, m, memory.Query{Text: q, TopK: 10})
					switch {
					case len(hits) > 0 && hits[0] == a.Content:
						first++
						fallthrough
					case anyHas(hits, a.Content):
						found++
					default:
						t.Logf("%q does not find %q", q, a.Content)
					}
				}
			}
			t.Logf("%d questions about %d memories: hit@1 %.3f, recall@10 %.3f", n, len(all), float64(first)/float64(n), float64(found)/float64(n))
			if float64(found) < 0.9*float64(n) {
				t.Errorf("%d of %d are found", found, n)
			}
		})
	}
}
