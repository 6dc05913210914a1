package telegramtest

import "time"

// queryLife is how long the press of a button can be answered.
const queryLife = 15 * time.Second

// query is a press of a button that waits for its answer.
type query struct {
	at       time.Time
	answered bool
	text     string
}

// answerCallbackQuery ends the waiting of a press, once. s.mu is held.
func (s *Server) answerCallbackQuery(p params) (any, *apiError) {
	q := s.queries[p.str("callback_query_id")]
	if q == nil || q.answered || s.config.Now().Sub(q.at) > queryLife {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	if len([]rune(p.str("text"))) > 200 {
		return nil, badRequest("MESSAGE_TOO_LONG")
	}
	q.answered, q.text = true, p.str("text")
	return true, nil
}

// Answered reports whether a press was answered, and with which text.
func (v State) Answered(queryID string) (text string, ok bool) {
	q := v.s.queries[queryID]
	if q == nil || !q.answered {
		return "", false
	}
	return q.text, true
}
