package injection_test

import (
	"slices"
	"testing"
	"unicode/utf8"

	"klawbot/tools/injection"
)

// FuzzText screens whatever comes: it never breaks, says valid text, finds no
// less when harmless text stands before, and screens a text that was defused
// like any other.
func FuzzText(f *testing.F) {
	for _, name := range []string{"testdata/injections.jsonl", "testdata/own.jsonl"} {
		for _, l := range readLines(f, name) {
			if len(l.Output) < 1000 {
				f.Add(l.Output)
			}
		}
	}
	f.Add("&#x;\\u12 %zz <| [INST &#99999999999;")
	f.Fuzz(func(t *testing.T, text string) {
		v := injection.Text(text)
		for _, m := range v.Matches {
			if m.Rule == "" || !utf8.ValidString(m.Text) {
				t.Errorf("%q: match %q", text, m)
			}
		}
		if v.Level == injection.None != (len(v.Matches) == 0) {
			t.Errorf("%q: %v", text, v)
		}
		if slices.Contains(v.Rules(), "role token") && v.Level == injection.None {
			t.Errorf("%q: %v", text, v)
		}
		if once := injection.Defuse(text); injection.Defuse(once) != once {
			t.Errorf("%q is defused to %q, and that again", text, once)
		}
		injection.Write(text)
	})
}
