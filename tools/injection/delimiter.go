package injection

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// maxRoleToken is the longest role token, in bytes.
const maxRoleToken = 48

// The role tokens, which chat templates put between messages.
var (
	pipedToken  = regexp.MustCompile(`^<\|[a-z0-9_. -]{1,40}\|>`)
	knownToken  = regexp.MustCompile(`^<\|(im_(start|end|sep)|system|user|assistant|human|bot|tool|developer|end(oftext|ofprompt|_of_text)?|(start|end)_header_id|e(ot|om|nd)_id|begin_?of_?(text|sentence)|end_?of_?(sentence|turn)|start_of_turn(_token)?|end_of_turn_token|channel|message|start|return|call|constrain|python_tag|fim_[a-z]+|(begin|end)[_ ]of[_ ][a-z]+|tool_[a-z_]+|eot|pad|sep|chatbot_token|user_token|system_token)\|>`)
	roleFollows = regexp.MustCompile(`^\s{0,3}(system|assistant|developer|tool|user)\b`)
	heading     = regexp.MustCompile(`^#{2,4} ?(system|instruction|response|assistant|human|system prompt|new instructions?)( message)? ?:`)
)

// roleToken finds a role token at i.
func (r *reader) roleToken(i int) {
	text := r.text[i:min(len(r.text), i+maxRoleToken)]
	weight, hard := 0, false
	switch text[0] {
	case '#':
		if i > 0 && r.text[i-1] != '\n' || !bytes.HasPrefix(text, []byte("##")) || !heading.Match(text) {
			return
		}
		weight, hard = 4, true
		if bytes.Contains(text, []byte(" response")) && !bytes.Contains(text, []byte("instruction")) {
			r.found = append(r.found, signal{"role heading", 3, true, len(r.tokens), i, i + len(bytes.TrimSpace(text))})
			return
		}
	case '[':
		if !bracketToken(text) {
			return
		}
		weight, hard = 7, true
	default:
		weight, hard = angle(r.text[i:min(len(r.text), i+2*maxRoleToken)])
	}
	if weight > 0 {
		r.found = append(r.found, signal{"role token", weight, hard, len(r.tokens), i, i + len(bytes.TrimSpace(text))})
	}
}

// brackets are role tokens with square or double brackets.
var brackets = []string{
	"[inst]", "[/inst]", "<<sys>>", "<</sys>>", "<start_of_turn>", "<end_of_turn>", "[system_prompt]", "[/system_prompt]",
	"[available_tools]", "[/available_tools]", "[tool_calls]", "[tool_results]", "[/tool_results]",
}

func bracketToken(text []byte) bool {
	return slices.ContainsFunc(brackets, func(b string) bool { return len(text) >= len(b) && string(text[:len(b)]) == b })
}

// tags are names of tags that separate instructions from data.
var tags = map[string]bool{
	"tool_result": true, "tool_results": true, "tool_response": true, "tool_output": true, "tool_call": true, "tool_calls": true, "tool_use": true,
	"function_result": true, "function_results": true, "function_call": true, "function_calls": true, "function_response": true,
	"system-reminder": true, "system_reminder": true, "system-prompt": true, "system_prompt": true, "system-message": true, "system_message": true,
	"outside": true, "untrusted_data": true, "untrusted-data": true, "antml:invoke": true, "antml:function_calls": true, "antml:parameter": true,
}

// tagName is the name of the tag at the beginning of text, or "".
func tagName(text []byte) string {
	text = bytes.TrimPrefix(text[1:], []byte("/"))
	n := 0
	for n < len(text) && ('a' <= text[n] && text[n] <= 'z' || text[n] == '_' || text[n] == '-' || text[n] == ':') {
		n++
	}
	if n == 0 || n == len(text) || text[n] != '>' && text[n] != ' ' {
		return ""
	}
	return string(text[:n])
}

// angle weighs a role token in angle brackets at the beginning of text.
func angle(text []byte) (weight int, hard bool) {
	switch {
	case len(text) < 4:
	case text[1] == '|':
		token := pipedToken.Find(text)
		switch {
		case token == nil:
		case !knownToken.Match(token):
			return 3, false
		case bytes.Equal(token, []byte("<|system|>")), roleFollows.Match(text[len(token):]):
			return sumBlock, true
		default:
			return 7, true
		}
	case (text[1] == '<' || text[1] == 's' || text[1] == 'e') && bracketToken(text):
		return 7, true
	default:
		switch name := tagName(text); {
		case tags[name]:
			return 6, true
		case name == "system", name == "assistant":
			return 3, true
		}
	}
	return 0, false
}

// foldedRoleToken finds role tokens in unfolded text.
var foldedRoleToken = regexp.MustCompile(`(?i)<[|｜][^<>|｜\n]{1,40}[|｜]>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|</?(?:tool_(?:result|results|response|output|call|calls|use)|function_(?:result|results|calls|call|response)|system(?:[-_](?:reminder|prompt|message))?|assistant|antml:[a-z_]+)\b[^<>\n]{0,20}>`)

// Defuse breaks role tokens with a backslash, so that no chat template and no model reads
// them as the end of a message.
func Defuse(text string) string {
	if !strings.ContainsAny(text, "<[") {
		return text
	}
	return foldedRoleToken.ReplaceAllStringFunc(text, func(token string) string { return token[:1] + `\` + token[1:] })
}
