// Package openai speaks the chat completions protocol of OpenAI and of
// everything that imitates it, and puts up with how they differ: what a
// provider is known to want stands in Compat, what arrives is decoded
// tolerantly, and an answer is only called whole when it was. It keeps no
// conversation, repeats no answer and decides nothing about tools.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/llm"
)

// Config is what New needs.
type Config struct {
	// Provider is the configured name of the endpoint. Thinking and the ids
	// of calls go back only to the provider of the same name.
	Provider string
	// BaseURL ends in /v1; empty is OpenAI's own.
	BaseURL string
	// APIKey is the bearer of every request; empty sends none.
	APIKey string
	// HTTP does the requests. It must not follow redirects. Required.
	HTTP *http.Client
	// Compat is a JSON object of fields of Compat that override what is known
	// of the endpoint; empty overrides nothing.
	Compat json.RawMessage
	// IdleTimeout is the longest silence; 0 is two minutes.
	IdleTimeout time.Duration
	// Log is required. It gets no message texts.
	Log *slog.Logger
}

// Client is one endpoint. It may be used from several goroutines.
type Client struct {
	provider string
	base     *url.URL
	key      string
	http     *http.Client
	compat   json.RawMessage
	idle     time.Duration
	log      *slog.Logger
	learned  learned
}

var _ llm.Provider = (*Client)(nil)

const (
	defaultBaseURL = "https://api.openai.com/v1"
	defaultIdle    = 2 * time.Minute
	// longest is how long an answer may take in all: heartbeats can keep a
	// dead answer alive for ever.
	longest = 15 * time.Minute
	// localFirstByte is how long a model on one's own machine may load and read.
	localFirstByte = 10 * time.Minute
)

// New checks the configuration. It does not connect.
func New(c Config) (*Client, error) {
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	base, err := url.Parse(strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/chat/completions"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, errors.New("baseURL is no http or https address")
	}
	if _, err := override(Compat{}, c.Compat); err != nil {
		return nil, err
	}
	if c.IdleTimeout <= 0 {
		c.IdleTimeout = defaultIdle
	}
	return &Client{
		provider: c.Provider, base: base, key: c.APIKey, http: c.HTTP, compat: c.Compat,
		idle: c.IdleTimeout, log: c.Log, learned: learned{refused: map[string][]string{}},
	}, nil
}

// Stream asks for one answer; see llm.Provider.
func (c *Client) Stream(ctx context.Context, r llm.Request, sink func(llm.Event)) (llm.Result, error) {
	for {
		compat, err := override(detect(c.base.Hostname(), r.Model), c.compat)
		if err != nil {
			return llm.Result{}, err
		}
		compat = c.learned.apply(r.Model, compat)
		result, err := c.once(ctx, compat, r, sink)
		if !c.learned.from(r.Model, compat, err) {
			return result, err
		}
		c.log.Info("model refuses a parameter, asked again without it", "model", r.Model, "err", err)
	}
}

// once sends one request and reads its answer.
func (c *Client) once(parent context.Context, compat Compat, r llm.Request, sink func(llm.Event)) (llm.Result, error) {
	body, err := encode(c.provider, compat, r)
	if err != nil {
		return llm.Result{}, &llm.Error{Kind: llm.BadRequest, Message: "the request cannot be encoded", Err: err}
	}
	ctx, dog := watch(parent, compat.firstByte(c.idle), c.idle)
	defer dog.stop()
	resp, err := c.do(ctx, http.MethodPost, "/chat/completions", body)
	if err != nil {
		return llm.Result{}, c.failure(parent, ctx, err)
	}
	defer resp.Body.Close()
	resp.Body = dog.reader(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return llm.Result{}, c.refusal(parent, ctx, resp)
	}
	a := newAnswer(c.provider, compat, r, sink)
	a.requestID = requestID(resp.Header)
	err = a.read(resp.Body, dog)
	if err == nil || a.finish != "" && !isError(err) {
		dog.drain(resp.Body)
		return a.result(), nil
	}
	return llm.Result{}, c.finalError(parent, ctx, a, err)
}

// finalError completes the error of an answer that began.
func (c *Client) finalError(parent, ctx context.Context, a *answer, err error) error {
	err = c.failure(parent, ctx, err)
	var e *llm.Error
	if errors.As(err, &e) {
		e.Started, e.RequestID = a.started, a.requestID
		e.Message = c.conceal(e.Message)
	}
	return err
}

func isError(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.Kind != llm.Truncated
}

// Check asks for the list of models; see llm.Provider.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.Models(ctx)
	return err
}

// Models lists the names that the endpoint gives its models, sorted. An
// endpoint that lists none is no error.
func (c *Client) Models(parent context.Context) ([]string, error) {
	ctx, dog := watch(parent, c.idle, c.idle)
	defer dog.stop()
	resp, err := c.do(ctx, http.MethodGet, "/models", nil)
	if err != nil {
		return nil, c.failure(parent, ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, c.refusal(parent, ctx, resp)
	}
	var list struct {
		Data []struct {
			ID text `json:"id"`
		} `json:"data"`
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, c.failure(parent, ctx, err)
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, &llm.Error{Kind: llm.BadRequest, Status: resp.StatusCode, Message: "the list of models is no JSON; does baseURL end in /v1?"}
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, string(m.ID))
	}
	slices.Sort(names)
	return names, nil
}

func (c *Client) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "klawbot")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream, application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	return c.http.Do(req)
}

// failure turns what went wrong below the protocol into the caller's terms: the
// caller's own end first, then the watchdog's, then the network's.
func (c *Client) failure(parent, ctx context.Context, err error) error {
	var e *llm.Error
	if errors.As(err, &e) {
		return err
	}
	if parent.Err() != nil {
		return parent.Err()
	}
	if cause := context.Cause(ctx); cause != nil {
		return &llm.Error{Kind: llm.Stall, Message: cause.Error()}
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the address may hold a key
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &llm.Error{Kind: llm.Network, Message: "the connection was closed before the answer ended"}
	}
	return &llm.Error{Kind: llm.Network, Err: fmt.Errorf("reach %s: %w", c.base.Host, err)}
}
