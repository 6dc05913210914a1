package openai

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
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
	// ThinkTags keeps thinking in tags and the tokens of templates out of the text.
	ThinkTags bool `json:"thinkTags"`
	// TextCalls takes a call that was printed as text for a call.
	TextCalls bool `json:"textCalls"`
	// SchemaDialect is what the endpoint understands of JSON Schema: "", "gemini"
	// or "grammar".
	SchemaDialect protocol.Dialect `json:"schemaDialect"`
	// Local says that the endpoint is on the own machine or network: slow to begin.
	Local bool `json:"local"`
	// FirstByteSeconds is how long the first byte may take; 0 is ten minutes
	// for local endpoints and the idle timeout for others.
	FirstByteSeconds int `json:"firstByteSeconds"`
	// ExtraBody is added to every request, for switches of one provider
	// (reasoning_effort, chat_template_kwargs, temperature).
	ExtraBody map[string]json.RawMessage `json:"extraBody"`

	// opened says that the model begins in the middle of its thinking. It is learned.
	opened bool
}

const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
	streamOptions       = "stream_options"
	toolChoice          = "tool_choice"
)

// alternators are the families whose template wants the roles to alternate.
var alternators = regexp.MustCompile(`(?i)devstral|mi[sx]tral|codestral|gemma|llama-?2`)

// geminis are Google's models, also where others pass them on.
var geminis = regexp.MustCompile(`(?i)\bgemini\b`)

// detect says what is known of an endpoint and a model.
func detect(host, model string) Compat {
	c := Compat{
		MaxTokensField: maxTokens, ContentEmpty: "null", ReasoningReplay: llm.ReplayNever,
		StreamUsage: true, ToolChoiceNone: true, ThinkTags: true, TextCalls: true,
		MergeSameRole: alternators.MatchString(model),
	}
	if geminis.MatchString(model) {
		c.SchemaDialect = protocol.Gemini
	}
	switch {
	case protocol.Local(host):
		c.SchemaDialect = protocol.Grammar
		c.Local, c.ContentEmpty, c.ToolChoiceNone = true, "empty", false
	case protocol.Under(host, "api.openai.com"), protocol.Under(host, "openai.azure.com"):
		c.MaxTokensField = maxCompletionTokens
	case protocol.Under(host, "api.mistral.ai"):
		c.ToolIDFormat, c.BridgeAfterTool, c.StreamUsage = "mistral", true, false
	case protocol.Under(host, "api.deepseek.com"), protocol.Under(host, "xiaomimimo.com"):
		c.ReasoningReplay, c.ContentEmpty = llm.ReplayToolTurns, "empty"
	case protocol.Under(host, "moonshot.ai"), protocol.Under(host, "moonshot.cn"), protocol.Under(host, "api.kimi.com"):
		c.ReasoningReplay = llm.ReplayNonempty
	case protocol.Under(host, "z.ai"), protocol.Under(host, "bigmodel.cn"), protocol.Under(host, "api.minimax.io"):
		c.ReasoningReplay, c.ToolChoiceNone, c.MergeSameRole = llm.ReplayToolTurns, false, true
	case protocol.Under(host, "openrouter.ai"):
		c.ReasoningReplay = llm.ReplayToolTurns
	}
	return c
}

// override sets the fields that the configuration names, and checks them.
func override(c Compat, fields json.RawMessage) (Compat, error) {
	if err := protocol.Override(&c, fields); err != nil {
		return c, err
	}
	replays := []llm.Replay{"", llm.ReplayNever, llm.ReplayToolTurns, llm.ReplayAll, llm.ReplayNonempty}
	switch {
	case !slices.Contains([]string{"", maxTokens, maxCompletionTokens}, c.MaxTokensField):
		return c, errors.New("compat: maxTokensField is max_tokens or max_completion_tokens")
	case !slices.Contains([]string{"", "null", "empty", "omit"}, c.ContentEmpty):
		return c, errors.New("compat: contentEmpty is null, empty or omit")
	case c.ToolIDFormat != "" && c.ToolIDFormat != "mistral":
		return c, errors.New(`compat: toolIDFormat is "" or mistral`)
	case !slices.Contains(protocol.Dialects(), c.SchemaDialect):
		return c, errors.New(`compat: schemaDialect is "", gemini or grammar`)
	case !slices.Contains(replays, c.ReasoningReplay):
		return c, errors.New("compat: reasoningReplay is never, tool_turns, all or nonempty")
	}
	return c, nil
}

// without reports whether requests can do without a feature.
func (c Compat) without(feature string) bool {
	_, extra := c.ExtraBody[feature]
	return extra || feature == c.MaxTokensField || feature == streamOptions && c.StreamUsage ||
		feature == toolChoice && c.ToolChoiceNone || feature == protocol.SameRole && !c.MergeSameRole ||
		feature == llm.ToolSchema && c.SchemaDialect == ""
}

// drop does without the features that a model refused.
func (c Compat) drop(refused []string) Compat {
	c.ExtraBody = maps.Clone(c.ExtraBody)
	for _, feature := range refused {
		switch feature {
		case maxTokens:
			c.MaxTokensField = maxCompletionTokens
		case maxCompletionTokens:
			c.MaxTokensField = maxTokens
		case streamOptions:
			c.StreamUsage = false
		case toolChoice:
			c.ToolChoiceNone = false
		case protocol.OpenedThinking:
			c.opened = true
		case protocol.SameRole:
			c.MergeSameRole = true
		case llm.ToolSchema:
			c.SchemaDialect = protocol.Grammar
		}
		delete(c.ExtraBody, feature)
	}
	return c
}
