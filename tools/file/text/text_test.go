package text

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzText: a text that is not changed is the same file, and a piece that is found and
// replaced by itself changes nothing.
func FuzzText(f *testing.F) {
	for _, seed := range [][2]string{
		{"a\r\nb\n", "a\nb"}, {"\xef\xbb\xbfx", "x"}, {"\xff\xfea\x00\r\x00\n\x00", "a\n"}, {"e\u0301\u0323", "\u1eb9"}, {"\r\r\n\n", "\n"}, {"\xff\xfe\x00\xd8", ""}, {"aaa", "aa"},
	} {
		f.Add([]byte(seed[0]), seed[1])
	}
	f.Fuzz(func(t *testing.T, content []byte, old string) {
		read, ok := Decode(content)
		if !ok || !utf8.ValidString(old) {
			return
		}
		if again, err := read.Encode(); err != nil || !bytes.Equal(again, content) {
			t.Fatalf("%q becomes %q, %v", content, again, err)
		}
		for _, s := range read.Find(old, 5) {
			piece := read.Body[s.From:s.To]
			if same := read.Replace(s, piece).Body; same != read.Body {
				t.Errorf("%q for itself in %q makes %q", piece, read.Body, same)
			}
			if s.Line != 1+strings.Count(read.Body[:s.From], "\n") {
				t.Errorf("%q is in line %d of %q", piece, s.Line, read.Body)
			}
		}
		longer, _ := read.Append(old)
		if !strings.HasPrefix(longer.Body, read.Body) {
			t.Errorf("%q appended to %q makes %q", old, read.Body, longer.Body)
		}
	})
}
