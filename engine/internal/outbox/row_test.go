package outbox

import (
	"slices"
	"strings"
	"testing"

	"klawbot/internal/clip"
)

func FuzzPieces(f *testing.F) {
	f.Add("one\ntwo\nthree", 5)
	f.Add("😀😀😀😀", 3)
	f.Add(strings.Repeat("x", 50), 7)
	f.Fuzz(func(t *testing.T, text string, units int) {
		if units < 2 || units > 4096 {
			return
		}
		all := slices.Collect(pieces(text, units))
		if strings.Join(all, "") != text {
			t.Fatalf("pieces %q do not make %q", all, text)
		}
		for _, p := range all {
			if p == "" || clip.UTF16Len(p) > units {
				t.Fatalf("piece %q has %d units, at most %d", p, clip.UTF16Len(p), units)
			}
		}
	})
}
