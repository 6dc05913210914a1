package speech

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"klawbot/engine/internal/llm"
)

// region is a part of the text in which a model wrote calls.
type region struct {
	text  strings.Builder
	depth int
	// endless says that nothing but the end of the message ends it.
	endless bool
	// results says that it holds what a tool is said to have returned.
	results bool
	quotes  jsonQuotes
}

// jsonQuotes follows the strings of JSON.
type jsonQuotes struct{ begun, inside, escaped bool }

func (q *jsonQuotes) read(text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case q.escaped:
			q.escaped = false
		case q.inside && c == '\\':
			q.escaped = true
		case c == '"' && q.begun:
			q.inside = !q.inside
		case c == '{' || c == '[':
			q.begun = true
		}
	}
}

// openRegion begins a region at a marker, unless the text is about the marker.
func (s *scanner) openRegion(m marker, at place) (taken, more bool) {
	bare := m.name == "tool" || m.name == "tools" // which may be any XML
	if m.close {                                  // the end of nothing
		if bare || at == inside || at == behind {
			return false, false
		}
		s.take(m.size)
		s.out.after = true
		return true, false
	}
	if (bare || at != atStart) && m.kind == callMarker {
		meant, more := s.meansCall(m)
		if more || !meant && (bare || at != attached) {
			return false, more
		}
	} else if explains, more := explains(s.held[m.size:], s.tools); explains || more && !s.final {
		return false, more
	} else if at == inside || at == behind || s.out.isExample() && m.kind == resultMarker {
		return false, false
	}
	raw := s.take(m.size)
	s.region = region{results: m.kind == resultMarker, endless: raw == "[TOOL_CALLS]" || m.name == "python_tag" || raw == "<|tool_call|>"}
	s.mode = inRegion
	s.grow(raw, m)
	return true, false
}

// prose are two words behind a marker, as in "<tool_call> opens a call".
var (
	prose      = regexp.MustCompile(`^ \p{Ll}+ \p{Ll}+[ .,;:]`)
	proseBegun = regexp.MustCompile(`^(?: (?:\p{Ll}+(?: \p{Ll}*)?)?)?$`)
)

// explains reports whether rest, behind a marker, is a sentence about the marker. The name of a tool
// begins no sentence.
func explains(rest string, tools []llm.Tool) (yes, more bool) {
	if !prose.MatchString(rest) {
		return false, proseBegun.MatchString(rest)
	}
	return !declared(DeclaredName(callWord.FindString(rest[1:]), tools), tools), false
}

// mention are words behind a tag that speak of the tag: "<think> is a tag".
var mention = regexp.MustCompile(`^ (?:(?:is|are) (?:an?|the|used|one|what|not|just|how)|(?:and|or) \S|tags?|tokens?|blocks?|marks|opens|begins|starts|surrounds|wraps|stands|means|denotes|[–—]|это|тег|открывает|обозначает|начинает|означает|ist (?:ein|der|das)|est (?:une?|la)|es una?) ?`)

// mentions reports whether the text behind a tag is about it. more says that too few words are there.
func mentions(rest string) (yes, more bool) {
	if mention.MatchString(rest) {
		return true, false
	}
	return false, mentionBegun.MatchString(rest)
}

// mentionBegun are the first words of what may be a mention.
var mentionBegun = regexp.MustCompile(`^(?: (?:\p{Ll}{0,10}|(?:is|are|ist|est|es|and|or) \p{Ll}{0,5}|[–—])?)?$`)

// meansCall reports whether a call follows a marker within a line.
func (s *scanner) meansCall(m marker) (meant, more bool) {
	if strings.ContainsAny(m.name, "=") || m.name == "invoke" {
		return true, false
	}
	rest := strings.TrimSpace(s.held[m.size:])
	switch {
	case rest == "":
		return false, true
	case rest[0] == '{' || rest[0] == '[' || rest[0] == '<' && !strings.HasPrefix(m.name, "tools"):
		return true, false
	}
	word := callWord.FindString(rest)
	if word == rest && !s.final {
		return false, true
	}
	return declared(DeclaredName(word, s.tools), s.tools), false
}

// grow adds a marker to the region and follows how deep it is in it.
func (s *scanner) grow(raw string, m marker) {
	r := &s.region
	r.text.WriteString(raw)
	kind := callMarker
	if r.results {
		kind = resultMarker
	}
	switch {
	case m.kind != kind:
	case !m.close:
		r.depth++
	case strings.Contains(m.name, "calls"):
		r.depth = 0 // ends what is inside, too
	default:
		r.depth--
	}
}

