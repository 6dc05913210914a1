package voice

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestPlainText: what is spoken of an answer.
func TestPlainText(t *testing.T) {
	for text, want := range map[string]string{
		"**Milk** and _bread_":                             "Milk and bread",
		"# List\n\n- milk\n2. bread\n> quoted":             "List\nmilk\nbread\nquoted",
		"See [the page](https://a.example/x) or https://b": "See the page or",
		"Run:\n```sh\nrm -rf\n```\nDone ✅":                 "Run:\nDone",
		"```\nnever closed":                                "",
		"Привет\x00, мир\u200b!":                           "Привет , мир !",
		"a\xffb | c":                                       "a b c",
		"---":                                              "",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestShortenedText: behind a sentence, else behind a word, never inside a letter.
func TestShortenedText(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"One. Two.", 0, "One. Two."}, {"One. Two.", 100, "One. Two."},
		{"One two. Three four.", 12, "One two."}, {"One two three", 9, "One two"}, {"ёёёё", 2, "ёё"},
	} {
		if got := shortened(c.text, c.most); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// TestClauses: a breath ends at a sign between words, not in a number.
func TestClauses(t *testing.T) {
	got := clauses("Well, at 3.5 km... Really?! Yes…\nA new line")
	want := []clause{{"Well", ",", false}, {"at 3.5 km", ".", true}, {"Really", "?", true}, {"Yes", ".", true}, {"A new line", ".", true}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(clause{})); diff != "" {
		t.Error(diff)
	}
}

// FuzzPlain: what is spoken is valid text on lines with something to say, and no longer
// than it may be.
func FuzzPlain(f *testing.F) {
	f.Add("**a** [b](c) ```d``` e. f", 5)
	f.Fuzz(func(t *testing.T, text string, most int) {
		said := plain(text)
		if !utf8.ValidString(said) || strings.Contains(said, "\n\n") {
			t.Errorf("%q", said)
		}
		if short := shortened(said, most); most > 0 && utf8.RuneCountInString(short) > most {
			t.Errorf("%q is longer than %d", short, most)
		}
		for _, c := range clauses(said) {
			if c.text == "" || c.sign == "" {
				t.Errorf("%+v", c)
			}
		}
	})
}
