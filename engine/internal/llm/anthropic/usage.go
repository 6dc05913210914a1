package anthropic

import (
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
)

// usage is what a message_start and a message_delta say about the tokens.
type usage struct {
	Input      protocol.Count `json:"input_tokens"`
	Output     protocol.Count `json:"output_tokens"`
	CacheWrite protocol.Count `json:"cache_creation_input_tokens"`
	CacheRead  protocol.Count `json:"cache_read_input_tokens"`
}

// merge takes in what came later. The input is the one of the start, unless
// that had none; the output is cumulative, so the last word counts. Nothing is
// ever added up.
func (u *usage) merge(later *usage) {
	if later == nil {
		return
	}
	if u.Input.N == 0 && u.CacheWrite.N == 0 && u.CacheRead.N == 0 {
		u.Input, u.CacheWrite, u.CacheRead = later.Input, later.CacheWrite, later.CacheRead
	}
	if later.Output.Known {
		u.Output = later.Output
	}
}

// total is the usage in our words: the input holds what the cache took and gave.
func (u usage) total() llm.Usage {
	out := llm.NoUsage
	if input := u.Input.N + u.CacheWrite.N + u.CacheRead.N; input > 0 { // no prompt takes no tokens
		out.Input = input
	}
	if u.Output.Known && (u.Output.N > 0 || out.Input > 0) {
		out.Output = u.Output.N
	}
	if u.CacheRead.Known {
		out.Cached = u.CacheRead.N
	}
	return out
}
