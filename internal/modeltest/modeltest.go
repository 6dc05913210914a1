// Package modeltest is a fake of three model APIs: OpenAI's chat completions,
// Anthropic's Messages and Ollama's chat, and of OpenAI's embeddings. It is strict about what it is asked,
// more than any one provider: a request that some provider refuses gets a 400 in
// the form of its API. What it answers is decided by a
// function, by rules or by queued replies, faults of the wire included. It is no
// model, and it knows nothing of klawbot's own packages.
package modeltest

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"klawbot/internal/pipetest"
)

// Server is a http.Handler. Its paths begin with /v1 and /api, and with /control
// for tests in other processes. It may be used from several goroutines.
type Server struct {
	// URL is where it listens, without /v1; empty until a Start.
	URL string

	key     string
	mux     *http.ServeMux
	closing chan struct{}
	stop    func()

	mu      sync.Mutex
	respond func(Request) Reply // guarded by mu
	queue   []Reply             // guarded by mu; used up before respond is asked
	// embeddings are those for requests for embeddings. Guarded by mu.
	embeddings []Reply
	models     []string // guarded by mu
	strict     bool     // guarded by mu; see Alternate
	blind      string   // guarded by mu; see Blind
	journal    journal  // guarded by mu
	// capabilities and window are what /api/show says. Guarded by mu.
	capabilities []string
	window       int
}

// New returns a Server that listens nowhere yet and answers "OK". A key that is
// not empty is demanded as the bearer of every request. Close it after use.
func New(key string) *Server {
	s := &Server{
		key: key, mux: http.NewServeMux(), closing: make(chan struct{}), stop: func() {},
		respond: func(Request) Reply { return Reply{Text: "OK"} },
		models:  []string{"test-model"}, capabilities: []string{"completion", "tools", "thinking"},
	}
	s.mux.HandleFunc("POST /v1/chat/completions", s.completions)
	s.mux.HandleFunc("POST /v1/messages", s.messages)
	s.mux.HandleFunc("POST /v1/embeddings", s.embed)
	s.mux.HandleFunc("GET /v1/models", s.listModels)
	s.mux.HandleFunc("POST /api/chat", s.chat)
	s.mux.HandleFunc("POST /api/show", s.show)
	s.mux.HandleFunc("GET /api/tags", s.tags)
	s.mux.HandleFunc("GET /control/journal", s.controlJournal)
	s.mux.HandleFunc("DELETE /control/journal", s.controlClear)
	s.mux.HandleFunc("POST /control/faults", s.controlFaults)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, "invalid_request_error", "", "unknown path "+r.Method+" "+r.URL.Path)
	})
	return s
}

// Start is New on a free port of the loopback.
func Start(key string) *Server {
	s := New(key)
	h := httptest.NewServer(s)
	s.URL, s.stop = h.URL, h.Close
	return s
}

// Dial opens a connection, as http.Transport.DialContext does.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// StartPipe is New on connections in memory, which work inside a synctest
// bubble. The function dials it, whatever the address.
func StartPipe(key string) (*Server, Dial) {
	s := New(key)
	l := pipetest.New("model.test:80")
	h := &httptest.Server{Listener: l, Config: &http.Server{Handler: s}}
	h.Start()
	s.URL, s.stop = "http://model.test", h.Close
	return s, l.Dial
}

// Close ends what still runs and stops listening.
func (s *Server) Close() {
	close(s.closing)
	s.stop()
}

// Respond sets what decides the answers from now on. The function runs in the
// goroutine of its request.
func (s *Server) Respond(f func(Request) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.respond = f
}

// Push queues replies for the next requests, before Respond is asked again.
func (s *Server) Push(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, replies...)
}

// Alternate refuses two user messages in a row from now on, as the chat templates
// of some models do.
func (s *Server) Alternate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strict = true
}

func (s *Server) alternates() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.strict
}

// SetModels replaces the list that GET /v1/models answers. Completions are
// given for every name.
func (s *Server) SetModels(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = slices.Clone(names)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/control/") && !s.authorized(r) {
		s.record(Entry{Path: r.URL.Path, Status: http.StatusUnauthorized})
		fail(w, http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.")
		return
	}
	s.mux.ServeHTTP(w, r)
}

func (s *Server) authorized(r *http.Request) bool {
	got := r.Header.Get("Authorization")
	if key := r.Header.Get("X-Api-Key"); key != "" && got == "" {
		got = "Bearer " + key
	}
	return s.key == "" || subtle.ConstantTimeCompare([]byte("Bearer "+s.key), []byte(got)) == 1
}

func (s *Server) completions(w http.ResponseWriter, r *http.Request) {
	req, err := readRequest(r)
	if err == nil {
		err = req.validate()
	}
	if err == nil && s.alternates() && req.repeatsUser() {
		err = errors.New("conversation roles must alternate user/assistant/user/assistant")
	}
	s.reply(w, r, req, err)
}

// reply answers a request, or refuses it when err says why.
func (s *Server) reply(w http.ResponseWriter, r *http.Request, req Request, err error) {
	if err == nil {
		err = s.refusesPictures(req)
	}
	if err != nil {
		s.record(Entry{Path: r.URL.Path, Status: http.StatusBadRequest, Request: req, Fault: err.Error()})
		failIn(req.Dialect, w, http.StatusBadRequest, "", err.Error())
		return
	}
	reply := s.next(req)
	s.record(Entry{Path: r.URL.Path, Status: reply.status(), Request: req, Fault: string(reply.Fault)})
	a := answer{w: w, r: r, req: req, reply: reply, closing: s.closing}
	a.write()
}

// next takes a queued reply or asks the function, outside the lock, because it
// may take its time.
func (s *Server) next(req Request) Reply {
	s.mu.Lock()
	if len(s.queue) > 0 {
		reply := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		return reply
	}
	respond := s.respond
	s.mu.Unlock()
	return respond(req)
}

func (s *Server) listModels(w http.ResponseWriter, r *http.Request) {
	type model struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	s.mu.Lock()
	list := []model{}
	for _, name := range s.models {
		list = append(list, model{name, "model"})
	}
	s.mu.Unlock()
	s.record(Entry{Path: r.URL.Path, Status: http.StatusOK})
	writeJSON(w, http.StatusOK, struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", list})
}

type errorBody struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// failIn writes an error in the form of a dialect.
func failIn(d Dialect, w http.ResponseWriter, status int, code, message string) {
	switch d {
	case Anthropic:
		failMessages(w, status, message)
	case Ollama:
		failChat(w, status, message)
	default:
		fail(w, status, "invalid_request_error", code, message)
	}
}

// fail writes an error in OpenAI's form.
func fail(w http.ResponseWriter, status int, kind, code, message string) {
	body := errorBody{Message: message, Type: kind}
	if code != "" {
		body.Code = &code
	}
	writeJSON(w, status, struct {
		Error errorBody `json:"error"`
	}{body})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
