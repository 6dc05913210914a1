package phrase_test

import (
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/phrase"
)

// TestCostlyTexts reads texts that are made to take long.
func TestCostlyTexts(t *testing.T) {
	for _, piece := range []string{"1 day before ", `"a `, "at ", "every ", "in 1 day ", "Monday and ", "New York ", "9 to 9 ", "за 1 день до ", "the ", "from Monday to ", "until 5 May ", "1h", "\x00", "а́", "ё ", "9am in ", "every 2 weeks on Monday starting "} {
		text := "tomorrow at 9 " + strings.Repeat(piece, 40_000/len(piece))
		for _, text := range []string{text, strings.TrimPrefix(text, "tomorrow at 9 "), text + "tomorrow"} {
			began := time.Now()
			_, _ = phrase.ParseWish(text, saturday, time.UTC)
			_, _ = phrase.ParseAt(text, saturday, time.UTC)
			_, _, _ = phrase.ReadRepeat(text, saturday, time.UTC)
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("%q took %v", text[:30], took)
			}
		}
	}
}
