package openai

import (
	"encoding/json"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/speech"
)

// stops are the words for why an answer ended. What is not here says nothing.
var stops = map[string]llm.Stop{
	"length": llm.StopMaxTokens, "max_tokens": llm.StopMaxTokens, "max_output_tokens": llm.StopMaxTokens,
	"max_completion_tokens": llm.StopMaxTokens, "model_context_window_exceeded": llm.StopMaxTokens,
	"content_filter": llm.StopRefusal, "sensitive": llm.StopRefusal, "safety": llm.StopRefusal,
	"refusal": llm.StopRefusal, "recitation": llm.StopRefusal, "prohibited_content": llm.StopRefusal,
}

// finishError is the error that some reasons to end are.
func finishError(finish string, empty bool) error {
	switch strings.ToLower(finish) {
	case "error":
		return &llm.Error{Kind: llm.Overloaded, Message: "the provider ended the answer with an error"}
	case "network_error":
		return &llm.Error{Kind: llm.Network, Message: "the provider lost its connection to the model"}
	case "insufficient_system_resource", "abort":
		return &llm.Error{Kind: llm.Overloaded, Message: "the provider gave the answer up: " + finish}
	case "model_context_window_exceeded":
		if empty {
			return &llm.Error{Kind: llm.ContextOverflow, Message: "the context window is full"}
		}
	}
	return nil
}

// result is the whole answer. Calls decide about the reason more than the word for
// it does.
func (a *answer) result() llm.Result {
	stop := stops[strings.ToLower(a.finish)]
	calls := finishCalls(a.calls, a.request.Tools, a.provider)
	if len(calls) == 0 {
		calls = speech.PrintedCalls(a.printed, a.request.Tools, a.provider)
	}
	if stop == "" && wasCut(calls) && a.request.MaxTokens > 0 && a.usage.Output >= a.request.MaxTokens {
		stop = llm.StopMaxTokens
	}
	unwanted := a.request.NoTools && len(calls) > 0
	if a.request.NoTools || stop == llm.StopRefusal {
		calls = nil
	}
	switch {
	case stop == llm.StopMaxTokens:
		for i := range calls {
			calls[i].Fault = speech.CutFault
		}
	case a.refused.Len() > 0 && !a.speech.Silent() && len(calls) == 0: // the refusal alone is a whole answer
		stop = llm.StopRefusal
	case stop == "" && len(calls) > 0:
		stop = llm.StopCalls
	case stop == "":
		stop = llm.StopEnd
	}
	return llm.Result{
		Message: a.message(calls), Stop: stop, Usage: a.usage, Hidden: a.speech.Hidden(), Unwanted: unwanted, Model: a.model, RequestID: a.requestID,
	}
}

func (a *answer) message(calls []llm.ToolCall) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant}
	m.Blocks = a.speech.Blocks(llm.Thinking{Field: a.field, Provider: a.provider, Model: a.request.Model})
	if refused := a.refused.String(); strings.TrimSpace(refused) != "" && strings.TrimSpace(m.PlainText()) == "" {
		m.Blocks = append(m.Blocks, llm.Block{Text: refused})
	}
	for _, c := range calls {
		m.Blocks = append(m.Blocks, llm.Block{Call: &c})
	}
	if fields, err := json.Marshal(a.extra); err == nil && string(fields) != "{}" && len(m.Blocks) > 0 {
		m.Blocks = append(m.Blocks, llm.Block{Extra: &llm.Extra{Provider: a.provider, Model: a.request.Model, Fields: fields}})
	}
	return m
}
