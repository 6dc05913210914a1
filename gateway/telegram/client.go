package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"klawbot/internal/httpclient"
	"klawbot/internal/redact"
)

const (
	// callTimeout bounds every call but the long poll.
	callTimeout = 30 * time.Second
	// maxAnswer bounds what is read of an answer: 100 updates are far smaller.
	maxAnswer = 64 << 20
	// maxRetryAfter, in seconds, is the longest wait that is believed: a day.
	maxRetryAfter = 24 * 60 * 60
)

// api posts to the Bot API and says exactly what became of a request: answered,
// refused (apiError), never sent (unsentError) or unclear (unclearError). It is
// also the HTTP client of the library, which passes these errors through.
type api struct {
	base, token string
	transport   func() http.RoundTripper
	redact      *redact.Set

	mu   sync.Mutex
	http *http.Client // guarded by mu
}

func newAPI(base, token string, transport func() http.RoundTripper, secrets *redact.Set) *api {
	a := &api{base: base, token: token, transport: transport, redact: secrets}
	a.renew()
	return a
}

// newTransport makes a pool of connections, through the proxy of the environment.
func newTransport() http.RoundTripper {
	return httpclient.New(httpclient.Options{Proxy: true}).Transport
}

// renew forgets all connections.
func (a *api) renew() {
	fresh := httpclient.Over(a.transport())
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.http != nil {
		a.http.CloseIdleConnections()
	}
	a.http = fresh
}

func (a *api) client() *http.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.http
}

// post calls a method with JSON, for what the library does not do.
func (a *api) post(ctx context.Context, method string, params, result any) error {
	body, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+"/bot"+a.token+"/"+method, bytes.NewReader(body))
	if err != nil {
		return a.redact.Error(fmt.Errorf("%s: %w", method, err))
	}
	r.Header.Set("Content-Type", "application/json")
	return a.result(r, method, result)
}

// result sends a request and reads the result of the method.
func (a *api) result(r *http.Request, method string, result any) error {
	resp, err := a.Do(r)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", method, &unclearError{err: err})
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		return fmt.Errorf("%s: %w", method, &unclearError{err: err})
	}
	return nil
}

// Do sends a request and reads the whole answer, so that a connection that
// breaks in the middle of it is told apart too. It returns a response only when
// the Bot API said ok.
func (a *api) Do(r *http.Request) (*http.Response, error) {
	var wrote atomic.Bool
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		WroteHeaders: func() { wrote.Store(true) },
	}))
	resp, err := a.client().Do(r)
	if err != nil {
		return nil, a.broken(err, wrote.Load())
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if closeErr := resp.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, a.broken(err, true)
	}
	if err := a.refusal(resp.StatusCode, body); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// broken wraps an error of the network, without the address that holds the token.
func (a *api) broken(err error, wrote bool) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	err = a.redact.Error(err)
	if wrote {
		return &unclearError{err: err}
	}
	return &unsentError{err}
}

// refusal is nil when the answer says ok.
func (a *api) refusal(status int, body []byte) error {
	var answer struct {
		OK          *bool  `json:"ok"`
		ErrorCode   int    `json:"error_code"`
		Description string `json:"description"`
		Parameters  struct {
			RetryAfter int64 `json:"retry_after"`
			// The library reads it as an int, which is too small on 32 bits.
			MigrateTo int64 `json:"migrate_to_chat_id"`
		} `json:"parameters"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.OK == nil {
		return foreign(status)
	}
	if *answer.OK {
		return nil
	}
	if answer.ErrorCode == 0 {
		answer.ErrorCode = status
	}
	return &apiError{
		code: answer.ErrorCode, description: a.redact.Text(answer.Description),
		retryAfter: time.Duration(min(max(answer.Parameters.RetryAfter, 0), maxRetryAfter)) * time.Second, migrateTo: answer.Parameters.MigrateTo,
	}
}

// foreign is the error of an answer that the Bot API did not give: a gateway in
// between did. Below 500 it refused the request; otherwise the request may have
// been passed on. What is too large now will always be.
func foreign(status int) error {
	if status == http.StatusRequestEntityTooLarge {
		return &apiError{code: status, description: "Request Entity Too Large"}
	}
	err := fmt.Errorf("http status %d without an answer of the Bot API", status)
	if status >= 300 && status < 500 {
		return &unsentError{err}
	}
	return &unclearError{err, status >= 500}
}

// apiError is a refusal by the Bot API.
type apiError struct {
	code        int
	description string
	retryAfter  time.Duration
	migrateTo   int64
}

func (e *apiError) Error() string { return fmt.Sprintf("telegram: %d %s", e.code, e.description) }

// unsentError: the request has not reached the Bot API, for certain.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return e.err.Error() }

func (e *unsentError) Unwrap() error { return e.err }

// unclearError: the request was written, what became of it is unknown. server says
// that something answered, but not the Bot API.
type unclearError struct {
	err    error
	server bool
}

func (e *unclearError) Error() string { return "unclear: " + e.err.Error() }

func (e *unclearError) Unwrap() error { return e.err }

// denied says that the token is not valid.
func denied(err error) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && (e.code == http.StatusUnauthorized || e.code == http.StatusNotFound)
}
