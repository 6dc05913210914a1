package speech

import (
	"regexp"
	"strings"
)

// marker is a tag or token at the beginning of a text.
type marker struct {
	kind  markerKind
	name  string // in lower case, without its brackets
	close bool
	size  int
}

type markerKind int

const (
	noMarker      markerKind = iota
	thinkMarker              // around thinking
	callMarker               // around a call, or around several
	resultMarker             // around what a tool is said to have returned
	roleMarker               // a message begins; its role follows, or is its name
	channelMarker            // the name of a channel follows
	headMarker               // the text of the message follows
	stopMarker               // the message ends
	endMarker                // the whole text ends
	answerMarker             // around the answer of a model that thinks in tags
	otherMarker              // any other token of a template
)

// maxMarker bounds a marker, in bytes.
const maxMarker = 200

var (
	tagBody     = regexp.MustCompile(`^[/|]*\pL[\pL\pN_:.|/=-]*(?:\s[^<>\n]*)?$`)
	partialBody = regexp.MustCompile(`^[/|]*(?:\pL[^<>\n]*)?$`)
	squareTag   = regexp.MustCompile(`^\[(/?[A-Z][A-Z_]{2,24})\]`)
	squareStart = regexp.MustCompile(`^\[/?[A-Z_ ]{0,24}$`)
	finalTag    = regexp.MustCompile(`^\[(BEGIN|END) FINAL RESPONSE\]`) // Apriel

	thinkName  = regexp.MustCompile(`^(?:\w+:)?(?:begin_of_|start_of_|start_|end_of_|end_)?(?:ant)?(?:think|thinking|thoughts?|analysis|reasoning|reflection|scratchpad|(?:inner|internal)_(?:monologue|thoughts?))$`)
	resultName = regexp.MustCompile(`^(?:\w+[:|])?(?:start_|end_)?(?:tool|function)s?_?(?:response|result|output)s?(?:_begin|_end|_start)?$`)
	callName   = regexp.MustCompile(`^(?:\w+[:|]|longcat_)?(?:start_|end_)?(?:(?:tool|function)_?(?:call|use|request|code)s?(?:_section)?(?:_begin|_end|_start)?|(?:execute|use)_(?:mcp_)?tool|invoke|function(?:=.*)?|python_tag|tools?)$`)
	answerName = regexp.MustCompile(`^(?:(?:final_)?(?:answer|response|output)|final)$`)
	actionName = regexp.MustCompile(`^(?:(?:start_|end_)action|action_(?:start|end))$`)

	roleStarts = regexp.MustCompile(`^(?:im_start|start_header_id|header_start|start_of_turn|start_of_role|start|turn)$`)
	roleNames  = regexp.MustCompile(`^(?:im_)?(?:system|user|human|assistant|model|ai|bot|tool|observation|developer|ipython)$`)
	heads      = regexp.MustCompile(`^(?:message|end_header_id|header_end|end_of_role|im_middle|im_sep)$`)
	stops      = regexp.MustCompile(`^(?:im_end|eot_id|eom_id|eot|end|end_of_turn|return|call|turn|turn_end|end_of_message|end_response|inst)$`)
	ends       = regexp.MustCompile(`^(?:endoftext|end_of_text|end_of_sentence|eos|s|eod|eos_token)$`)
)

// endNames end a text also as [EOS] and <EOT>.
var endNames = map[string]bool{"eos": true, "eot": true, "eod": true, "end_of_text": true, "endoftext": true, "end_of_utterance": true, "pad": true, "unk": true}

// plainSigns writes DeepSeek's tokens as those of others.
var plainSigns = strings.NewReplacer("｜", "|", "▁", "_")

