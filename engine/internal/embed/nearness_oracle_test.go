//go:build oracle

package embed

import (
	"os"
	"testing"
)

// TestOracleNearness: what answers a question is near enough to be brought up by
// itself, what only stands beside it is not, with each model and the one default
// of memory.autoRecall.minScore.
func TestOracleNearness(t *testing.T) {
	const least = 0.5
	said := []string{
		"Anna: My locker code is 4711-Q", "Anna: the weather is nice today", "assistant: Yes, 20 degrees and sunny.",
		"Anna: what time is it in Tokyo?", "assistant: It is 03:10 in Tokyo.", "Anna: remind me to call the plumber",
		"Anna: the boiler was serviced in May by Mr Petrov", "Anna: translate 'good evening' into Portuguese", "assistant: Boa noite.",
		"Anna: our trip to Lisbon begins on the 3rd of June", "Anna: I am allergic to peanuts",
	}
	for _, name := range []string{"e5-small-v2", "all-minilm-l6-v2"} {
		library, dir, err := Places{Dirs: []string{os.Getenv("ASSETS_DIR")}}.Find(name)
		if err != nil {
			t.Fatalf("make assets brings the files: %v", err)
		}
		recipe, err := ReadRecipe(name, dir)
		if err != nil {
			t.Fatal(err)
		}
		m := New(Config{Runtime: library, Dir: dir, Recipe: recipe})
		passages, err := m.Passages(t.Context(), said)
		if err != nil {
			t.Fatal(err)
		}
		for question, want := range map[string]int{ // the text that is near enough, -1 for none
			"Which locker code did I tell you?": 0, "who serviced the boiler?": 6, "when do we go to Portugal?": 9,
			"what is 17 * 23?": -1, "tell me a joke": -1, "and now in French": -1, "write a poem about mountains": -1,
		} {
			q, err := m.Query(t.Context(), question)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range passages {
				var cosine float64
				for k := range p {
					cosine += float64(p[k]) * float64(q[k])
				}
				if near := (cosine-m.Floor())/(1-m.Floor()) >= least; near != (i == want) {
					t.Errorf("%s: %q and %q have the cosine %.3f", name, question, said[i], cosine)
				}
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
