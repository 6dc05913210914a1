package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"klawbot/internal/wait"
)

// RemoteConfig is what NewRemote needs.
type RemoteConfig struct {
	// HTTP is required.
	HTTP *http.Client
	// BaseURL is the address of an OpenAI-compatible server with its /v1.
	BaseURL string
	// APIKey may be empty where the server wants none.
	APIKey string
	// Model is the server's name of the model.
	Model string
}

// Remote turns texts into vectors with a model behind the interface of OpenAI. It
// may be used from several goroutines.
type Remote struct {
	config     RemoteConfig
	dimensions atomic.Int64
}

// NewRemote returns a Remote. It asks nothing yet.
func NewRemote(c RemoteConfig) *Remote { return &Remote{config: c} }

// What one request to a server may hold and take: texts, bytes of an answer and
// of an error. A user waits for a query.
const (
	maxRemoteTexts  = 64
	maxRemoteAnswer = 64 << 20
	maxRemoteError  = 4 << 10
	queryTimeout    = 10 * time.Second
	passagesTimeout = 2 * time.Minute
)

// What passes is tried again: so often, after such a wait, doubled each time. A
// server that asks for more than the longest wait is not waited for.
const (
	remoteRetries = 3
	remoteWait    = time.Second
	longestWait   = time.Minute
)

// Name tells the model apart from those on this machine.
func (r *Remote) Name() string { return "openai:" + r.config.Model }

// Dimensions is the length of the vectors. It asks the server once.
func (r *Remote) Dimensions(ctx context.Context) (int, error) {
	if n := r.dimensions.Load(); n > 0 {
		return int(n), nil
	}
	v, err := r.Query(ctx, "klawbot")
	r.dimensions.Store(int64(len(v)))
	return len(v), err
}

// Query returns the vector of a text that is looked for. It asks once.
func (r *Remote) Query(ctx context.Context, text string) ([]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	all, err := r.ask(ctx, []string{text})
	if err != nil {
		return nil, r.explain(err)
	}
	return all[0], nil
}

// Passages returns the vectors of texts, in their order. What passes it tries
// again.
func (r *Remote) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	var all [][]float32
	for len(texts) > 0 {
		n := min(len(texts), maxRemoteTexts)
		some, err := r.persist(ctx, texts[:n])
		if err != nil {
			return nil, r.explain(err)
		}
		all, texts = append(all, some...), texts[n:]
	}
	return all, nil
}

func (r *Remote) explain(err error) error {
	return fmt.Errorf("embed with %s at %s: %w", r.config.Model, r.config.BaseURL, err)
}

// passingError is a failure that may be over soon.
type passingError struct {
	error
	wait time.Duration // what the server asks for
}

func (e passingError) Unwrap() error { return e.error }

// persist asks until it gets an answer, or no hope is left.
func (r *Remote) persist(ctx context.Context, texts []string) ([][]float32, error) {
	for attempt := 0; ; attempt++ {
		bounded, cancel := context.WithTimeout(ctx, passagesTimeout)
		all, err := r.ask(bounded, texts)
		cancel()
		e, passes := errors.AsType[passingError](err)
		if !passes || attempt == remoteRetries || e.wait > longestWait || ctx.Err() != nil {
			return all, err
		}
		if !wait.For(ctx, max(e.wait, remoteWait<<attempt)) {
			return nil, context.Cause(ctx)
		}
	}
}

// statusError is the error of an answer that is none.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return e.text }

// Refusal reports whether one of the texts may be what the server does not take, such
// as one that is too long for its model; the server of llama.cpp answers 500 then.
func (e *statusError) Refusal() bool {
	switch e.code {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return true
	}
	return false
}

// refusal is the error of an answer that is none.
func refusal(response *http.Response) error {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxRemoteError)) // the status says enough
	err := &statusError{response.StatusCode, "the server answers " + response.Status}
	if json.Unmarshal(text, &body) == nil && body.Error.Message != "" {
		err.text += ": " + body.Error.Message
	}
	if response.StatusCode != http.StatusTooManyRequests && response.StatusCode < http.StatusInternalServerError {
		return err
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 for none
	return passingError{err, time.Duration(seconds) * time.Second}
}

func (r *Remote) ask(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": r.config.Model, "input": texts})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(r.config.BaseURL, "/")+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if r.config.APIKey != "" {
		request.Header.Set("Authorization", "Bearer "+r.config.APIKey)
	}
	response, err := r.config.HTTP.Do(request)
	if err != nil {
		return nil, passingError{err, 0}
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, refusal(response)
	}
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxRemoteAnswer)).Decode(&answer); err != nil {
		return nil, passingError{fmt.Errorf("the server's answer: %w", err), 0}
	}
	all := make([][]float32, len(texts))
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= len(all) || len(d.Embedding) == 0 {
			return nil, errors.New("the server's answer does not fit the texts")
		}
		all[d.Index] = normalised(d.Embedding)
	}
	for _, v := range all {
		if len(v) == 0 || len(v) != len(all[0]) {
			return nil, errors.New("the server's answer lacks a vector")
		}
	}
	return all, nil
}

// normalised brings a vector to length 1.
func normalised(vector []float32) []float32 {
	var sum float64
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return vector
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range vector {
		vector[i] *= scale
	}
	return vector
}
