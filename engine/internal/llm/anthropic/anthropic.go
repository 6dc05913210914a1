// Package anthropic speaks the Messages API of Anthropic and of the endpoints
// that imitate it. Thinking goes back with its signatures as it came, an answer
// is only called whole when it was, and a tool call that the token limit cut
// says so. It keeps no conversation, repeats no answer and decides nothing about
// tools.
package anthropic

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
	"klawbot/engine/internal/llm/speech"
)

// Client is one endpoint. It may be used from several goroutines.
type Client struct {
	provider string
	endpoint *protocol.Endpoint
	compat   Compat
	log      *slog.Logger
	learned  protocol.Learned
}

var _ llm.Provider = (*Client)(nil)

const (
	defaultBaseURL = "https://api.anthropic.com"
	version        = "2023-06-01"
	// maxPauses is how often an answer may pause before it is given up.
	maxPauses = 3
)

// New checks the configuration. It does not connect.
func New(c llm.Config) (*Client, error) {
	endpoint, err := newEndpoint(c)
	if err != nil {
		return nil, err
	}
	compat := detect(endpoint.Host())
	if err := compat.override(c.Compat); err != nil {
		return nil, err
	}
	return &Client{provider: c.Provider, endpoint: endpoint, compat: compat, log: c.Log}, nil
}

// newEndpoint sends the key to Anthropic as it wants it, and to others both
// ways that are in use.
func newEndpoint(c llm.Config) (*protocol.Endpoint, error) {
	header := http.Header{"Anthropic-Version": {version}}
	endpoint, err := protocol.New(protocol.Config{
		BaseURL: cmp.Or(c.BaseURL, defaultBaseURL), Paths: []string{"/messages", "/v1"},
		Header: header, Key: c.APIKey, HTTP: c.HTTP, Idle: c.IdleTimeout,
	})
	if err == nil && c.APIKey != "" {
		header.Set("X-Api-Key", c.APIKey)
		if !protocol.Under(endpoint.Host(), "anthropic.com") {
			header.Set("Authorization", "Bearer "+c.APIKey)
		}
	}
	return endpoint, err
}

// Stream asks for one answer; see llm.Provider. An answer that the provider
// pauses is asked for on, as it wants it.
func (c *Client) Stream(ctx context.Context, r llm.Request, sink func(llm.Event)) (llm.Result, error) {
	for {
		compat := c.compat.drop(c.learned.Refused(r.Model))
		a := newAnswer(c.provider, speech.NewReading(r, true, compat.TextCalls, compat.opened), r, sink)
		err := c.whole(ctx, compat, r, a)
		if c.learned.From(r.Model, err, compat.without) {
			c.log.Info("model refuses a parameter, asked again without it", "model", r.Model, "err", err)
			continue
		}
		if err != nil {
			return llm.Result{Usage: a.used()}, err
		}
		result := a.result()
		if a.strayClose() {
			c.learned.Note(r.Model, protocol.OpenedThinking)
		}
		return result, nil
	}
}

// whole asks until the answer is not paused any more.
func (c *Client) whole(ctx context.Context, compat Compat, r llm.Request, a *answer) error {
	for range maxPauses + 1 {
		body, err := encode(c.provider, compat, r, a.blocks)
		if err != nil {
			return &llm.Error{Kind: llm.BadRequest, Message: "the request cannot be encoded", Err: err}
		}
		if err := c.once(ctx, compat, body, a); err != nil || a.stop != stopPause {
			return err
		}
		c.log.Debug("answer paused, continuing it", "model", r.Model)
	}
	return &llm.Error{Kind: llm.Truncated, Message: "the answer paused too often", Started: a.started}
}

// once sends one request and reads its answer.
func (c *Client) once(ctx context.Context, compat Compat, body []byte, a *answer) error {
	resp, err := c.endpoint.Post(ctx, "/v1/messages", body, c.endpoint.Patience(compat.FirstByteSeconds, compat.Local))
	if err != nil {
		return err
	}
	defer resp.Close()
	a.begin(resp.RequestID)
	err = a.read(resp.Body, resp.Finished)
	if err == nil || a.stop != "" && !protocol.Complains(err) { // what is complete counts, however it ends
		err = a.verdict()
	}
	if err != nil {
		return resp.Fail(err, a.started)
	}
	resp.Drain()
	return nil
}

// Check asks for the list of models; see llm.Provider.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.Models(ctx)
	return err
}

// Models lists the names that the endpoint gives its models, sorted. An
// endpoint may list none.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	return c.endpoint.Models(ctx, "/v1/models?limit=1000")
}

// Sees: all models of the API take pictures; see llm.Seer.
func (c *Client) Sees(context.Context, string) (yes, known bool) { return true, true }
