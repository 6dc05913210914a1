package markdown

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"klawbot/gateway"
)

// What one message holds. Telegram ignores entities after the hundredth and
// refuses a message whose entities take more than about 9.5 KB.
const (
	maxPartUnits    = 4096 // UTF-16 code units
	maxPartEntities = 100
	maxPartPayload  = 8 << 10 // bytes
	// entityPayload is what an entity takes besides its URL and language.
	entityPayload = 48
)

// splitRich cuts rich text into as few parts as it can with whole paragraphs.
//
// The parts are consecutive pieces of the text: text = g0 p1 g1 p2 … pn gn,
// where every gap g holds nothing that can be seen, almost always the line end
// or space that was cut at. Every visible character has in its part the same
// formatting that it has in the text. No part is blank, and no cut is inside a
// grapheme cluster, unless the cluster alone is too long for a message.
func splitRich(d rich) []gateway.Part {
	var parts []gateway.Part
	s := splitter{rich: d}
	for s.skipGap(); s.pos < len(s.text); s.skipGap() {
		end := s.cut(s.reach())
		if p := s.part(end); !isBlank(p.Text) {
			parts = append(parts, p)
		}
	}
	return parts
}

// splitter walks over rich text once.
type splitter struct {
	rich
	pos int // start of the part
	// open are the spans that began before pos and end after it; next is the
	// first span that begins at pos or later.
	open []span
	next int
}

// skipGap moves over white space between parts. In code only line ends go: the
// rest is indentation.
func (s *splitter) skipGap() {
	rest := s.text[s.pos:]
	if slices.ContainsFunc(s.open, func(o span) bool { return o.kind == pre }) {
		s.pos += len(rest) - len(strings.TrimLeft(rest, "\n"))
		return
	}
	s.pos += len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
	if s.next < len(s.spans) && s.spans[s.next].start < s.pos {
		s.pos = s.spans[s.next].start // the indentation of code that begins here
	}
}

// reach is the furthest end of the part that Telegram's limits allow.
func (s *splitter) reach() int {
	end := len(s.text)
	if len(s.text)-s.pos > maxPartUnits { // bytes are never fewer than units
		end = advanceUnits(s.text, s.pos, maxPartUnits)
	}
	payload := 0
	for _, o := range s.open {
		payload += o.payload()
	}
	for i := s.next; i < len(s.spans) && s.spans[i].start < end; i++ {
		payload += s.spans[i].payload()
		if len(s.open)+i-s.next >= maxPartEntities || payload > maxPartPayload {
			return s.spans[i].start
		}
	}
	return end
}

func (s span) payload() int { return entityPayload + len(s.url) + len(s.language) }

// advanceUnits returns the end of the longest piece from start with at most n
// UTF-16 units.
func advanceUnits(text string, start, n int) int {
	for i, r := range text[start:] {
		n -= unitsOf(r)
		if n < 0 {
			return start + i
		}
	}
	return len(text)
}

func unitsOf(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// cut returns where the part ends, at limit at the latest.
func (s *splitter) cut(limit int) int {
	if limit == len(s.text) {
		return limit
	}
	late, any := s.candidates(limit)
	for _, c := range []cuts{late, any} {
		for k := len(c) - 1; k >= 0; k-- {
			if c[k] > s.pos {
				return c[k]
			}
		}
	}
	return lastCluster(s.text, s.pos, limit)
}

// cuts is the last place of each kind to cut at, 0 for none.
type cuts [6]int

// The kinds of places to cut at, from the worst to the best.
const (
	atSpace = iota
	atSentence
	atLineInside // inside of code or a quote
	atBlankLineInside
	atLine
	atBlankLine
)

// candidates looks at every run of white space up to limit. late has those in
// the second half, which make parts of a decent length.
func (s *splitter) candidates(limit int) (late, any cuts) {
	half := s.pos + (limit-s.pos)/2
	inside := 0
	for _, o := range s.open {
		inside = max(inside, o.blockEnd())
	}
	next := s.next
	for at := s.pos; at < limit; {
		run := spaceRun(s.text, at, limit)
		if run.start >= run.end {
			break
		}
		at = run.end
		for ; next < len(s.spans) && s.spans[next].start < run.start; next++ {
			inside = max(inside, s.spans[next].blockEnd())
		}
		if run.start == s.pos || s.afterHeading(run.start) || !run.breakable(s.text) {
			continue
		}
		k := run.kind(s.text, run.start < inside)
		any[k] = run.start
		if run.start >= half {
			late[k] = run.start
		}
	}
	return late, any
}

// blockEnd is the end of a block of code or a quote, 0 for other spans.
func (s span) blockEnd() int {
	if s.block() {
		return s.end
	}
	return 0
}

// afterHeading says that a heading ends at the place: it stays with what
// follows.
func (s *splitter) afterHeading(at int) bool {
	_, found := slices.BinarySearch(s.headings, at)
	return found
}

// part makes the part from pos to end and moves on to end.
func (s *splitter) part(end int) gateway.Part {
	text := strings.TrimRightFunc(s.text[s.pos:end], unicode.IsSpace)
	all := s.open
	for ; s.next < len(s.spans) && s.spans[s.next].start < end; s.next++ {
		all = append(all, s.spans[s.next])
	}
	var spans, open []span
	for _, sp := range all {
		piece := sp
		piece.start = max(sp.start-s.pos, 0)
		piece.end = min(sp.end-s.pos, len(text))
		if piece.start < piece.end {
			spans = append(spans, piece.trim(text))
		}
		if sp.end > end {
			open = append(open, sp)
		}
	}
	s.open, s.pos = open, end
	return gateway.Part{Text: text, Entities: utf16Entities(text, spans)}
}

// utf16Entities counts spans in UTF-16. It reorders them.
func utf16Entities(text string, spans []span) []gateway.Entity {
	spans = slices.DeleteFunc(spans, func(s span) bool { return s.start >= s.end })
	if len(spans) == 0 {
		return nil
	}
	slices.SortStableFunc(spans, compareSpans)
	units := make([]int, len(text)+1)
	n := 0
	for i, r := range text {
		units[i] = n
		n += unitsOf(r)
	}
	units[len(text)] = n
	out := make([]gateway.Entity, len(spans))
	for i, s := range spans {
		out[i] = gateway.Entity{
			Type: s.kind, Offset: units[s.start], Length: units[s.end] - units[s.start],
			URL: s.url, Language: s.language,
		}
	}
	return out
}

// lastCluster is the end of the last grapheme cluster that ends at limit or
// before; limit when one cluster fills it all.
func lastCluster(text string, start, limit int) int {
	_, size := utf8.DecodeRuneInString(text[limit:])
	rest, state, end := text[start:limit+size], -1, start
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if end+len(cluster) > limit {
			break
		}
		end += len(cluster)
	}
	if end == start {
		return limit
	}
	return end
}
