package anthropic

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
)

// defaultMaxTokens is the longest answer when the request does not say: the API
// wants a number.
const defaultMaxTokens = 4096

type wireRequest struct {
	Model      string        `json:"model"`
	MaxTokens  int           `json:"max_tokens"`
	System     []block       `json:"system,omitempty"`
	Messages   []wireMessage `json:"messages"`
	Tools      []wireTool    `json:"tools,omitempty"`
	ToolChoice *wireChoice   `json:"tool_choice,omitempty"`
	Thinking   *wireThinking `json:"thinking,omitempty"`
	Stream     bool          `json:"stream,omitempty"`
}

type wireMessage struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type wireTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	Deferred     bool            `json:"defer_loading,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type wireChoice struct {
	Type string `json:"type"`
}

type wireThinking struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens"`
}

type cacheControl struct {
	Type string `json:"type"`
}

// encode writes the body of a request. paused are the blocks of an answer that
// the provider wants to continue.
func encode(provider string, c Compat, r llm.Request, paused []*part) ([]byte, error) {
	read, pictures := protocol.Pictures(r)
	msgs := llm.Normalize(read, llm.Shape{Provider: provider, Model: r.Model, Replay: c.ReasoningReplay})
	w := wireRequest{Model: r.Model, MaxTokens: r.MaxTokens, Stream: r.Stream, Tools: declare(r.Tools, msgs)}
	if w.MaxTokens <= 0 {
		w.MaxTokens = defaultMaxTokens
	}
	if (r.NoTools || len(r.Tools) == 0) && c.ToolChoiceNone && len(w.Tools) > 0 {
		w.ToolChoice = &wireChoice{"none"}
	}
	if strings.TrimSpace(r.System) != "" {
		w.System = []block{{Type: "text", Text: r.System}}
	}
	w.Messages = encodeMessages(pictures, msgs)
	for _, p := range paused {
		w.add("assistant", block{raw: p.raw()})
	}
	if c.DeferTools {
		w.deferFound()
	}
	w.Thinking = c.thinking(w)
	if c.Cache {
		w.markCache()
	}
	body, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	if w.Thinking != nil {
		delete(c.ExtraBody, temperature) // the two exclude each other
	}
	return protocol.Extend(body, c.ExtraBody)
}

// declare lists the tools. Those that only the history names are declared too,
// since some endpoints refuse calls of unknown tools.
func declare(tools []llm.Tool, msgs []llm.Message) []wireTool {
	var out []wireTool
	for _, t := range tools {
		out = append(out, wireTool{Name: t.Name, Description: t.Description, InputSchema: protocol.Schema(t.Parameters, "")})
	}
	if len(tools) > 0 {
		return out
	}
	for _, m := range msgs {
		for _, c := range m.Calls() {
			if !slices.ContainsFunc(out, func(t wireTool) bool { return t.Name == c.Name }) {
				out = append(out, wireTool{Name: c.Name, InputSchema: protocol.NoParameters})
			}
		}
	}
	return out
}

// thinking is how much the model may think, nil when that is left to it. The
// budget is below the limit of the answer, and a call that was made without
// thinking cannot be continued with thinking.
func (c Compat) thinking(w wireRequest) *wireThinking {
	budget := min(c.ThinkingTokens, w.MaxTokens-leastThinking)
	if budget < leastThinking {
		return nil
	}
	if n := len(w.Messages); n > 1 && w.Messages[n-1].Content[0].Type == "tool_result" {
		if first := w.Messages[n-2].Content[0].Type; first != "thinking" && first != "redacted_thinking" {
			return nil
		}
	}
	return &wireThinking{"enabled", budget}
}

// markCache marks the ends of what the next request will begin with: the tools,
// the system prompt, and the last two turns of the user. Four marks are allowed. Where
// tools were added behind the one that finds them, the tools before keep a mark of their
// own, and one turn of the user goes without.
func (w *wireRequest) markCache() {
	mark := &cacheControl{"ephemeral"}
	left := 2
	n := len(w.Tools)
	for n > 0 && w.Tools[n-1].Deferred { // these are no part of the beginning
		n--
	}
	if i := w.search(); i >= 0 && i < n-1 {
		w.Tools[i].CacheControl = mark
		left--
	}
	if n > 0 {
		w.Tools[n-1].CacheControl = mark
	}
	if n := len(w.System); n > 0 {
		w.System[n-1].CacheControl = mark
	}
	for _, m := range slices.Backward(w.Messages) {
		if m.Role == "user" && left > 0 {
			m.Content[len(m.Content)-1].CacheControl = mark
			left--
		}
	}
}

