package telegramtest

import "time"

// deletable is how long a message can be deleted.
const deletable = 48 * time.Hour

// editMessageText replaces text and keyboard. s.mu is held.
func (s *Server) editMessageText(p params) (any, *apiError) {
	t, err := s.readText(p)
	if err != nil {
		return nil, err
	}
	c, m, err := s.editable(p)
	if err != nil {
		return nil, err
	}
	if m.Document != "" || m.Photo != "" {
		return nil, badRequest("there is no text in the message to edit")
	}
	changed := *m
	changed.Text, changed.Entities, changed.ParseMode = t.text, t.entities, p.str("parse_mode")
	return s.edit(p, c, m, changed)
}

// editMessageReplyMarkup replaces the keyboard alone. s.mu is held.
func (s *Server) editMessageReplyMarkup(p params) (any, *apiError) {
	c, m, err := s.editable(p)
	if err != nil {
		return nil, err
	}
	return s.edit(p, c, m, *m)
}

// edit gives a message its new content, if it is one.
func (s *Server) edit(p params, c *chat, m *Message, changed Message) (any, *apiError) {
	var err *apiError
	if changed.Buttons, err = readKeyboard(p); err != nil {
		return nil, err
	}
	if sameContent(m, &changed) {
		return nil, badRequest("%s", notModified)
	}
	if err := s.paced(c); err != nil {
		return nil, err
	}
	changed.Edits++
	changed.Edited = s.config.Now()
	*m = changed
	return s.wire(c, m), nil
}

// editable finds the message of the bot that a call wants to change.
func (s *Server) editable(p params) (*chat, *Message, *apiError) {
	if p.str("chat_id") == "" || p.num("message_id") == 0 {
		return nil, nil, badRequest("message identifier is not specified")
	}
	c, err := s.target(p)
	if err != nil {
		return nil, nil, err
	}
	m := c.byID[p.num("message_id")]
	switch {
	case m == nil || m.Deleted:
		return nil, nil, badRequest("message to edit not found")
	case !m.Bot || m.Forward != "":
		return nil, nil, badRequest("message can't be edited")
	}
	return c, m, nil
}

// deleteMessage deletes a message of the bot, or in a private chat of either. s.mu is held.
func (s *Server) deleteMessage(p params) (any, *apiError) {
	c, err := s.target(p)
	if err != nil {
		return nil, err
	}
	m := c.byID[p.num("message_id")]
	switch {
	case m == nil || m.Deleted:
		return nil, badRequest("message to delete not found")
	case !m.Bot && c.Type != "private", s.config.Now().Sub(m.Date) > deletable:
		return nil, badRequest("message can't be deleted")
	}
	m.Deleted = true
	return true, nil
}
