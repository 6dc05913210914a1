package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"klawbot/engine/internal/llm"
)

// Compat says how an endpoint differs from the others. It is detected from the
// host and the model; the configuration overrides single fields by the JSON
// names.
type Compat struct {
	// MaxTokensField is "max_tokens" or "max_completion_tokens".
	MaxTokensField string `json:"maxTokensField"`
	// ContentEmpty is what stands for no words beside calls: "null", "empty"
	// (a string) or "omit".
	ContentEmpty string `json:"contentEmpty"`
	// ToolIDFormat is "" (up to 40 letters, digits, _ and -) or "mistral"
	// (exactly 9 letters and digits).
	ToolIDFormat string `json:"toolIDFormat"`
	// MergeSameRole makes one message of user messages that follow each
	// other. It is learned from a refusal, too.
	MergeSameRole bool `json:"mergeSameRole"`
	// BridgeAfterTool puts a line between results and a user message.
	BridgeAfterTool bool `json:"bridgeAfterTool"`
	// ReasoningReplay is which thinking goes back to the model.
	ReasoningReplay llm.Replay `json:"reasoningReplay"`
	// StreamUsage asks for the usage at the end of a stream.
	StreamUsage bool `json:"streamUsage"`
	// ToolChoiceNone says that the endpoint knows tool_choice "none". Without
	// it, tools are left out of a request that forbids calls when no message
	// names them.
	ToolChoiceNone bool `json:"toolChoiceNone"`
	// ThinkTags says that the model may begin with <think> in its text.
	ThinkTags bool `json:"thinkTags"`
	// TextCalls takes a call that was printed as text for a call.
	TextCalls bool `json:"textCalls"`
	// Local says that the endpoint is one's own machine: slow to begin.
	Local bool `json:"local"`
	// FirstByteSeconds is how long the first byte may take; 0 is ten minutes
	// for local endpoints and the idle timeout for others.
	FirstByteSeconds int `json:"firstByteSeconds"`
	// ExtraBody is added to every request, for switches of one provider
	// (reasoning_effort, chat_template_kwargs, temperature).
	ExtraBody map[string]json.RawMessage `json:"extraBody"`
}

const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
	streamOptions       = "stream_options"
	toolChoice          = "tool_choice"
	// sameRole is the Feature of an error that wants the roles to alternate.
	sameRole = "messages of one role in a row"
)

// alternators are the families whose template wants the roles to alternate.
var alternators = regexp.MustCompile(`(?i)devstral|mi[sx]tral|codestral|gemma|llama-?2`)

// thinkers are the families whose template leaves the tags in the text.
var thinkers = regexp.MustCompile(`(?i)qwen3|qwq|deepseek-?r1|\br1\b|glm-?(z1|4\.[5-9])|magistral|minimax-m|exaone-deep|smollm3|hunyuan|nemotron|phi-?4.*reasoning|seed-oss|gemma-?4|marco-o1|openthinker|cogito|lfm2.*thinking`)

// detect says what is known of an endpoint and a model.
func detect(host, model string) Compat {
	c := Compat{
		MaxTokensField: maxTokens, ContentEmpty: "null", ReasoningReplay: llm.ReplayNever,
		StreamUsage: true, ToolChoiceNone: true, ThinkTags: thinkers.MatchString(model),
		MergeSameRole: alternators.MatchString(model),
	}
	switch {
	case isLocal(host):
		c.Local, c.TextCalls, c.ContentEmpty, c.ToolChoiceNone = true, true, "empty", false
	case under(host, "api.openai.com"), under(host, "openai.azure.com"):
		c.MaxTokensField = maxCompletionTokens
	case under(host, "api.mistral.ai"):
		c.ToolIDFormat, c.BridgeAfterTool, c.StreamUsage = "mistral", true, false
	case under(host, "api.deepseek.com"), under(host, "xiaomimimo.com"):
		c.ReasoningReplay, c.ContentEmpty = llm.ReplayToolTurns, "empty"
	case under(host, "moonshot.ai"), under(host, "moonshot.cn"), under(host, "api.kimi.com"):
		c.ReasoningReplay = llm.ReplayNonempty
	case under(host, "z.ai"), under(host, "bigmodel.cn"), under(host, "api.minimax.io"):
		c.ReasoningReplay, c.ToolChoiceNone, c.MergeSameRole = llm.ReplayToolTurns, false, true
	case under(host, "openrouter.ai"):
		c.ReasoningReplay = llm.ReplayToolTurns
	}
	return c
}

// under reports whether host is domain or below it.
func under(host, domain string) bool {
	host = strings.ToLower(host)
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// isLocal reports whether a host is this machine or its network.
func isLocal(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	host = strings.ToLower(host)
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") ||
		strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".internal")
}

// override sets the fields that the configuration names, and checks them.
func override(c Compat, fields json.RawMessage) (Compat, error) {
	if len(fields) == 0 {
		return c, nil
	}
	dec := json.NewDecoder(bytes.NewReader(fields))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, fmt.Errorf("compat: %w", err)
	}
	replays := []llm.Replay{"", llm.ReplayNever, llm.ReplayToolTurns, llm.ReplayAll, llm.ReplayNonempty}
	switch {
	case !slices.Contains([]string{"", maxTokens, maxCompletionTokens}, c.MaxTokensField):
		return c, errors.New("compat: maxTokensField is max_tokens or max_completion_tokens")
	case !slices.Contains([]string{"", "null", "empty", "omit"}, c.ContentEmpty):
		return c, errors.New("compat: contentEmpty is null, empty or omit")
	case c.ToolIDFormat != "" && c.ToolIDFormat != "mistral":
		return c, errors.New(`compat: toolIDFormat is "" or mistral`)
	case !slices.Contains(replays, c.ReasoningReplay):
		return c, errors.New("compat: reasoningReplay is never, tool_turns, all or nonempty")
	}
	return c, nil
}

func (c Compat) firstByte(idle time.Duration) time.Duration {
	switch {
	case c.FirstByteSeconds > 0:
		return time.Duration(c.FirstByteSeconds) * time.Second
	case c.Local:
		return max(idle, localFirstByte)
	}
	return idle
}

// learned are the parameters that models refused while the process runs.
type learned struct {
	mu      sync.Mutex
	refused map[string][]string // guarded by mu; by model
}

// from learns from an error and reports whether to ask again: each parameter is
// dropped once, so this ends.
func (l *learned) from(model string, c Compat, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Unsupported || e.Started {
		return false
	}
	known := e.Feature == c.MaxTokensField || e.Feature == streamOptions && c.StreamUsage || e.Feature == toolChoice && c.ToolChoiceNone ||
		e.Feature == sameRole && !c.MergeSameRole
	l.mu.Lock()
	defer l.mu.Unlock()
	if !known || slices.Contains(l.refused[model], e.Feature) {
		return false
	}
	l.refused[model] = append(l.refused[model], e.Feature)
	return true
}

func (l *learned) apply(model string, c Compat) Compat {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, feature := range l.refused[model] {
		switch feature {
		case maxTokens:
			c.MaxTokensField = maxCompletionTokens
		case maxCompletionTokens:
			c.MaxTokensField = maxTokens
		case streamOptions:
			c.StreamUsage = false
		case toolChoice:
			c.ToolChoiceNone = false
		case sameRole:
			c.MergeSameRole = true
		}
	}
	return c
}
