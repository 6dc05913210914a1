package modeltest

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// Entry is one request in the journal.
type Entry struct {
	Time    time.Time `json:"time"`
	Path    string    `json:"path"`
	Status  int       `json:"status"`
	Request Request   `json:"request"`
	// Fault is the fault that was played, or why the request was refused.
	Fault string `json:"fault,omitempty"`
}

// kept bounds the journal; Total goes on counting.
const kept = 1000

type journal struct {
	entries []Entry
	total   int
}

func (s *Server) record(e Entry) {
	e.Time = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal.total++
	if len(s.journal.entries) >= 2*kept {
		s.journal.entries = slices.Clone(s.journal.entries[kept:])
	}
	s.journal.entries = append(s.journal.entries, e)
}

// Journal lists the newest requests, at least the last 1000, oldest first.
func (s *Server) Journal() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.journal.entries)
}

// Completions lists the requests for completions of the Journal.
func (s *Server) Completions() []Request {
	var out []Request
	for _, e := range s.Journal() {
		if e.Request.Dialect != "" {
			out = append(out, e.Request)
		}
	}
	return out
}

// Total counts all requests since the start or the last clear.
func (s *Server) Total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.total
}

func (s *Server) controlJournal(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, struct {
		Total    int     `json:"total"`
		Requests []Entry `json:"requests"`
	}{s.Total(), s.Journal()})
}

func (s *Server) controlClear(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	s.journal = journal{}
	s.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// controlFaults queues the replies of a JSON array of rules without a match.
func (s *Server) controlFaults(w http.ResponseWriter, r *http.Request) {
	var lines []line
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&lines); err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", "", "a JSON array of replies is expected: "+err.Error())
		return
	}
	var replies []Reply
	for _, l := range lines {
		reply, err := l.reply()
		if err != nil {
			fail(w, http.StatusBadRequest, "invalid_request_error", "", err.Error())
			return
		}
		for range max(1, l.Times) {
			replies = append(replies, reply)
		}
	}
	s.Push(replies...)
	w.WriteHeader(http.StatusNoContent)
}
