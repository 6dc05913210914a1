package gateway

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"klawbot/internal/clip"
	"klawbot/internal/redact"
)

// shortMask stands where a secret stood that is shorter than redact.Mask: a
// message that fits must fit without its secrets, too.
const shortMask = "***"

// masked returns the parts of one text without secrets. What counts is the text
// that a reader sees, over all parts.
func masked(secrets *redact.Set, parts []Part) []Part {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	spans := secrets.Find(strings.Join(texts, "\n"))
	out := make([]Part, len(parts))
	at := 0
	for i, p := range parts {
		end := at + len(p.Text)
		var edits []edit
		for _, s := range spans {
			if s.Start >= end || s.End <= at {
				continue
			}
			e := edit{Span: redact.Span{Start: max(s.Start, at) - at, End: min(s.End, end) - at}}
			if s.Start >= at { // the mask stands where the secret begins
				e.text = maskFor(p.Text[e.Start:e.End])
			}
			edits = append(edits, e)
		}
		out[i] = maskedAround(secrets, edited(p, edits))
		at = end + 1
	}
	return out
}

func maskFor(secret string) string {
	if clip.UTF16Len(secret) < len(redact.Mask) {
		return shortMask
	}
	return redact.Mask
}

// maskedAround takes secrets out of what a part has beside its text. A link or a
// button that would lead a secret away goes.
func maskedAround(secrets *redact.Set, p Part) Part {
	var entities []Entity
	for _, e := range p.Entities {
		if e.URL != "" && secrets.Address(e.URL) {
			continue
		}
		e.Language = secrets.Text(e.Language)
		entities = append(entities, e)
	}
	p.Entities = entities
	var buttons [][]Button
	for _, row := range p.Buttons {
		var kept []Button
		for _, b := range row {
			if b.URL != "" && secrets.Address(b.URL) {
				continue
			}
			b.Text = secrets.Text(b.Text)
			kept = append(kept, b)
		}
		if len(kept) > 0 {
			buttons = append(buttons, kept)
		}
	}
	p.Buttons = buttons
	if p.Document != nil {
		p.Document = maskedFile(secrets, p.Document)
	}
	p.Album = slices.Clone(p.Album)
	for i, d := range p.Album {
		p.Album[i] = maskedFile(secrets, d)
	}
	return p
}

func maskedFile(secrets *redact.Set, d *Document) *Document {
	clean := *d
	clean.Name, clean.Content = secrets.Text(d.Name), secrets.Text(d.Content)
	return &clean
}

// edit replaces a range of bytes of a text.
type edit struct {
	redact.Span
	text string
}

// edited makes edits, which are in order and apart, and moves the entities with the
// text. One that covers a piece of what was replaced ends beside it. A part whose
// text would be blank shows that there was something.
func edited(p Part, edits []edit) Part {
	if len(edits) == 0 {
		return p
	}
	var b strings.Builder
	moves := make([]move, len(edits))
	at, was, is := 0, 0, 0 // in bytes of the old text; in units of both
	for i, e := range edits {
		between := p.Text[at:e.Start]
		b.WriteString(between)
		b.WriteString(e.text)
		was, is = was+clip.UTF16Len(between), is+clip.UTF16Len(between)
		m := move{from: was, to: was + clip.UTF16Len(p.Text[e.Start:e.End]), newFrom: is, newTo: is + clip.UTF16Len(e.text)}
		moves[i], at, was, is = m, e.End, m.to, m.newTo
	}
	b.WriteString(p.Text[at:])
	if p.Text = b.String(); strings.TrimSpace(p.Text) == "" {
		p.Text, p.Entities = shortMask, nil
		return p
	}
	p.Entities = movedEntities(utf16.Encode([]rune(p.Text)), p.Entities, moves)
	return p
}

// movedEntities are the entities in the new text. What is left of one has no blanks
// at the end that was cut off.
func movedEntities(text []uint16, entities []Entity, moves []move) (all []Entity) {
	blank := func(at int) bool { return unicode.IsSpace(rune(text[at])) }
	for _, e := range entities {
		from, cutFrom := moved(moves, e.Offset, true)
		to, cutTo := moved(moves, e.Offset+e.Length, false)
		for cutFrom && from < to && blank(from) {
			from++
		}
		for cutTo && from < to && blank(to-1) {
			to--
		}
		if from < to {
			e.Offset, e.Length = from, to-from
			all = append(all, e)
		}
	}
	return all
}

// move is where a range of a text went, in UTF-16 code units.
type move struct{ from, to, newFrom, newTo int }

// moved is where a place went, that of the beginning of an entity or of its end, and
// whether it was inside of what was replaced.
func moved(moves []move, at int, begins bool) (place int, cut bool) {
	by := 0
	for _, m := range moves {
		switch {
		case at <= m.from:
			return at + by, false
		case at < m.to && begins:
			return m.newTo, true
		case at < m.to:
			return m.newFrom, true
		}
		by = m.newTo - m.to
	}
	return at + by, false
}

// Growing renders the beginning of a text that grows: the first part of it, without
// secrets and without what may turn out to be one. ok is false when there is
// nothing to show yet.
func (g *Gateway) Growing(channel, markdown string) (p Part, ok bool) {
	parts := g.Render(channel, markdown)
	if len(parts) == 0 {
		return Part{}, false
	}
	all := parts[0].Text
	for _, p := range parts[1:] {
		all += "\n" + p.Text
	}
	p = parts[0]
	if from := g.secrets.Begun(all); from < len(p.Text) {
		p = edited(p, []edit{{Span: redact.Span{Start: from, End: len(p.Text)}}})
		if p.Text == shortMask {
			return Part{}, false
		}
	}
	return p, true
}