// readMarker reads the marker that a text begins with. more says that the text
// is too short to tell.
func readMarker(text string) (m marker, more bool) {
	switch {
	case strings.HasPrefix(text, "["):
		if found := finalTag.FindStringSubmatch(text); found != nil {
			m = marker{kind: thinkMarker, name: "think", close: true, size: len(found[0])}
			if found[1] == "END" {
				m.kind, m.name = stopMarker, "end"
			}
			return m, false
		}
		if found := squareTag.FindStringSubmatch(text); found != nil {
			name, closes := strings.CutPrefix(found[1], "/")
			m = marker{name: strings.ToLower(name), close: closes, size: len(found[0])}
			if m.name == "think" || strings.Contains(m.name, "tool_") || m.name == "inst" || endNames[m.name] {
				m.classify(false)
			}
			return m, false
		}
		return m, squareStart.MatchString(text)
	case strings.HasPrefix(text, "◁"):
		end := strings.Index(text, "▷")
		if end < 0 {
			return m, len(text) < 40 && !strings.Contains(text, "\n")
		}
		name, closes := strings.CutPrefix(text[len("◁"):end], "/")
		m = marker{name: name, close: closes, size: end + len("▷")}
		m.classify(false)
		return m, false
	}
	body, _, ended := strings.Cut(text[1:min(len(text), maxMarker)], ">")
	if strings.ContainsAny(body, "<\n") {
		return m, false
	}
	plain := plainSigns.Replace(body)
	if !ended {
		return m, len(text) < maxMarker && partialBody.MatchString(plain)
	}
	if !tagBody.MatchString(plain) {
		return m, false
	}
	m.size = len(body) + 2
	name, _, _ := strings.Cut(strings.ToLower(plain), " ")
	token := strings.HasPrefix(name, "|") || strings.HasSuffix(name, "|")
	// Gemma closes <|tool_call> with <tool_call|>.
	m.close = strings.HasSuffix(name, "|") && !strings.HasPrefix(name, "|")
	name = strings.Trim(name, "|")
	if rest, closes := strings.CutPrefix(name, "/"); closes {
		m.close, name = true, strings.Trim(rest, "|")
	}
	m.name = name
	m.classify(token)
	return m, false
}

// classify finds the kind by the name.
func (m *marker) classify(token bool) {
	switch name := m.name; {
	case strings.HasSuffix(name, "/"): // <think/> is around nothing
		if m.name = strings.TrimSuffix(name, "/"); thinkName.MatchString(m.name) {
			m.kind = otherMarker
		}
	case name == "unused94" || name == "unused95" || name == "ctrl94" || name == "ctrl95": // Gemma, where nothing parses it
		m.kind, m.close = thinkMarker, strings.HasSuffix(name, "95")
	case thinkName.MatchString(name):
		m.kind = thinkMarker
		m.close = m.close || strings.HasPrefix(name, "end_")
	case !token && answerName.MatchString(name):
		m.kind = answerMarker
	case resultName.MatchString(name):
		m.kind = resultMarker
		m.close = m.close || strings.HasPrefix(name, "end_") || strings.HasSuffix(name, "_end")
	case callName.MatchString(name) || token && actionName.MatchString(name):
		m.kind = callMarker
		m.close = m.close || strings.HasPrefix(name, "end_") || strings.HasSuffix(name, "_end")
	case name == "start_of_turn":
		m.kind = roleMarker
	case name == "end_of_turn" || name == "inst" && m.close:
		m.kind = stopMarker
	case name == "inst":
		m.kind, m.name = roleMarker, "user"
	case !token && endNames[name]:
		m.kind = endMarker
	case name == "s" || name == "eos" || name == "bos":
		m.kind = endMarker
		if !m.close && name != "eos" {
			m.kind = otherMarker
		}
	case !token:
	case name == "channel" && m.close:
		m.kind = thinkMarker
	case name == "channel":
		m.kind = channelMarker
	case roleStarts.MatchString(name) && !m.close:
		m.kind = roleMarker
	case roleNames.MatchString(name):
		m.kind = roleMarker
	case heads.MatchString(name):
		m.kind = headMarker
	case stops.MatchString(name):
		m.kind = stopMarker
	case ends.MatchString(name):
		m.kind = endMarker
	default:
		m.kind = otherMarker
	}
}
