package outbox

import (
	"strings"
	"testing"
)

func FuzzPieces(f *testing.F) {
	f.Add("one\ntwo\nthree", 5)
	f.Add("😀😀😀😀", 4)
	f.Add(strings.Repeat("x", 50), 7)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < 4 || most > 4096 {
			return
		}
		all := pieces(text, most)
		if strings.Join(all, "") != text {
			t.Fatalf("pieces %q do not make %q", all, text)
		}
		for _, p := range all {
			if p == "" || len(p) > most {
				t.Fatalf("piece %q has %d bytes, at most %d", p, len(p), most)
			}
		}
	})
}
