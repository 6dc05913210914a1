package telegramtest

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// ServeHTTP serves the Bot API, the files and the control API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if verb, ok := strings.CutPrefix(r.URL.Path, "/control/"); ok {
		s.control(w, r, verb)
		return
	}
	if rest, ok := strings.CutPrefix(r.URL.Path, "/file/bot"); ok {
		s.serveFile(w, r, rest)
		return
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/bot")
	token, method, both := strings.Cut(rest, "/")
	if !ok || !both {
		s.answer(w, nil, notFound())
		return
	}
	s.serveBot(w, r, token, method)
}

// serveBot serves one call of the bot: it is read, written down, perhaps hit by
// a fault, carried out, and answered.
func (s *Server) serveBot(w http.ResponseWriter, r *http.Request, token, method string) {
	p, err := readParams(w, r)
	var refused *apiError
	if err != nil && !errors.As(err, &refused) {
		reset(w) // the request did not arrive as a whole
		return
	}
	if refused == nil {
		refused = s.checkToken(token)
	}
	there, back := s.way()
	s.pause(there)
	c, f := s.begin(method, p)
	if f != nil && !f.Effect && s.hit(f, c, w, r) {
		return
	}
	result, refused := s.carryOut(r, method, p, refused)
	s.note(c, result, refused)
	s.pause(back)
	if f != nil && f.Effect && s.hit(f, c, w, r) {
		return
	}
	s.end(c, c.Status, s.answer(w, result, refused) && r.Context().Err() == nil)
}

// hit lets a fault do its work and reports whether the call is over with it.
func (s *Server) hit(f *Fault, c *Call, w http.ResponseWriter, r *http.Request) bool {
	if f.Kind == FaultDelay {
		s.pause(f.Delay)
		return false
	}
	status, answered := s.spoil(f, w, r)
	s.end(c, status, answered)
	return true
}

func (s *Server) carryOut(r *http.Request, method string, p params, refused *apiError) (json.RawMessage, *apiError) {
	if refused != nil {
		return nil, refused
	}
	result, refused := s.call(r.Context(), method, p)
	if refused != nil {
		return nil, refused
	}
	body, err := json.Marshal(result)
	if err != nil {
		panic("telegramtest: " + err.Error()) // our own types always encode
	}
	return body, nil
}

// checkToken refuses another bot's token as revoked, and what is no token at all
// as an unknown path.
func (s *Server) checkToken(token string) *apiError {
	id, secret, ok := strings.Cut(token, ":")
	switch {
	case token == s.config.Token:
		return nil
	case !ok || secret == "" || strings.Trim(id, "0123456789") != "":
		return notFound()
	default:
		return unauthorized()
	}
}

// answer writes an answer and reports whether it could.
func (s *Server) answer(w http.ResponseWriter, result json.RawMessage, e *apiError) bool {
	a := wireAnswer{OK: e == nil, Result: result}
	status := http.StatusOK
	if e != nil {
		status, a.ErrorCode, a.Description = e.status, e.status, e.description
		if e.retryAfter != 0 || e.migrateTo != 0 {
			a.Parameters = &wireParameters{MigrateTo: e.migrateTo, RetryAfter: e.retryAfter}
		}
	}
	return writeJSON(w, status, a)
}

func writeJSON(w http.ResponseWriter, status int, v any) bool {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v) == nil
}
