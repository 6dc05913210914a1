package telegramtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Call is one call of the bot.
type Call struct {
	// N counts all calls from 1.
	N      int       `json:"n"`
	Time   time.Time `json:"time"`
	Method string    `json:"method"`
	Chat   int64     `json:"chat,omitempty"`
	// Params are the parameters as text; of a file its name.
	Params map[string]string `json:"params,omitempty"`
	// Status is the HTTP status, 0 while the call lasts and when there was
	// no answer.
	Status int `json:"status"`
	// Result is what a good call returned, Description why it was none.
	Result      json.RawMessage `json:"result,omitempty"`
	Description string          `json:"description,omitempty"`
	// Effect says that the call was carried out, Answered that the answer
	// was written.
	Effect   bool      `json:"effect"`
	Answered bool      `json:"answered"`
	Fault    FaultKind `json:"fault,omitempty"`
}

// journal keeps the last calls. Server.mu guards it.
type journal struct {
	keep   int
	calls  []*Call
	total  int
	counts map[string]int // by method in lower case
}

// begin writes a call down and finds the fault that hits it.
func (s *Server) begin(method string, p params) (*Call, *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := &s.journal
	j.total++
	c := &Call{N: j.total, Time: s.config.Now(), Method: method, Chat: p.num("chat_id"), Params: p.record()}
	if j.counts == nil {
		j.counts = map[string]int{}
	}
	j.counts[strings.ToLower(method)]++
	if len(j.calls) >= 2*j.keep {
		// Half of them at once, so that a call costs the same on average.
		j.calls = append(j.calls[:0], j.calls[len(j.calls)-j.keep:]...)
	}
	j.calls = append(j.calls, c)
	f := s.strike(method, c.Chat)
	if f == nil && s.inject != nil {
		f = s.inject(*c)
	}
	if f != nil {
		c.Fault = f.Kind
	}
	s.touch()
	return c, f
}

// note writes down what a call did.
func (s *Server) note(c *Call, result json.RawMessage, err *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Result, c.Effect, c.Status = result, err == nil, http.StatusOK
	if err != nil {
		c.Description, c.Status = err.description, err.status
	}
}

// end writes down what became of the answer.
func (s *Server) end(c *Call, status int, answered bool) {
	s.mu.Lock()
	c.Status, c.Answered = status, answered
	seen, observe := *c, s.observe
	s.touch()
	s.mu.Unlock()
	if observe != nil {
		observe(seen)
	}
}

// Observe has each call shown to a function as it ends, outside the server's
// lock and in the goroutine of the call.
func (s *Server) Observe(observe func(Call)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observe = observe
}

// Calls are the kept calls of a method in order, "" for all methods.
func (v State) Calls(method string) []Call {
	var all []Call
	for _, c := range v.s.journal.calls {
		if method == "" || strings.EqualFold(c.Method, method) {
			all = append(all, *c)
		}
	}
	return all
}

// Count is how often a method was called since the start, "" for all methods.
func (v State) Count(method string) int {
	if method == "" {
		return v.s.journal.total
	}
	return v.s.journal.counts[strings.ToLower(method)]
}

// Calls is State.Calls as of now.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{s}.Calls(method)
}

// Count is State.Count as of now.
func (s *Server) Count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{s}.Count(method)
}
