package clip_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"klawbot/internal/clip"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		name string
		clip func(string, int) string
		text string
		n    int
		want string
	}{
		{"Runes: it fits", clip.Runes, "añ漢😀", 4, "añ漢😀"},
		{"Runes: it does not", clip.Runes, "añ漢😀", 3, "añ漢…"},
		{"Runes: no room", clip.Runes, "ab", 0, "…"},
		{"Runes: nothing", clip.Runes, "", 0, ""},
		{"Within: it fits", clip.Within, "añ漢😀", 4, "añ漢😀"},
		{"Within: the mark counts", clip.Within, "añ漢😀", 3, "añ…"},
		{"Head: it fits", clip.Head, "añ", 5, "añ"},
		{"Head: it does not", clip.Head, "añ漢", 2, "añ"},
		{"Head: none", clip.Head, "añ", 0, ""},
		{"Tail: it fits", clip.Tail, "añ", 5, "añ"},
		{"Tail: it does not", clip.Tail, "añ漢", 2, "ñ漢"},
		{"Tail: none", clip.Tail, "añ", 0, ""},
		{"Bytes: it fits", clip.Bytes, "añ", 3, "añ"},
		{"Bytes: inside of a character", clip.Bytes, "a漢b", 3, "a"},
		{"Bytes: between characters", clip.Bytes, "a漢b", 4, "a漢"},
		{"Bytes: less than the first character", clip.Bytes, "😀", 2, ""},
		{"Bytes: no UTF-8", clip.Bytes, "\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80"},
		{"Line: several lines", clip.Line, " a\n\tb  c\u2028d ", 20, "a b c d"},
		{"Line: escapes and directions", clip.Line, "a\x1b[31mb\u202ec\xff", 20, "a\uFFFD[31mb\uFFFDc\uFFFD"},
		{"Line: too long", clip.Line, "a b c d", 3, "a b…"},
	} {
		if got := c.clip(c.text, c.n); got != c.want {
			t.Errorf("%s: %q, %d: got %q, want %q", c.name, c.text, c.n, got, c.want)
		}
	}
}

// TestMiddle: the parts end where lines or characters do.
func TestMiddle(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		most int
		want string
	}{
		"it fits":     {"one\ntwo", 7, "one\ntwo"},
		"whole lines": {"one\ntwo\nthree\nfour\nfive\n", 12, "one\n[… 3 lines (15 characters) omitted …]\nfive\n"},
		"one line":    {"0123456789", 4, "01\n[… 6 characters omitted …]\n89"},
		"families":    {"a👨‍👩‍👧b👨‍👩‍👧c", 30, "a\n[… 11 characters omitted …]\nc"},
		"flags":       {strings.Repeat("🇩🇪", 5), 24, "🇩🇪\n[… 6 characters omitted …]\n🇩🇪"},
	} {
		if got := clip.Middle(tt.text, tt.most); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("añ漢😀\xff\n\x1b", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = min(max(n, -5), 1000)
		runes := []rune(text)
		if got := clip.Head(text, n); !strings.HasPrefix(text, got) || utf8.RuneCountInString(got) != max(0, min(n, len(runes))) {
			t.Errorf("Head is %q", got)
		}
		if got := clip.Within(text, n); len(runes) <= n && got != text || len(runes) > n && n > 0 && utf8.RuneCountInString(got) != n {
			t.Errorf("Within is %q", got)
		}
		if got := clip.Bytes(text, max(n, 0)); !strings.HasPrefix(text, got) || len(got) > max(n, 0) || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("Bytes is %q", got)
		}
		if !utf8.ValidString(text) {
			return
		}
		if c := clip.Ends(text, n); !strings.HasPrefix(text, c.Head) || !strings.HasSuffix(text, c.Tail) || utf8.RuneCountInString(c.Head+c.Tail)+c.Chars != len(runes) || c.Chars > 0 && utf8.RuneCountInString(c.Head+c.Tail) > max(n, 0) {
			t.Errorf("Ends is %+v", c)
		}
		if got := clip.Tail(text, n); !strings.HasSuffix(text, got) || utf8.RuneCountInString(got) != max(0, min(n, len(runes))) {
			t.Errorf("Tail is %q", got)
		}
	})
}
