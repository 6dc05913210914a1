package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"strings"
)

// EmbeddingSize is how many numbers the fake's vectors have.
const EmbeddingSize = 64

// maxInputs is how many texts OpenAI takes in a request for embeddings.
const maxInputs = 2048

// embeddingRequest is a request for vectors. Other keys are refused.
type embeddingRequest struct {
	Model      string          `json:"model"`
	Input      json.RawMessage `json:"input"`
	Format     string          `json:"encoding_format"`
	Dimensions *int            `json:"dimensions"`
	User       string          `json:"user"`
}

// PushEmbeddings queues replies for the next requests for embeddings. Only those
// with a status, a body or a delay mean something.
func (s *Server) PushEmbeddings(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.embeddings = append(s.embeddings, replies...)
}

// Embedding is the fake's vector of a text: texts with the same words are near
// each other. Its length is 2, as no provider promises 1.
func Embedding(text string) []float32 {
	vector := make([]float32, EmbeddingSize)
	for _, word := range strings.Fields(strings.ToLower(text)) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(word)) // it never fails
		vector[h.Sum32()%EmbeddingSize]++
	}
	var sum float64
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	for i := range vector {
		vector[i] *= float32(2 / math.Sqrt(max(sum, 1)))
	}
	return vector
}

func (s *Server) embed(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	var req embeddingRequest
	var texts []string
	if err == nil {
		req, texts, err = readEmbeddings(body)
	}
	if err != nil {
		s.record(Entry{Path: r.URL.Path, Status: http.StatusBadRequest, Fault: err.Error()})
		fail(w, http.StatusBadRequest, "invalid_request_error", "", err.Error())
		return
	}
	reply := s.nextEmbeddings()
	s.record(Entry{Path: r.URL.Path, Status: reply.status(), Fault: string(reply.Fault)})
	if reply.status() != http.StatusOK || reply.Body != "" || reply.Fault != "" || reply.Delay > 0 {
		a := answer{w: w, r: r, req: Request{Dialect: OpenAI}, reply: reply, closing: s.closing}
		a.write()
		return
	}
	writeJSON(w, http.StatusOK, vectorsOf(req, texts))
}

func (s *Server) nextEmbeddings() (reply Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.embeddings) > 0 {
		reply, s.embeddings = s.embeddings[0], s.embeddings[1:]
	}
	return reply
}

// readEmbeddings is as strict as the strictest provider.
func readEmbeddings(body []byte) (req embeddingRequest, texts []string, err error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&req); err != nil {
		return req, nil, fmt.Errorf("could not parse the JSON body of your request: %w", err)
	}
	var one string
	if json.Unmarshal(req.Input, &one) == nil {
		texts = []string{one}
	} else if err := json.Unmarshal(req.Input, &texts); err != nil {
		return req, nil, errors.New("'input' must be a string or an array of strings")
	}
	switch {
	case req.Model == "":
		return req, nil, errors.New("you must provide a model parameter")
	case len(texts) == 0 || len(texts) > maxInputs:
		return req, nil, fmt.Errorf("'input' must hold 1 to %d texts, got %d", maxInputs, len(texts))
	case req.Format != "" && req.Format != "float" && req.Format != "base64":
		return req, nil, fmt.Errorf("'encoding_format' must be float or base64, got %q", req.Format)
	}
	for i, t := range texts {
		if t == "" {
			return req, nil, fmt.Errorf("'input[%d]' cannot be an empty string", i)
		}
	}
	return req, texts, nil
}

// vectorsOf is the answer. The vectors come in another order than the texts: their
// index counts.
func vectorsOf(req embeddingRequest, texts []string) any {
	type datum struct {
		Object    string `json:"object"`
		Index     int    `json:"index"`
		Embedding any    `json:"embedding"`
	}
	data := make([]datum, len(texts))
	for i, text := range texts {
		var form any = Embedding(text)
		if req.Format == "base64" {
			raw := make([]byte, 0, 4*EmbeddingSize)
			for _, x := range Embedding(text) {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
			}
			form = base64.StdEncoding.EncodeToString(raw)
		}
		data[len(texts)-1-i] = datum{"embedding", i, form}
	}
	return map[string]any{"object": "list", "data": data, "model": req.Model, "usage": Usage{Prompt: len(texts), Total: len(texts)}}
}
