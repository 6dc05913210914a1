package telegramtest

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of texts. Lengths count UTF-16 units, except where bytes are named.
const (
	maxText       = 4096
	maxCaption    = 1024
	maxTextBytes  = 32768
	maxEntities   = 100
	maxEntityLoad = 9500 // bytes that all entities together may take
	maxOffset     = 1_000_000
)

// formatted is a text with its entities, on the way to be checked and cleaned.
type formatted struct {
	text     string
	entities []Entity
}

// readText reads and checks the text of a message. s.mu is held.
func (s *Server) readText(p params) (formatted, *apiError) {
	raw := p.str("text")
	switch {
	case raw == "":
		return formatted{}, badRequest("message text is empty")
	case len(raw) > maxTextBytes:
		return formatted{}, badRequest("text is too long")
	}
	t, err := s.readFormatted(raw, p, "entities")
	switch {
	case err != nil:
		return formatted{}, err
	case t.text == "":
		return formatted{}, badRequest("text must be non-empty")
	case units(t.text) > maxText:
		return formatted{}, badRequest("message is too long")
	}
	return t, nil
}

// readCaption reads and checks the caption of a document. s.mu is held.
func (s *Server) readCaption(p params) (formatted, *apiError) {
	t, err := s.readFormatted(p.str("caption"), p, "caption_entities")
	if err == nil && units(t.text) > maxCaption {
		err = badRequest("message caption is too long")
	}
	return t, err
}

func (s *Server) readFormatted(raw string, p params, name string) (formatted, *apiError) {
	t := formatted{text: raw}
	if err := p.object(name, &t.entities); err != nil {
		return t, badRequest("can't parse entities JSON object")
	}
	if err := t.checkEntities(s); err != nil {
		return t, err
	}
	if err := t.clean(); err != nil {
		return t, err
	}
	return t, t.limit()
}

// clean does to a text what Telegram does before sending it: control characters
// become spaces, some characters go, blanks around the text go, and the entities
// move along. It refuses entities that do not fit the text.
func (t *formatted) clean() *apiError {
	slices.SortStableFunc(t.entities, func(a, b Entity) int {
		if a.Offset != b.Offset {
			return a.Offset - b.Offset
		}
		return b.Length - a.Length
	})
	if err := t.fit(); err != nil {
		return err
	}
	t.sweep()
	t.trim()
	return nil
}

// fit walks along the text and checks that every entity begins and ends between
// two characters.
func (t *formatted) fit() *apiError {
	next, open := 0, []Entity(nil)
	check := func(offset, at int) *apiError {
		for len(open) > 0 && open[len(open)-1].end() <= offset {
			if e := open[len(open)-1]; e.end() != offset {
				return badRequest("entity beginning at UTF-16 offset %d ends in a middle of a UTF-16 symbol at byte offset %d", e.Offset, at)
			}
			open = open[:len(open)-1]
		}
		for next < len(t.entities) && t.entities[next].Offset <= offset {
			if t.entities[next].Offset != offset {
				return badRequest("entity begins in a middle of a UTF-16 symbol at byte offset %d", at)
			}
			open = push(open, t.entities[next])
			next++
		}
		return nil
	}
	offset := 0
	for at, r := range t.text {
		if err := check(offset, at); err != nil {
			return err
		}
		offset += width(r)
	}
	if err := check(offset, len(t.text)); err != nil {
		return err
	}
	if next < len(t.entities) {
		return badRequest("entity begins after the end of the text at UTF-16 offset %d", t.entities[next].Offset)
	}
	if len(open) > 0 {
		e := open[len(open)-1]
		return badRequest("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d", e.Offset, e.end())
	}
	return nil
}

// push keeps the entity that ends first on top, also when entities cross.
func push(open []Entity, e Entity) []Entity {
	i := len(open)
	for i > 0 && open[i-1].end() < e.end() {
		i--
	}
	return slices.Insert(open, i, e)
}

// sweep replaces and removes the characters that Telegram does not keep.
func (t *formatted) sweep() {
	var out strings.Builder
	out.Grow(len(t.text))
	moved := make([]int, 0, len(t.text)+1) // old offset → new offset
	offset := 0
	for _, r := range t.text {
		for range width(r) {
			moved = append(moved, offset)
		}
		switch {
		case r == '\r' || r >= 0x2028 && r <= 0x202E || r == 0x333 || r == 0x33F || r == 0x30A:
			continue
		case r < ' ' && r != '\n':
			r = ' '
		}
		out.WriteRune(r)
		offset += width(r)
	}
	moved = append(moved, offset)
	for i, e := range t.entities {
		t.entities[i].Offset = moved[e.Offset]
		t.entities[i].Length = moved[e.end()] - moved[e.Offset]
	}
	t.text = out.String()
}

// trim cuts blanks around the text; leading ones only up to the first entity.
func (t *formatted) trim() {
	t.text = strings.TrimRight(t.text, " \n")
	end := units(t.text)
	kept := t.entities[:0]
	for _, e := range t.entities {
		e.Length = min(e.Length, end-e.Offset)
		if e.Length > 0 {
			kept = append(kept, e)
		}
	}
	t.entities = kept
	lead := len(t.text) - len(strings.TrimLeft(t.text, " \n"))
	if len(kept) > 0 {
		lead = min(lead, kept[0].Offset)
	}
	t.text = t.text[lead:]
	for i := range t.entities {
		t.entities[i].Offset -= lead
	}
}

// units counts UTF-16 units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += width(r)
	}
	return n
}

func width(r rune) int {
	if r > 0xFFFF && r <= utf8.MaxRune {
		return 2
	}
	return 1
}
