package terminal

import "testing"

func TestFold(t *testing.T) {
	for _, c := range []struct {
		text   string
		indent int
		want   string
	}{
		{"short", 0, "short"},
		{"one two three", 0, "one two\nthree"},
		{"one two three four five", 2, "one two\n  three\n  four\n  five"},
		{"  at the end: ", 0, "  at the\nend: "},
		{"averyveryverylong word", 0, "averyveryverylong\nword"},
		{"a averyveryverylong", 2, "a\n  averyveryverylong"},
		{"ещё по-русски", 0, "ещё\nпо-русски"},
		{"one\ntwo three four\n", 0, "one\ntwo three\nfour\n"},
	} {
		if got := foldTo(c.text, 10, c.indent); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestMegabytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 kB", 1: "1 kB", 12_345: "13 kB", 100_000: "0.1 MB", 43_000_000: "43.0 MB"} {
		if got := Megabytes(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
