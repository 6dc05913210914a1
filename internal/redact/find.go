package redact

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a range of bytes of a text.
type Span struct{ Start, End int }

// Find lists where secrets stand in a text, in order and apart.
func (s *Set) Find(text string) []Span {
	if len(text) < minLength {
		return nil // no value and no pattern is as short
	}
	spans := append(s.findKnown(text), findPatterns(text)...)
	if seen.keep(text) != text { // where a blank that cannot be seen is the end of a word, too
		spans = append(spans, seen.find(text, findPatterns)...)
	}
	return merged(spans)
}

// findKnown lists where known values stand, in order and apart.
func (s *Set) findKnown(text string) []Span {
	values, letters := s.known()
	spans := seen.find(text, func(text string) []Span { return findAll(text, values) })
	if len(letters) > 0 {
		spans = append(spans, alphanumeric.find(text, func(text string) []Span { return findAll(text, letters) })...)
	}
	return merged(spans)
}

func findAll(text string, values []string) (all []Span) {
	for _, v := range values {
		for from := 0; ; {
			i := strings.Index(text[from:], v)
			if i < 0 {
				break
			}
			all = append(all, Span{from + i, from + i + len(v)})
			from += i + len(v)
		}
	}
	return all
}

// merged puts spans in order and joins those that overlap.
func merged(spans []Span) []Span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	kept := spans[:1]
	for _, s := range spans[1:] {
		if last := &kept[len(kept)-1]; s.Start < last.End {
			last.End = max(last.End, s.End)
		} else {
			kept = append(kept, s)
		}
	}
	return kept
}

// Replace returns text with mask's word for each of the spans, which are in order
// and apart.
func Replace(text string, spans []Span, mask func(secret string) string) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.Start])
		b.WriteString(mask(text[s.Start:s.End]))
		at = s.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// The shapes of keys that are secret wherever they stand are bot tokens of
// Telegram, keys of model providers, bearer headers, and names with passwords in
// addresses. begun are their beginnings at the end of a text.
var begun = regexp.MustCompile(`(?:\b\d{6,12}:[A-Za-z0-9_-]{1,29}|\bsk-[A-Za-z0-9_-]{1,15}|(?i:\bbearer)[ \t]+[A-Za-z0-9._~+/-]{1,15}|://[^\s/:@"]+:[^\s/@"]+)$`)

const (
	digits      = "0123456789"
	wordChars   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + digits + "_"
	keyChars    = wordChars + "-"
	headerChars = keyChars + ".~+/"
	blanks      = " \t\n\f\r"
)

// findPatterns looks for the shapes. It is written out because expressions take
// far longer, and every text that the bot keeps or says passes here.
func findPatterns(text string) (all []Span) {
	all = each(all, text, ":", func(at int) (Span, bool) { // 123456789:AAE-…
		from := max(0, at-12)
		start := from + len(strings.TrimRight(text[from:at], digits))
		end := after(text, at+1, keyChars)
		return Span{start, end}, at-start >= 6 && end-at > 30 && !hexadecimal(text[at+1:end])
	})
	all = each(all, text, "sk-", func(at int) (Span, bool) {
		end := after(text, at+3, keyChars)
		return Span{at, end}, wordAt(text, at) && end-at >= 19
	})
	all = each(all, text, "://", func(at int) (Span, bool) { // https://name:password@host
		start := at + 3
		colon := before(text, start, blanks+`/:@"`)
		if colon == start || colon == len(text) || text[colon] != ':' {
			return Span{}, false
		}
		end := before(text, colon+1, blanks+`/@"`)
		return Span{start, end}, end > colon+1 && end < len(text) && text[end] == '@'
	})
	for at := 0; at+6 <= len(text); at++ { // Bearer …, in letters of any case
		if text[at]|' ' != 'b' || !strings.EqualFold(text[at:at+6], "bearer") || !wordAt(text, at) {
			continue
		}
		start := after(text, at+6, " \t") // a key stands in the same line
		if end := after(text, start, headerChars); start > at+6 && end-start >= 16 && !words(text[start:end]) {
			all = append(all, Span{start, after(text, end, "=")})
			at = end - 1
		}
	}
	return all
}

// hexadecimal reports whether a text is a hash or a UUID, which no bot token is:
// 1700000000:550e8400-e29b-… is a time and an id.
func hexadecimal(text string) bool {
	return strings.Trim(text, digits+"abcdef-") == "" || strings.Trim(text, digits+"ABCDEF-") == ""
}

// words reports whether what follows the word bearer is no key: a name in capitals
// for one (YOUR_ACCESS_TOKEN), a line, a path or a long word of prose.
func words(text string) bool {
	has := func(from, to rune) bool {
		return strings.ContainsFunc(text, func(r rune) bool { return r >= from && r <= to })
	}
	return !has('0', '9') && (!has('a', 'z') || !has('A', 'Z') && len(text) < 24)
}

