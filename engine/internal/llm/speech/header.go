package speech

import (
	"regexp"
	"strings"
	"unicode"
)

// token leaves a token of a template out and does what it says.
func (s *scanner) token(m marker, at place) (taken, more bool) {
	if m.name == "s" {
		return s.strike(m)
	}
	r, more := s.next(m.size)
	if more && (at != atStart || s.out.listsMarkers()) {
		return false, true
	}
	if m.kind == endMarker && !strings.Contains(s.held[:m.size], "|") && (more || r != 0 && r != '\n' && r != '<' && r != '[') {
		return false, more // a word in brackets
	}
	switch {
	case at == atStart && r == '\n' && s.out.listsMarkers():
		return false, false
	case at == attached && unicode.IsLetter(r) && m.kind != channelMarker && m.kind != roleMarker && unicode.IsLetter(lastRune(s.out.line)) && !strings.HasPrefix(s.held[m.size:], "\n"):
		return false, false // said about the token
	case at == behind && (r != 0 && r != '\n' && r != '<' || isItem(s.out.line)), at == inside && (r != 0 || isItem(s.out.line)):
		return false, false
	}
	s.take(m.size)
	s.out.after = true
	s.act(m)
	return true, false
}

// strike tells Mistral's tokens from HTML.
func (s *scanner) strike(m marker) (taken, more bool) {
	r, more := s.next(m.size)
	switch {
	case m.close && s.seen.struck:
		s.seen.struck = false
		return false, false
	case m.close:
		if more || r != 0 && r != '\n' && r != '<' && r != '[' {
			return false, more
		}
		s.take(m.size)
		s.mode = scanEnded
		return true, false
	case more:
		return false, true
	case !s.out.said && s.out.line == "" && (r == '[' || strings.HasPrefix(s.held[m.size:], " ") || strings.HasPrefix(s.held[m.size:], "\n")):
		s.take(m.size)
		s.out.after = true
		return true, false
	}
	s.seen.struck = true
	return false, false
}

// act does what a token says.
func (s *scanner) act(m marker) {
	switch m.kind {
	case roleMarker:
		s.header, s.mode = "", inHeader
		if roleNames.MatchString(m.name) {
			s.header = strings.TrimPrefix(m.name, "im_") + " "
			if !strings.HasPrefix(m.name, "im_") {
				s.decideHeader()
			}
		}
	case channelMarker:
		s.header, s.mode = "assistant ", inHeader
	case stopMarker:
		s.out.line = "" // what follows is another message
	case endMarker:
		if s.out.said || len(s.calls) > 0 {
			s.mode = scanEnded
		}
	}
}

// maxHeader bounds what stands before the text of a message.
const maxHeader = 200

// head reads the role and the channel of a message.
func (s *scanner) head() bool {
	i := strings.IndexAny(s.held, "<\n")
	switch {
	case i < 0 && !s.final && len(s.header)+len(s.held) < maxHeader:
		return false
	case i < 0 || len(s.header)+i > maxHeader:
		s.header += s.take(min(len(s.held), 40)) // what no header is comes back
		s.decideHeader()
		return true
	case s.held[i] == '\n':
		s.header += s.take(i + 1)
		s.decideHeader()
		return true
	}
	m, more := readMarker(s.held[i:])
	if more && !s.final {
		return false
	}
	s.header += s.take(i)
	switch {
	case m.kind == headMarker:
		s.take(m.size)
		s.decideHeader()
	case m.kind == channelMarker || m.kind == otherMarker: // <|constrain|>
		s.take(m.size)
		s.header += " "
	default:
		s.decideHeader()
	}
	return true
}

// foreign are the roles whose words are not the model's.
var foreign = regexp.MustCompile(`^(?:system|user|human|tool|observation|developer|ipython|environment)\b`)

// thinkChannels are the channels of thinking.
var thinkChannels = regexp.MustCompile(`^(?:analysis|thought|think|thinking|reasoning)\b`)

// decideHeader begins the text of a message.
func (s *scanner) decideHeader() {
	header := strings.TrimSpace(s.header)
	s.header, s.mode, s.out.after = "", inText, true
	if foreign.MatchString(header) {
		s.mode = skipping
		if s.out.said || len(s.calls) > 0 {
			s.mode = scanEnded
		}
		return
	}
	role, channel, _ := strings.Cut(header, " ")
	if !roleNames.MatchString(role) {
		channel = header
	}
	if _, to, ok := strings.Cut(channel, "to="); ok || strings.Contains(role, "to=") {
		if !ok {
			_, to, _ = strings.Cut(role, "to=")
		}
		name, _, _ := strings.Cut(to, " ")
		s.region = region{endless: true}
		s.region.text.WriteString(name + " ")
		s.mode = inRegion
		return
	}
	channel = strings.TrimSpace(channel)
	word := thinkChannels.FindString(channel)
	rest := strings.TrimSpace(channel[len(word):])
	switch {
	case word != "":
		s.openThought()
		s.held = rest + s.held
	case strings.HasPrefix(channel, "final"), strings.HasPrefix(channel, "commentary"), channel == "", channel == role:
	default:
		s.held = channel + s.held // no header after all
	}
}

// skip leaves out what others are made to say, up to the next message.
func (s *scanner) skip() bool {
	i := strings.IndexAny(s.held, "<[")
	if i < 0 {
		s.held = ""
		return false
	}
	s.take(i)
	m, more := readMarker(s.held)
	switch {
	case more && !s.final:
		return false
	case m.kind == roleMarker || m.kind == channelMarker:
		s.take(m.size)
		s.act(m)
	case m.kind == stopMarker && m.name == "inst":
		s.take(m.size)
		s.mode, s.out.after = inText, true
	default:
		s.take(max(m.size, 1))
	}
	return true
}
