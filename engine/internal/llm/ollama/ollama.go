// Package ollama speaks Ollama's own chat protocol, because its imitation of
// OpenAI's does not let a request say how large the context window is: what does
// not fit would be left out without a word. It asks what a model can do, says
// how much room it needs, and notices when the server left something out. It
// keeps no conversation, repeats no answer and decides nothing about tools.
package ollama

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
)

// Client is one server. It may be used from several goroutines.
type Client struct {
	provider string
	endpoint *protocol.Endpoint
	compat   Compat
	log      *slog.Logger
	learned  protocol.Learned

	mu     sync.Mutex
	models map[string]model // guarded by mu; what was asked about them
}

var _ llm.Provider = (*Client)(nil)

const defaultBaseURL = "http://127.0.0.1:11434"

// New checks the configuration. It does not connect.
func New(c llm.Config) (*Client, error) {
	header := http.Header{}
	if c.APIKey != "" {
		header.Set("Authorization", "Bearer "+c.APIKey)
	}
	endpoint, err := protocol.New(protocol.Config{
		BaseURL: cmp.Or(c.BaseURL, defaultBaseURL), Paths: []string{"/chat", "/api", "/v1"},
		Header: header, Key: c.APIKey, HTTP: c.HTTP, Idle: c.IdleTimeout,
	})
	if err != nil {
		return nil, err
	}
	compat := Compat{Local: protocol.Local(endpoint.Host()), TextCalls: true, ReasoningReplay: llm.ReplayToolTurns}
	if err := compat.override(c.Compat); err != nil {
		return nil, err
	}
	return &Client{provider: c.Provider, endpoint: endpoint, compat: compat, log: c.Log, models: map[string]model{}}, nil
}

// Stream asks for one answer; see llm.Provider. A model that cannot call tools
// is not asked with any: that is an error of the kind Unsupported.
func (c *Client) Stream(ctx context.Context, r llm.Request, sink func(llm.Event)) (llm.Result, error) {
	nothing := llm.Result{Usage: llm.NoUsage}
	m := c.model(ctx, r.Model)
	if m.known && !m.can("tools") && len(r.Tools) > 0 && !r.NoTools {
		return nothing, &llm.Error{Kind: llm.Unsupported, Feature: "tools", Message: r.Model + " does not support tools"}
	}
	for {
		result, err := c.once(ctx, c.compat.drop(c.learned.Refused(r.Model)), m, r, sink)
		if !c.learned.From(r.Model, err, c.compat.without) {
			return result, err
		}
		c.log.Info("model refuses a parameter, asked again without it", "model", r.Model, "err", err)
	}
}

// once sends one request and reads its answer.
func (c *Client) once(ctx context.Context, compat Compat, m model, r llm.Request, sink func(llm.Event)) (llm.Result, error) {
	nothing := llm.Result{Usage: llm.NoUsage}
	window := compat.window(r, m)
	body, err := encode(c.provider, compat, window, r)
	if err != nil {
		return nothing, &llm.Error{Kind: llm.BadRequest, Message: "the request cannot be encoded", Err: err}
	}
	resp, err := c.endpoint.Post(ctx, "/api/chat", body, c.endpoint.Patience(compat.FirstByteSeconds, compat.Local))
	if err != nil {
		return nothing, err
	}
	defer resp.Close()
	a := newAnswer(c.provider, compat, r, sink)
	if err := a.read(resp.Body); err != nil {
		return llm.Result{Usage: a.usage}, resp.Fail(err, a.speech.Started())
	}
	resp.Drain()
	if a.speech.StrayClose() {
		c.learned.Note(r.Model, protocol.OpenedThinking)
	}
	result := a.result()
	result.RequestID = resp.RequestID
	if result.InputCut = wasCut(result.Usage.Input, r); result.InputCut {
		c.log.Warn("the server left out a part of the request: its context window is smaller than contextBudget",
			"model", r.Model, "read_tokens", result.Usage.Input, "estimated_tokens", llm.EstimateRequest(r), "num_ctx", window)
	}
	return result, nil
}

// leastCut is from how many tokens on an estimate is good enough to say that a
// server read less than it was sent.
const leastCut = 1000

// wasCut reports whether a server read much less than it was sent.
func wasCut(read int, r llm.Request) bool {
	sent := llm.EstimateRequest(r) - llm.EstimateImages(r.Messages) // pictures take what they take
	return read > 0 && sent >= leastCut && read*2 < sent
}

// Check asks for the list of models; see llm.Provider.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.Models(ctx)
	return err
}

// Models lists the names of the models that are there, sorted.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	var list struct {
		Models []struct {
			Name protocol.Text `json:"name"`
		} `json:"models"`
	}
	if err := c.endpoint.Get(ctx, "/api/tags", &list); err != nil {
		return nil, err
	}
	var names []string
	for _, m := range list.Models {
		names = append(names, string(m.Name))
	}
	slices.Sort(names)
	return names, nil
}