// each adds to all what look makes of each place of the mark.
func each(all []Span, text, mark string, look func(at int) (Span, bool)) []Span {
	for from := 0; ; {
		i := strings.Index(text[from:], mark)
		if i < 0 {
			return all
		}
		at := from + i
		from = at + len(mark)
		if span, found := look(at); found {
			all = append(all, span)
			from = max(from, span.End)
		}
	}
}

// after is the first place from at whose character is none of chars.
func after(text string, at int, chars string) int {
	return len(text) - len(strings.TrimLeft(text[at:], chars))
}

// before is the first place from at whose character is one of chars.
func before(text string, at int, chars string) int {
	if i := strings.IndexAny(text[at:], chars); i >= 0 {
		return at + i
	}
	return len(text)
}

// wordAt reports whether no word goes on at the place.
func wordAt(text string, at int) bool {
	return at == 0 || strings.IndexByte(wordChars, text[at-1]) < 0
}

const (
	// shownOfSecret is how much of a secret may be seen before it is known to be
	// one.
	shownOfSecret = 3
	// tailBytes is how much of the end of a text Begun looks at.
	tailBytes = 4 << 10
)

// Begun returns where a secret may begin that goes on beyond the end of the text,
// or the length of the text.
func (s *Set) Begun(text string) int {
	skipped := max(0, len(text)-tailBytes)
	tail := text[skipped:]
	values, letters := s.known()
	at := len(tail)
	look := func(which sieve, find func(string) int) {
		kept := which.keep(tail)
		if i := find(kept); i < len(kept) {
			at = min(at, which.places(tail, []Span{{i, len(kept)}})[0].Start)
		}
	}
	look(seen, func(kept string) int { return begins(kept, values) })
	look(alphanumeric, func(kept string) int { return begins(kept, letters) })
	look(seen, func(kept string) int {
		if m := begun.FindStringIndex(kept); m != nil {
			return m[0]
		}
		return len(kept)
	})
	return skipped + at
}

// begins returns where one of the values begins that the end of text cuts off, or
// the length of text.
func begins(text string, values []string) int {
	at := len(text)
	for _, v := range values {
		for n := min(len(v)-1, len(text)); n > shownOfSecret && len(text)-n < at; n-- {
			if strings.HasSuffix(text, v[:n]) {
				at = len(text) - n
				break
			}
		}
	}
	return at
}

type sieve struct {
	ascii [utf8.RuneSelf]bool
	other func(rune) bool
}

var (
	// seen lets through what a reader sees.
	seen = newSieve(func(r rune) bool {
		return !unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	})
	alphanumeric = newSieve(func(r rune) bool {
		return unicode.IsLetter(r) && r != hangulFiller && r != halfwidthFiller || unicode.IsDigit(r)
	})
)

// Letters to Unicode that are blank.
const (
	hangulFiller    = '\u3164'
	halfwidthFiller = '\uFFA0'
)

func newSieve(through func(rune) bool) (s sieve) {
	for r := range s.ascii {
		s.ascii[r] = through(rune(r))
	}
	s.other = through
	return s
}

// at reports whether the character at i goes through, and how long it is.
func (s *sieve) at(text string, i int) (through bool, size int) {
	if c := text[i]; c < utf8.RuneSelf {
		return s.ascii[c], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	return s.other(r), size
}

func (s *sieve) keep(text string) string {
	first := 0
	for first < len(text) {
		through, size := s.at(text, first)
		if !through {
			break
		}
		first += size
	}
	if first == len(text) {
		return text
	}
	kept := append(make([]byte, 0, len(text)), text[:first]...)
	for i := first; i < len(text); {
		through, size := s.at(text, i)
		if through {
			kept = append(kept, text[i:i+size]...)
		}
		i += size
	}
	return string(kept)
}

// find is find for what goes through, with its places in the whole text.
func (s *sieve) find(text string, find func(string) []Span) []Span {
	kept := s.keep(text)
	spans := find(kept)
	if len(spans) == 0 || len(kept) == len(text) {
		return spans
	}
	return s.places(text, merged(spans))
}

// places turns spans of what goes through, in order and apart, into spans of the
// text: from the first character to the last.
func (s *sieve) places(text string, spans []Span) []Span {
	places := make([]Span, len(spans))
	n, next := 0, 0 // so many bytes went through; the span to find
	for i := 0; i < len(text) && next < len(spans); {
		through, size := s.at(text, i)
		i += size
		if !through {
			continue
		}
		if n == spans[next].Start {
			places[next].Start = i - size
		}
		if n += size; n == spans[next].End {
			places[next].End = i
			next++
		}
	}
	return places
}
