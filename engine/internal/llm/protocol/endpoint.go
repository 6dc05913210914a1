// Package protocol is what the clients of all model protocols share: an endpoint
// with its key and its patience, errors read out of whatever a provider sends,
// JSON that is not what it should be, and the words of an answer while they
// grow. It knows no protocol.
package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/llm"
)

// Config is what New needs.
type Config struct {
	// BaseURL is the address of the API. Required.
	BaseURL string
	// Paths are ends that people copy together with an address; they are cut off.
	Paths []string
	// Header is sent with every request.
	Header http.Header
	// Key is kept out of errors; empty for none.
	Key string
	// HTTP does the requests. It must not follow redirects. Required.
	HTTP *http.Client
	// Idle is the longest silence; 0 is two minutes.
	Idle time.Duration
}

// Endpoint is where one provider is. It may be used from several goroutines.
type Endpoint struct {
	base   *url.URL
	header http.Header
	key    string
	http   *http.Client
	idle   time.Duration
}

// MaxAnswer bounds, in bytes, an answer that does not stream and one event of a
// stream.
const MaxAnswer = 16 << 20

const defaultIdle = 2 * time.Minute

// New checks the address. It does not connect.
func New(c Config) (*Endpoint, error) {
	address := strings.TrimRight(c.BaseURL, "/")
	for _, path := range c.Paths {
		address = strings.TrimSuffix(address, path)
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, errors.New("baseURL isn't an http or https address")
	}
	if c.Idle <= 0 {
		c.Idle = defaultIdle
	}
	return &Endpoint{base, c.Header, c.Key, c.HTTP, c.Idle}, nil
}

// Host is the name or address of the machine, without a port.
func (e *Endpoint) Host() string { return e.base.Hostname() }

// Patience is how long the first byte of an answer may take: what the
// configuration says, in seconds, else ten minutes for a local server, where
// models have to be loaded, and the longest silence elsewhere.
func (e *Endpoint) Patience(seconds int, local bool) time.Duration {
	switch {
	case seconds > 0:
		return time.Duration(seconds) * time.Second
	case local:
		return max(e.idle, localFirstByte)
	}
	return e.idle
}

// Post sends a JSON body and returns the answer, whose first byte may take as
// long as first says. A status other than 200 is an error. The error is an
// *llm.Error or ctx's.
func (e *Endpoint) Post(ctx context.Context, path string, body []byte, first time.Duration) (*Response, error) {
	return e.open(ctx, http.MethodPost, path, content{"application/json", body}, first)
}

// PostForm sends a form, whose parts the content type tells apart. Else it is as Post.
func (e *Endpoint) PostForm(ctx context.Context, path, contentType string, body []byte, first time.Duration) (*Response, error) {
	return e.open(ctx, http.MethodPost, path, content{contentType, body}, first)
}

// content is the body of a request.
type content struct {
	kind string
	body []byte // nil for none
}

// Get decodes a JSON answer. The path may have a query. Errors are as of Post.
func (e *Endpoint) Get(ctx context.Context, path string, into any) error {
	r, err := e.open(ctx, http.MethodGet, path, content{}, e.idle)
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Decode(into)
}

// Models lists the names that an endpoint gives its models, sorted: the form of
// OpenAI and Anthropic. An endpoint may list none.
func (e *Endpoint) Models(ctx context.Context, path string) ([]string, error) {
	var list struct {
		Data []struct {
			ID Text `json:"id"`
		} `json:"data"`
	}
	if err := e.Get(ctx, path, &list); err != nil {
		return nil, err
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, string(m.ID))
	}
	slices.Sort(names)
	return names, nil
}

// Complains reports whether an answer ended with what the provider says is wrong,
// and not only because it broke off.
func Complains(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	return ok && e.Kind != llm.Truncated
}

// open sends a request under a watchdog that starts before it is written.
func (e *Endpoint) open(parent context.Context, method, path string, c content, first time.Duration) (*Response, error) {
	ctx, dog := watch(parent, first, e.idle)
	r := &Response{endpoint: e, parent: parent, ctx: ctx, dog: dog}
	resp, err := e.do(ctx, method, path, c)
	if err != nil {
		defer dog.stop() // it says why it ended the request
		return nil, r.failure(err)
	}
	r.RequestID = requestID(resp.Header)
	r.body = &watched{resp.Body, dog}
	r.Body = r.body
	if resp.StatusCode != http.StatusOK {
		defer r.Close()
		resp.Body = r.body
		return nil, r.refusal(resp)
	}
	return r, nil
}

func (e *Endpoint) do(ctx context.Context, method, path string, c content) (*http.Response, error) {
	path, query, _ := strings.Cut(path, "?")
	address := e.base.JoinPath(path)
	if query != "" {
		address.RawQuery = query
	}
	req, err := http.NewRequestWithContext(ctx, method, address.String(), bytes.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	for name, values := range e.header {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", "klawbot")
	// Some servers close a connection behind an answer and do not say so. A
	// request that meets such a connection goes out again on a new one when the
	// transport may repeat it; this says so, and is not sent.
	req.Header["Idempotency-Key"] = nil
	if c.body != nil {
		req.Header.Set("Content-Type", c.kind)
		req.Header.Set("Accept", "text/event-stream, application/json")
	}
	return e.http.Do(req)
}

// Response is an answer of which the head has come. Close it.
type Response struct {
	// Body is the answer; every byte of it is a sign of life.
	Body io.Reader
	// RequestID is the provider's name for the request, empty for none.
	RequestID string

	endpoint    *Endpoint
	parent, ctx context.Context
	dog         *watchdog
	body        io.ReadCloser
}

// Finished says that the answer is there and only its usage may still come:
// from now on a short silence ends it.
func (r *Response) Finished() { r.dog.finished() }

// Drain reads the end of an answer, if it comes at once: a connection that was
// read to its end can be used again.
func (r *Response) Drain() { r.dog.drain(r.body) }

// Close ends the request.
func (r *Response) Close() {
	_ = r.body.Close() // nothing was written
	r.dog.stop()
}

// Decode reads a JSON answer. Errors are as of Endpoint.Post.
func (r *Response) Decode(into any) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxAnswer))
	if err != nil {
		return r.failure(err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return &llm.Error{Kind: llm.BadRequest, Status: http.StatusOK, Message: "the answer isn't JSON; is baseURL right?"}
	}
	return nil
}

// Fail completes the error of an answer that began; started says that some of
// it was shown. The result is an *llm.Error or the context's error.
func (r *Response) Fail(err error, started bool) error {
	err = r.failure(err)
	var e *llm.Error
	if errors.As(err, &e) {
		e.Started, e.RequestID = started, r.RequestID
		e.Message = r.endpoint.conceal(e.Message)
	}
	return err
}

// failure turns what went wrong below the protocol into the caller's terms: the
// caller's own end first, then the watchdog's, then the network's.
func (r *Response) failure(err error) error {
	var e *llm.Error
	if errors.As(err, &e) {
		return err
	}
	if r.parent.Err() != nil {
		return r.parent.Err()
	}
	if cause := context.Cause(r.ctx); cause != nil {
		return &llm.Error{Kind: llm.Stall, Message: cause.Error()}
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the address may hold a key
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &llm.Error{Kind: llm.Network, Message: "the connection was closed before the answer ended"}
	}
	return &llm.Error{Kind: llm.Network, Err: fmt.Errorf("reach %s: %w", r.endpoint.base.Host, err)}
}
