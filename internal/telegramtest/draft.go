package telegramtest

// Preview is the answer that a private chat shows while it grows. It goes away
// with the next message of the bot. Its half minute of life is not simulated.
type Preview struct {
	ID      int64
	Text    string
	CanStop bool
}

// drafts is sendMessageDraft, or nil on a server without.
func (s *Server) drafts() method {
	if s.config.NoDrafts {
		return nil
	}
	return s.sendMessageDraft
}

// sendMessageDraft shows a growing answer. Unlike a message it may be empty. s.mu is held.
func (s *Server) sendMessageDraft(p params) (any, *apiError) {
	c, err := s.target(p)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Type != "private":
		return nil, badRequest("TEXTDRAFT_PEER_INVALID")
	case p.num("draft_id") == 0:
		return nil, badRequest("draft_id must be non-zero")
	case units(p.str("text")) > maxText:
		return nil, badRequest("message is too long")
	}
	c.draft = Preview{ID: p.num("draft_id"), Text: p.str("text"), CanStop: p.flag("can_stop")}
	return true, nil
}

// Draft is what a chat shows of a growing answer, the zero Preview for nothing.
func (v State) Draft(chat int64) Preview {
	if c := v.s.chats[chat]; c != nil {
		return c.draft
	}
	return Preview{}
}

// StopDraft lets the person press the stop button of a growing answer, and
// reports whether there was one.
func (p Person) StopDraft() bool {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chat(Chat{ID: p.chat})
	if !c.draft.CanStop {
		return false
	}
	s.put("stopped_message_generation", struct {
		Chat  Chat  `json:"chat"`
		Draft int64 `json:"draft_id"`
	}{c.Chat, c.draft.ID})
	c.draft = Preview{}
	return true
}
