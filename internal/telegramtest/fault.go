package telegramtest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// FaultKind is what goes wrong.
type FaultKind string

// The kinds of faults.
const (
	// FaultError answers with an error: Status, Description, RetryAfter.
	FaultError FaultKind = "error"
	// FaultHTML answers 502 (or Status) with a page that repeats the path of
	// the request, and so the token.
	FaultHTML FaultKind = "html"
	// FaultReset resets the connection instead of answering.
	FaultReset FaultKind = "reset"
	// FaultDelay waits for Delay and then continues as if nothing were wrong.
	FaultDelay FaultKind = "delay"
	// FaultHang never answers; it ends with the connection or the server.
	FaultHang FaultKind = "hang"
	// FaultMalformed answers 200 with JSON that breaks off.
	FaultMalformed FaultKind = "malformed"
)

// Fault is something that goes wrong with certain calls.
type Fault struct {
	// Method is the method it hits, "" for all.
	Method string `json:"method"`
	// Chat is the chat it hits, 0 for all.
	Chat int64 `json:"chat"`
	// After is how many matching calls pass before the first is hit. Calls
	// that an earlier fault hits are not counted.
	After int `json:"after"`
	// Times is how many calls are hit: 0 means one, a negative number all.
	Times int       `json:"times"`
	Kind  FaultKind `json:"kind"`
	// Effect says that the call is carried out nevertheless; only its answer
	// is lost. With FaultDelay the wait stands behind the effect, not before.
	Effect bool `json:"effect"`
	// Status is the HTTP status of FaultError (0 means 500) and FaultHTML.
	Status int `json:"status"`
	// Description is the text of FaultError; "" means a usual one.
	Description string `json:"description"`
	// RetryAfter is in seconds, and makes Status 429 when that is 0.
	RetryAfter int `json:"retry_after"`
	// Delay is for FaultDelay.
	Delay time.Duration `json:"-"`
}

// Fault adds a fault behind those that are there. The first that matches a
// call hits it.
func (s *Server) Fault(f Fault) {
	if f.Times == 0 {
		f.Times = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// ClearFaults takes all faults away; calls that were hit are not helped.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Inject has a function decide the fault of every call that no added fault hits;
// nil means none. It is asked with the server at a standstill and must not call
// the server.
func (s *Server) Inject(decide func(Call) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inject = decide
}

// strike finds the fault that hits a call. s.mu is held.
func (s *Server) strike(method string, chat int64) *Fault {
	for i, f := range s.faults {
		if f.Method != "" && !strings.EqualFold(f.Method, method) || f.Chat != 0 && f.Chat != chat {
			continue
		}
		if f.After > 0 {
			f.After--
			continue
		}
		if f.Times > 0 {
			f.Times--
		}
		if f.Times == 0 {
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
		}
		return f
	}
	return nil
}

// spoil does what the fault does in place of an answer, and reports whether it
// answered at all.
func (s *Server) spoil(f *Fault, w http.ResponseWriter, r *http.Request) (status int, answered bool) {
	switch f.Kind {
	case FaultError:
		e := f.answer()
		return e.status, s.answer(w, nil, e)
	case FaultHTML:
		return f.page(w, r)
	case FaultMalformed:
		w.Header().Set("Content-Type", "application/json")
		_, err := w.Write([]byte(`{"ok":true,"result":{"message_`))
		return http.StatusOK, err == nil
	case FaultHang:
		s.hang(r.Context())
	}
	reset(w)
	return 0, false
}

func (f *Fault) answer() *apiError {
	e := &apiError{status: f.Status, description: f.Description, retryAfter: f.RetryAfter}
	if e.status == 0 {
		e.status = http.StatusInternalServerError
		if f.RetryAfter > 0 {
			e.status = http.StatusTooManyRequests
		}
	}
	if e.description != "" {
		return e
	}
	e.description = http.StatusText(e.status)
	if e.status == http.StatusTooManyRequests {
		e.description = tooMany(f.RetryAfter).description
	}
	return e
}

func (f *Fault) page(w http.ResponseWriter, r *http.Request) (int, bool) {
	status := f.Status
	if status == 0 {
		status = http.StatusBadGateway
	}
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, err := fmt.Fprintf(w, "<html><head><title>%d %s</title></head><body>POST %s</body></html>\n", status, http.StatusText(status), r.URL.Path)
	return status, err == nil
}

// pause waits for a time, whether or not the client still does.
func (s *Server) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.closing:
	}
}

// way is how long the next call takes on its way here and back. What a client has
// written arrives, even when it has ended since.
func (s *Server) way() (there, back time.Duration) {
	if s.config.Network <= 0 {
		return 0, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := time.Millisecond + time.Duration(s.ways.Int64N(int64(max(s.config.Network-time.Millisecond, 1))))
	there = time.Duration(s.ways.Int64N(int64(all)))
	return there, all - there
}

// hang waits until the client gives up.
func (s *Server) hang(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.closing:
	}
}

// reset breaks the connection, on TCP with an RST.
func reset(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http then closes the connection
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		// Without it the connection closes in an orderly way, which is
		// still no answer.
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