// call takes in a region up to its end.
func (s *scanner) call() bool {
	r := &s.region
	if s.held == "" && s.final {
		s.endRegion()
		return true
	}
	i := strings.IndexAny(s.held, "<[")
	if i != 0 {
		if i < 0 {
			i = len(s.held)
		}
		piece := s.take(i)
		r.text.WriteString(piece)
		r.quotes.read(piece)
		return true
	}
	m, more := readMarker(s.held)
	if more && !s.final {
		return false
	}
	if m.kind == noMarker || r.quotes.inside {
		_, n := utf8.DecodeRuneInString(s.held)
		piece := s.take(max(n, 1))
		r.text.WriteString(piece)
		r.quotes.read(piece)
		return true
	}
	switch m.kind {
	case stopMarker, endMarker, roleMarker, channelMarker:
		if m.kind == stopMarker {
			s.take(m.size)
		}
		s.endRegion()
		return true
	}
	s.grow(s.take(m.size), m)
	if r.depth <= 0 && !r.endless {
		s.endRegion()
	}
	return true
}

// endRegion takes the calls out of a region. What cannot be read is kept back.
func (s *scanner) endRegion() {
	text, results := s.region.text.String(), s.region.results
	s.region, s.mode, s.out.after, s.out.block = region{}, inText, true, true
	if results {
		return
	}
	calls := readCalls(text, s.tools)
	if len(calls) == 0 {
		calls = namedOnly(text, s.tools)
	}
	if len(calls) == 0 {
		s.hidden = true
	}
	s.calls = append(s.calls, calls...)
}

// callKeys are the names by which JSON shows that it may be a call.
var callKeys = regexp.MustCompile(`^(?:\[\s*)?\{\s*["'](?:name|tool|tool_name|tool_call|function|type|id|tool_uses|recipient_name|action|arguments|parameters|tool_calls|function_call|content|role)["']\s*:`)

// wrapper matches JSON that can only be a call, also in the middle of a line.
var (
	wrapper      = regexp.MustCompile(`^\{\s*(?:"role"\s*:\s*"assistant"\s*,\s*)?(?:"content"\s*:\s*(?:null|"")\s*,\s*)?"(?:tool_uses|recipient_name|tool_calls)"\s*:`)
	wrapperBegun = regexp.MustCompile(`^\{\s*(?:"(?:\w*(?:"\s*(?::\s*(?:n?u?l?l?|"a?s?s?i?s?t?a?n?t?"?)\s*(?:,\s*(?:"\w*(?:"\s*)?)?)?)?)?)?)?$`)
)

// openWrapper begins JSON in a line that can only be a call.
func (s *scanner) openWrapper() (taken, more bool) {
	if wrapper.MatchString(s.held) {
		s.mode, s.value = inValue, valueEnd{}
		return true, false
	}
	return false, len(s.held) < 100 && wrapperBegun.MatchString(s.held)
}

// openValue begins JSON that may be a call.
func (s *scanner) openValue() (taken, more bool) {
	if callKeys.MatchString(s.held) {
		s.mode, s.value = inValue, valueEnd{}
		return true, false
	}
	if list := callList.FindStringSubmatch(s.held); list != nil && declared(DeclaredName(list[1], s.tools), s.tools) {
		s.mode, s.value = inValue, valueEnd{}
		return true, false
	}
	return false, callBegun.MatchString(s.held) && len(s.held) < 100
}

// callBegun is what callKeys and callList may match when more comes.
var callBegun = regexp.MustCompile(`^(?:(?:\[\s*)?(?:\{\s*(?:["']\w*(?:["']\s*)?)?)?|\[\s*[A-Za-z_][\w.]*(?: (?:[Uu]|[Cc])?[a-z]{0,3})?(?:: *[\w.]*)?)$`)

// callList is the beginning of [name(argument=value)].
var callList = regexp.MustCompile(`^\[\s*(?:[Tt]ool[ _](?:[Uu]se|[Cc]all): *)?([A-Za-z_][\w.]*)\(`)

