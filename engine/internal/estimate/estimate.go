// Package estimate says about how many tokens things take, and learns from what
// providers count. It decides nothing.
package estimate

import (
	"hash/maphash"
	"sync"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/model"
)

// Tokens is how many tokens things take. What is the same in every request,
// the system prompt and the tools, is estimated once; and what the providers
// report corrects the guess for each model.
type Tokens struct {
	mu sync.Mutex
	// known are the tokens of long texts, by their hash. Guarded by mu.
	known map[uint64]int
	// ratios are, by model, how many tokens the provider counts for one of
	// ours; windows are how many a request may have, where a provider said
	// that it is less than was configured. Guarded by mu.
	ratios  map[model.Key]float64
	windows map[model.Key]int
}

// New returns the Tokens of a bot that has learnt nothing yet.
func New() *Tokens {
	return &Tokens{known: map[uint64]int{}, ratios: map[model.Key]float64{}, windows: map[model.Key]int{}}
}

const (
	// longText is from when a text is worth to be remembered, in bytes.
	longText = 24
	// estimatesKept bounds what is remembered.
	estimatesKept = 4096
	// learning is how much a new report weighs, and learnFrom the least
	// estimate that is worth to learn from.
	learning  = 0.3
	learnFrom = 500
	// What a provider reports is believed within these bounds: pictures, caches
	// and requests that were cut would teach nonsense.
	leastRatio, mostRatio = 0.5, 2.0
	// LeastRoom is what messages have at least, whatever the tools take.
	LeastRoom = 1000
	// budgetMargin is the share of the budget that is used: estimates err.
	budgetMargin = 0.9
)

var estimateSeed = maphash.MakeSeed()

// Text is about how many tokens a text takes.
func (e *Tokens) Text(s string) int {
	if len(s) < longText {
		return llm.Estimate(s)
	}
	return e.remembered(maphash.String(estimateSeed, s), func() string { return s })
}

// schema is Text without a copy.
func (e *Tokens) schema(s []byte) int {
	return e.remembered(maphash.Bytes(estimateSeed, s), func() string { return string(s) })
}

// remembered is about how many tokens the text with a hash takes.
func (e *Tokens) remembered(key uint64, text func() string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n, ok := e.known[key]; ok {
		return n
	}
	n := llm.Estimate(text())
	if len(e.known) >= estimatesKept {
		clear(e.known)
	}
	e.known[key] = n
	return n
}

// Fixed is about what the system prompt and the tools of a request take.
func (e *Tokens) Fixed(system string, tools []llm.Tool) int {
	n := llm.EstimateRequest(llm.Request{}) + e.Text(system)
	for _, t := range tools {
		n += llm.EstimateTool(llm.Tool{}) + e.Text(t.Name) + e.Text(t.Description) + e.schema(t.Parameters)
	}
	return n
}

// request is llm.EstimateRequest, faster.
func (e *Tokens) request(r llm.Request) int {
	return e.Fixed(r.System, r.Tools) + e.Messages(r.Messages)
}

// Messages is the sum of Message.
func (e *Tokens) Messages(all []llm.Message) (n int) {
	for _, m := range all {
		n += e.Message(m)
	}
	return n
}

// Message is llm.EstimateMessage, faster.
func (e *Tokens) Message(m llm.Message) int {
	n := llm.EstimateMessage(llm.Message{})
	for _, b := range m.Blocks {
		if len(b.Text) >= longText {
			n += e.Text(b.Text)
			b.Text = ""
		}
		if r := b.Result; r != nil && len(r.Text) >= longText {
			n += e.Text(r.Text)
			b.Result = &llm.ToolResult{Images: r.Images}
		}
		n += llm.EstimateMessage(llm.Message{Blocks: []llm.Block{b}}) - llm.EstimateMessage(llm.Message{})
	}
	return n
}

// Words is Message without pictures, which leave a conversation before its words do.
func (e *Tokens) Words(m llm.Message) int { return e.Message(m) - llm.EstimateImages([]llm.Message{m}) }

// Learn compares the estimate of a request with what the provider counted. What pictures
// take differs too much between models.
func (e *Tokens) Learn(m model.Candidate, a model.Answer) {
	if !a.Result.InputCut && a.Result.Usage.Input > 0 && !llm.HasPictures(a.Sent.Messages) {
		e.learn(m.Key(), e.request(a.Sent), a.Result.Usage.Input)
	}
}

func (e *Tokens) learn(p model.Key, estimated, reported int) {
	if estimated < learnFrom || reported <= 0 {
		return
	}
	seen := min(max(float64(reported)/float64(estimated), leastRatio), mostRatio)
	e.mu.Lock()
	defer e.mu.Unlock()
	known, ok := e.ratios[p]
	if !ok {
		known = 1
	}
	e.ratios[p] = known + learning*(seen-known)
}

// ratio is how many tokens a model's provider counts for one of ours.
func (e *Tokens) ratio(p model.Key) float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r, ok := e.ratios[p]; ok {
		return r
	}
	return 1
}

// LearnWindow notes how many tokens a provider says that a request may have.
func (e *Tokens) LearnWindow(p model.Key, tokens int) {
	if tokens < LeastRoom {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.windows[p] = tokens
}

// Room is how many of our tokens the messages of a request to a model may take,
// beside what is the same in each and the answer.
func (e *Tokens) Room(c model.Candidate, fixed int) int {
	budget := c.Model.Window()
	e.mu.Lock()
	if window, ok := e.windows[c.Key()]; ok {
		budget = min(budget, window)
	}
	e.mu.Unlock()
	return int((float64(budget)*budgetMargin-float64(c.Model.MaxTokens))/e.ratio(c.Key())) - fixed
}
