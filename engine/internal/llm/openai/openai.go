// Package openai speaks the chat completions protocol of OpenAI and of
// everything that imitates it, and puts up with how they differ: what a
// provider is known to want is in Compat, what arrives is decoded
// tolerantly, and an answer is only called whole when it was. It keeps no
// conversation, repeats no answer and decides nothing about tools.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
)

// Client is one endpoint. It may be used from several goroutines.
type Client struct {
	provider string
	endpoint *protocol.Endpoint
	compat   json.RawMessage
	log      *slog.Logger
	learned  protocol.Learned
}

var _ llm.Provider = (*Client)(nil)

const defaultBaseURL = "https://api.openai.com/v1"

// New checks the configuration. It does not connect.
func New(c llm.Config) (*Client, error) {
	header := http.Header{}
	if c.APIKey != "" {
		header.Set("Authorization", "Bearer "+c.APIKey)
	}
	endpoint, err := protocol.New(protocol.Config{
		BaseURL: cmp.Or(c.BaseURL, defaultBaseURL), Paths: []string{"/chat/completions"},
		Header: header, Key: c.APIKey, HTTP: c.HTTP, Idle: c.IdleTimeout,
	})
	if err != nil {
		return nil, err
	}
	if _, err := override(Compat{}, c.Compat); err != nil {
		return nil, err
	}
	return &Client{provider: c.Provider, endpoint: endpoint, compat: c.Compat, log: c.Log}, nil
}

// Stream asks for one answer; see llm.Provider.
func (c *Client) Stream(ctx context.Context, r llm.Request, sink func(llm.Event)) (llm.Result, error) {
	for {
		compat, err := override(detect(c.endpoint.Host(), r.Model), c.compat)
		if err != nil {
			return llm.Result{Usage: llm.NoUsage}, err
		}
		compat = compat.drop(c.learned.Refused(r.Model))
		result, err := c.once(ctx, compat, r, sink)
		if !c.learned.From(r.Model, err, compat.without) {
			return result, err
		}
		c.log.Info("model refuses a parameter, asked again without it", "model", r.Model, "err", err)
	}
}

// once sends one request and reads its answer.
func (c *Client) once(ctx context.Context, compat Compat, r llm.Request, sink func(llm.Event)) (llm.Result, error) {
	nothing := llm.Result{Usage: llm.NoUsage}
	body, err := encode(c.provider, compat, r)
	if err != nil {
		return nothing, &llm.Error{Kind: llm.BadRequest, Message: "the request cannot be encoded", Err: err}
	}
	resp, err := c.endpoint.Post(ctx, "/chat/completions", body, c.endpoint.Patience(compat.FirstByteSeconds, compat.Local))
	if err != nil {
		return nothing, err
	}
	defer resp.Close()
	a := newAnswer(c.provider, compat, r, sink)
	a.requestID = resp.RequestID
	err = a.read(resp.Body, resp.Finished)
	if err == nil || a.finish != "" && !protocol.Complains(err) {
		resp.Drain()
		if a.speech.StrayClose() {
			c.learned.Note(r.Model, protocol.OpenedThinking)
		}
		return a.result(), nil
	}
	return llm.Result{Usage: a.usage}, resp.Fail(err, a.speech.Started())
}

// Check asks for the list of models; see llm.Provider.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.Models(ctx)
	return err
}

// Models lists the names that the endpoint gives its models, sorted. An
// endpoint may list none.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	return c.endpoint.Models(ctx, "/models")
}