// search is the place of the tool that finds others, -1 without it.
func (w *wireRequest) search() int {
	return slices.IndexFunc(w.Tools, func(t wireTool) bool { return t.Name == "tool_search" })
}

// foundTool is the name of a tool in a result of tool_search.
var foundTool = regexp.MustCompile(`(?m)^## (\S+)$`)

// deferFound marks found tools as deferred and puts references to them into the result of
// tool_search, so that the model reads them there. One more tool at the beginning of the
// request would invalidate the prompt cache. A result that names other tools stays as it is.
func (w *wireRequest) deferFound() {
	first := w.search() + 1
	if first == 0 {
		return
	}
	searches := map[string]bool{}
	for _, m := range w.Messages {
		for i, b := range m.Content {
			if searches[b.ID] = b.Type == "tool_use" && b.Name == "tool_search"; b.Type != "tool_result" || !searches[b.ToolUseID] {
				continue
			}
			text, _ := b.Content.(string)
			var found []int
			var references []block
			for _, name := range foundTool.FindAllStringSubmatch(text, -1) {
				found = append(found, slices.IndexFunc(w.Tools, func(t wireTool) bool { return t.Name == name[1] }))
				references = append(references, block{Type: "tool_reference", ToolName: name[1]})
			}
			if len(found) == 0 || b.IsError || slices.Min(found) < first {
				continue
			}
			for _, at := range found {
				w.Tools[at].Deferred = true
			}
			m.Content[i].Content = references
		}
	}
}

// encodeMessages writes a history in which the roles alternate: results and what
// the user said after them are one message, the results first.
func encodeMessages(pictures map[string]string, msgs []llm.Message) []wireMessage {
	var w wireRequest
	ids := protocol.NewIDs("", msgs)
	for _, m := range msgs {
		for _, b := range picturesFirst(m) {
			if b.Extra != nil { // of another protocol, before the provider changed its type
				continue
			}
			w.add(roleOf(m.Role), encodeBlock(ids, pictures, b))
		}
	}
	if last := &w.Messages[len(w.Messages)-1]; last.Role == "assistant" {
		trimEnd(last)
	}
	return w.Messages
}

// picturesFirst puts pictures that end a message before its text, which models read
// better. Those with a text behind them, such as the end of a mark, stay in place.
func picturesFirst(m llm.Message) []llm.Block {
	first := len(m.Blocks)
	for first > 0 && m.Blocks[first-1].Image != nil {
		first--
	}
	return slices.Concat(m.Blocks[first:], m.Blocks[:first])
}

func roleOf(r llm.Role) string {
	if r == llm.RoleAssistant {
		return "assistant"
	}
	return "user"
}

// add puts a block into the last message when the role is the same.
func (w *wireRequest) add(role string, b block) {
	if n := len(w.Messages); n > 0 && w.Messages[n-1].Role == role {
		w.Messages[n-1].Content = append(w.Messages[n-1].Content, b)
		return
	}
	w.Messages = append(w.Messages, wireMessage{role, []block{b}})
}

// trimEnd takes white space from the end of an answer that the model continues: the
// API refuses it.
func trimEnd(m *wireMessage) {
	last := &m.Content[len(m.Content)-1]
	last.Text = strings.TrimRightFunc(last.Text, unicode.IsSpace)
}

func encodeBlock(ids protocol.IDs, pictures map[string]string, b llm.Block) block {
	switch {
	case b.Image != nil:
		return encodeImage(pictures, *b.Image)
	case b.Thinking != nil && b.Thinking.Redacted != "":
		return block{Type: "redacted_thinking", Data: b.Thinking.Redacted}
	case b.Thinking != nil:
		return block{Type: "thinking", Thinking: &b.Thinking.Text, Signature: b.Thinking.Signature}
	case b.Call != nil:
		return block{Type: "tool_use", ID: ids[b.Call.ID], Name: b.Call.Name, Input: json.RawMessage(b.Call.Arguments), extra: protocol.StoredExtra(b.Call.Extra)}
	case b.Result != nil:
		return block{Type: "tool_result", ToolUseID: ids[b.Result.CallID], Content: resultContent(pictures, *b.Result), IsError: b.Result.Failed}
	}
	return block{Type: "text", Text: b.Text}
}

func resultContent(pictures map[string]string, r llm.ToolResult) any {
	if len(r.Images) == 0 {
		return r.Text
	}
	content := []block{{Type: "text", Text: r.Text}}
	for _, i := range r.Images {
		content = append(content, encodeImage(pictures, i))
	}
	return content
}
