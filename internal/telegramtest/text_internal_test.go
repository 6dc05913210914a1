package telegramtest

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"
)

// FuzzText checks what must hold for every text that is taken: its entities lie
// inside it, begin and end between characters, and are in order.
func FuzzText(f *testing.F) {
	f.Add(" \na😀b\r\n ", `[{"type":"bold","offset":3,"length":2},{"type":"code","offset":0,"length":7}]`)
	f.Add("x\u2028y\u030a", `[{"type":"italic","offset":1,"length":3}]`)
	f.Add("   ", `[{"type":"pre","offset":0,"length":3}]`)
	f.Add("\xff", `[{"type":"bold","offset":0,"length":1}]`)
	f.Fuzz(func(t *testing.T, body, entities string) {
		s := &Server{users: map[int64]User{}}
		p := params{values: map[string]string{"text": body, "entities": entities}}
		if !json.Valid([]byte(entities)) {
			p.values["entities"] = ""
		}
		got, err := s.readText(p)
		if err != nil {
			return
		}
		all := utf16.Encode([]rune(got.text))
		if len(all) == 0 || len(all) > maxText || strings.TrimRight(got.text, " \n") != got.text {
			t.Fatalf("took %q", got.text)
		}
		last := 0
		for _, e := range got.entities {
			if e.Offset < last || e.Length <= 0 || e.end() > len(all) {
				t.Fatalf("%+v in %d units", e, len(all))
			}
			if utf16.IsSurrogate(rune(all[e.Offset])) && all[e.Offset] >= 0xDC00 {
				t.Fatalf("%+v begins inside a character of %q", e, got.text)
			}
			last = e.Offset
		}
	})
}
