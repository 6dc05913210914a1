package engine

import (
	"hash/maphash"
	"sync"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/model"
)

// estimates are how many tokens things take. What is the same in every request,
// the system prompt and the tools, is estimated once; and what the providers
// report corrects the guess for each model. The zero value is ready.
type estimates struct {
	mu sync.Mutex
	// known are the tokens of long texts, by their hash. Guarded by mu.
	known map[uint64]int
	// ratios are, by model, how many tokens the provider counts for one of
	// ours; windows are how many a request may have, where a provider said
	// that it is less than was configured. Guarded by mu.
	ratios  map[model.Key]float64
	windows map[model.Key]int
}

const (
	// longText is from when a text is worth to be remembered, in bytes.
	longText = 200
	// estimatesKept bounds what is remembered.
	estimatesKept = 4096
	// learning is how much a new report weighs, and learnFrom the least
	// estimate that is worth to learn from.
	learning  = 0.3
	learnFrom = 500
	// What a provider reports is believed within these bounds: pictures, caches
	// and requests that were cut would teach nonsense.
	leastRatio, mostRatio = 0.5, 2.0
)

var estimateSeed = maphash.MakeSeed()

// text is about how many tokens a text takes.
func (e *estimates) text(s string) int {
	if len(s) < longText {
		return llm.Estimate(s)
	}
	key := maphash.String(estimateSeed, s)
	e.mu.Lock()
	n, ok := e.known[key]
	e.mu.Unlock()
	if ok {
		return n
	}
	n = llm.Estimate(s)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil || len(e.known) >= estimatesKept {
		e.known = map[uint64]int{}
	}
	e.known[key] = n
	return n
}

// fixed is about what the system prompt and the tools of a request take.
func (e *estimates) fixed(system string, tools []llm.Tool) int {
	n := llm.EstimateRequest(llm.Request{}) + e.text(system)
	for _, t := range tools {
		n += llm.EstimateTool(llm.Tool{}) + e.text(t.Name) + e.text(t.Description) + e.text(string(t.Parameters))
	}
	return n
}

// request is llm.EstimateRequest, faster.
func (e *estimates) request(r llm.Request) int {
	n := e.fixed(r.System, r.Tools)
	for _, m := range r.Messages {
		n += e.message(m)
	}
	return n
}

// message is llm.EstimateMessage, faster.
func (e *estimates) message(m llm.Message) int {
	n := llm.EstimateMessage(llm.Message{})
	for _, b := range m.Blocks {
		if len(b.Text) >= longText {
			n += e.text(b.Text)
			b.Text = ""
		}
		if r := b.Result; r != nil && len(r.Text) >= longText {
			n += e.text(r.Text)
			b.Result = &llm.ToolResult{}
		}
		n += llm.EstimateMessage(llm.Message{Blocks: []llm.Block{b}}) - llm.EstimateMessage(llm.Message{})
	}
	return n
}

// learn compares an estimate with what the provider counted.
func (e *estimates) learn(p model.Key, estimated, reported int) {
	if estimated < learnFrom || reported <= 0 {
		return
	}
	seen := min(max(float64(reported)/float64(estimated), leastRatio), mostRatio)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ratios == nil {
		e.ratios = map[model.Key]float64{}
	}
	known, ok := e.ratios[p]
	if !ok {
		known = 1
	}
	e.ratios[p] = known + learning*(seen-known)
}

// ratio is how many tokens a model's provider counts for one of ours.
func (e *estimates) ratio(p model.Key) float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r, ok := e.ratios[p]; ok {
		return r
	}
	return 1
}

// learnWindow notes how many tokens a provider says that a request may have.
func (e *estimates) learnWindow(p model.Key, tokens int) {
	if tokens < leastRoom {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.windows == nil {
		e.windows = map[model.Key]int{}
	}
	e.windows[p] = tokens
}

// room is how many of our tokens the messages of a request to a model may take,
// beside what is the same in each and the answer.
func (e *estimates) room(c model.Candidate, fixed int) int {
	budget := max(c.Model.ContextBudget, minBudget)
	e.mu.Lock()
	if window, ok := e.windows[c.Key()]; ok {
		budget = min(budget, window)
	}
	e.mu.Unlock()
	return int((float64(budget)*budgetMargin-float64(c.Model.MaxTokens))/e.ratio(c.Key())) - fixed
}
