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
	"strings"
	"sync/atomic"
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

// What one request to a server may hold: texts, and bytes of an answer.
const (
	maxRemoteTexts  = 64
	maxRemoteAnswer = 64 << 20
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

// Query returns the vector of a text that is looked for.
func (r *Remote) Query(ctx context.Context, text string) ([]float32, error) {
	all, err := r.Passages(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Passages returns the vectors of texts, in their order.
func (r *Remote) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	var all [][]float32
	for len(texts) > 0 {
		n := min(len(texts), maxRemoteTexts)
		some, err := r.ask(ctx, texts[:n])
		if err != nil {
			return nil, fmt.Errorf("embed with %s at %s: %w", r.config.Model, r.config.BaseURL, err)
		}
		all, texts = append(all, some...), texts[n:]
	}
	return all, nil
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
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", response.Status)
	}
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxRemoteAnswer)).Decode(&answer); err != nil {
		return nil, fmt.Errorf("the server's answer: %w", err)
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
