package markdown

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"klawbot/gateway"
)

// checkPart fails when Telegram would refuse the part or show it otherwise
// than it says.
func checkPart(t *testing.T, p gateway.Part) {
	t.Helper()
	units := utf16.Encode([]rune(p.Text))
	if !utf8.ValidString(p.Text) || isBlank(p.Text) || len(units) > maxPartUnits || len(p.Entities) > maxPartEntities {
		t.Errorf("part of %d units with %d entities, blank %t", len(units), len(p.Entities), isBlank(p.Text))
	}
	payload := 0
	var open []gateway.Entity
	for i, e := range p.Entities {
		payload += entityPayload + len(e.URL) + len(e.Language)
		checkEntity(t, units, e)
		if i > 0 && (p.Entities[i-1].Offset > e.Offset || p.Entities[i-1].Offset == e.Offset && p.Entities[i-1].Length < e.Length) {
			t.Errorf("entity %d %+v is out of order", i, e)
		}
		open = slices.DeleteFunc(open, func(o gateway.Entity) bool { return o.Offset+o.Length <= e.Offset })
		for _, o := range open {
			checkNested(t, o, e)
		}
		open = append(open, e)
	}
	if payload > maxPartPayload {
		t.Errorf("entities take %d bytes", payload)
	}
}

func checkEntity(t *testing.T, units []uint16, e gateway.Entity) {
	t.Helper()
	end := e.Offset + e.Length
	if e.Offset < 0 || e.Length <= 0 || end > len(units) {
		t.Fatalf("entity %+v is out of range of %d units", e, len(units))
	}
	for _, at := range []int{e.Offset, end} {
		if at < len(units) && 0xDC00 <= units[at] && units[at] < 0xE000 {
			t.Errorf("entity %+v cuts a surrogate pair", e)
		}
	}
	text := string(utf16.Decode(units[e.Offset:end]))
	trimmed := strings.TrimSpace(text)
	if e.Type == pre || e.Type == quote || e.Type == longQuote {
		trimmed = strings.TrimLeft(text, "\n")
	}
	if text != trimmed {
		t.Errorf("entity %+v is not trimmed: %q", e, text)
	}
	if (e.URL != "") != (e.Type == textLink) || e.URL != "" && !linkable(e.URL) || e.Language != "" && e.Type != pre {
		t.Errorf("entity %+v has a wrong URL or language", e)
	}
}

// checkNested holds Telegram's rules for an entity inside another.
func checkNested(t *testing.T, outer, inner gateway.Entity) {
	t.Helper()
	if inner.Offset+inner.Length > outer.Offset+outer.Length {
		t.Errorf("%+v overlaps %+v", inner, outer)
	}
	isQuote := func(e gateway.Entity) bool { return e.Type == quote || e.Type == longQuote }
	isCode := func(e gateway.Entity) bool { return e.Type == pre || e.Type == code }
	switch {
	case isCode(outer), isQuote(outer) && isQuote(inner), isCode(inner) && !isQuote(outer), isQuote(inner), outer.Type == inner.Type:
		t.Errorf("%+v may not be in %+v", inner, outer)
	}
}