// valueCall takes JSON in when it is a call of a tool that exists; else it is text.
func (s *scanner) valueCall() bool {
	whole := s.value.find(s.held)
	if !whole && !s.final && len(s.held) < maxHeld {
		return false
	}
	end := s.value.at
	r, more := s.next(end)
	if more && whole {
		return false
	}
	s.mode = inText
	if s.final && (!whole && (loose{s}).cut() || whole && r == 0 && (loose{s}).unwrap(end)) {
		return true
	}
	if only := wrapper.MatchString(s.held); whole && (r == 0 || r == '\n' || r == '<' || r == ';' || only) {
		if calls := readCalls(s.held[:end], s.tools); len(calls) > 0 || only {
			s.take(end)
			if r == ';' { // between Llama's calls
				s.held = strings.TrimLeft(s.held, " \t;")
			}
			s.hidden = s.hidden || len(calls) == 0
			s.calls = append(s.calls, calls...)
			s.out.after, s.out.block = true, true
			return true
		}
	}
	return s.say(end)
}

// valueEnd finds the end of a list or object, while it grows.
type valueEnd struct {
	at, depth int
	quote     byte
	whole     bool
}

// find reads on in the text, up to the end of the value that it begins with.
func (v *valueEnd) find(text string) (whole bool) {
	for ; v.at < len(text) && !v.whole; v.at++ {
		switch c := text[v.at]; {
		case v.quote != 0 && c == '\\':
			if v.at+1 == len(text) {
				return false
			}
			v.at++
		case v.quote != 0:
			if c == v.quote {
				v.quote = 0
			}
		case c == '"' || c == '\'' && v.at > 0 && strings.IndexByte("[{(:,= ", text[v.at-1]) >= 0:
			v.quote = c
		case c == '{' || c == '[' || c == '(':
			v.depth++
		case c == '}' || c == ']' || c == ')':
			v.depth--
			v.whole = v.depth <= 0
		}
	}
	return v.whole
}

// named begins a call that is written as functions.name, as some models do when the
// tokens around it were taken away.
var (
	named      = regexp.MustCompile(`^(?:(?:commentary )?to=functions\.|functions\.)([\w-]+)(?::\d+)?[^\S\n]*(?:<\|[\w]+\|>|code|json|commentary)*\s*([({<])`)
	namedBegun = []string{"functions.", "to=functions.", "commentary to=functions."}
)

func (s *scanner) openNamed() (taken, more bool) {
	if yes, maybe := begins(s.held, "functools["); yes && len(s.tools) > 0 {
		s.take(len("functools"))
		s.region = region{endless: true}
		s.mode = inRegion
		return true, false
	} else if maybe && !yes {
		return false, true
	}
	for _, prefix := range namedBegun {
		yes, maybe := begins(s.held, prefix)
		switch {
		case maybe && !yes:
			return false, true
		case !yes || len(s.tools) == 0:
			continue
		}
		if found := named.FindStringSubmatch(s.held); found != nil {
			if !declared(found[1], s.tools) {
				return false, false
			}
			s.region = region{endless: true}
			s.mode = inRegion
			return true, false
		}
		return false, len(s.held) < 100 && strings.Count(s.held, "\n") < 2
	}
	return false, false
}

// codeCall takes a block of code in when it is the whole answer and a call.
func (s *scanner) codeCall() bool {
	first, rest, _ := strings.Cut(s.held, "\n")
	body := strings.TrimLeft(rest, " \t\r\n")
	end := strings.Index(rest, "\n"+s.fence)
	if body == "" && !s.final || body != "" && end < 0 && !s.final && len(s.held) < maxHeld && s.mayBeCall(first, body) {
		return false
	}
	if end >= 0 {
		after := strings.TrimSpace(rest[end+1+len(s.fence):])
		if after == "" && !s.final {
			return false
		}
		if after == "" && s.mayBeCall(first, body) {
			if calls := readCalls(rest[:end], s.tools); len(calls) > 0 {
				s.held, s.mode, s.out.after = "", inText, true
				s.calls = append(s.calls, calls...)
				return true
			}
		}
	} else if s.final && s.mayBeCall(first, body) {
		if calls := readCalls(rest, s.tools); len(calls) > 0 {
			s.held, s.mode, s.out.after = "", inText, true
			s.calls = append(s.calls, calls...)
			return true
		}
	}
	s.mode = inFence
	return s.say(min(len(first)+1, len(s.held)))
}

// mayBeCall reports whether the beginning of a block of code can be a call.
func (s *scanner) mayBeCall(first, body string) bool {
	if strings.Contains(first, "tool_") {
		return true
	}
	tag, mayBeTag := begins(body, "<tool_call")
	return tag || mayBeTag || callKeys.MatchString(body) || callBegun.MatchString(body)
}

// Printed is a call that a model wrote as text.
type Printed struct{ Name, Arguments string }
