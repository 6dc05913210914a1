package telegramtest

import (
	"bytes"
	"strings"
)

// replyParameters are what a call says about the message it answers.
type replyParameters struct {
	Message int64  `json:"message_id"`
	Orphan  bool   `json:"allow_sending_without_reply"`
	Quote   string `json:"quote"`
}

// sendMessage sends a text. s.mu is held.
func (s *Server) sendMessage(p params) (any, *apiError) {
	t, err := s.readText(p)
	if err != nil {
		return nil, err
	}
	return s.send(p, Message{Text: t.text, Entities: t.entities, ParseMode: p.str("parse_mode"), Preview: wantsPreview(p)})
}

// sendDocument sends a file with a caption. s.mu is held.
func (s *Server) sendDocument(p params) (any, *apiError) {
	t, err := s.readCaption(p)
	if err != nil {
		return nil, err
	}
	id, err := s.file(p, "document", maxDocument)
	if err != nil {
		return nil, err
	}
	return s.send(p, Message{Text: t.text, Entities: t.entities, ParseMode: p.str("parse_mode"), Document: id})
}

// sendVoice sends a voice message with a caption; only Opus in Ogg is one. s.mu is held.
func (s *Server) sendVoice(p params) (any, *apiError) {
	t, err := s.readCaption(p)
	if err != nil {
		return nil, err
	}
	if c, err := s.target(p); err == nil && s.voiceless[c.ID] {
		return nil, badRequest("VOICE_MESSAGES_FORBIDDEN")
	}
	id, err := s.file(p, "voice", maxDocument)
	if err != nil {
		return nil, err
	}
	m := Message{Text: t.text, Entities: t.entities, ParseMode: p.str("parse_mode"), Voice: id, Seconds: int(p.num("duration")), MIME: "audio/ogg"}
	if raw := s.files[id].Data; !bytes.HasPrefix(raw, []byte("OggS")) || !bytes.Contains(raw[:min(len(raw), 64)], []byte("OpusHead")) {
		m.Voice, m.Document, m.MIME = "", id, "" // Telegram shows a file then
	}
	return s.send(p, m)
}

// ForbidVoice makes a person refuse voice messages.
func (s *Server) ForbidVoice(chat int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.voiceless[chat] = true
}

// sendPhoto sends a photo with a caption. s.mu is held.
func (s *Server) sendPhoto(p params) (any, *apiError) {
	t, err := s.readCaption(p)
	if err != nil {
		return nil, err
	}
	id, err := s.file(p, "photo", maxDocument)
	if err != nil {
		return nil, err
	}
	if err := s.files[id].photo(); err != nil {
		delete(s.files, id)
		return nil, err
	}
	return s.send(p, Message{Text: t.text, Entities: t.entities, ParseMode: p.str("parse_mode"), Photo: id})
}

// send does what all kinds of messages have in common.
func (s *Server) send(p params, m Message) (any, *apiError) {
	c, err := s.target(p)
	if err != nil {
		return nil, err
	}
	if m.Thread, err = c.thread(p); err != nil {
		return nil, err
	}
	if m.Buttons, err = readKeyboard(p); err != nil {
		return nil, err
	}
	if m.ReplyTo, err = c.replyTo(p); err != nil {
		return nil, err
	}
	if err := s.paced(c); err != nil {
		return nil, err
	}
	m.From, m.Bot, m.Silent = s.config.Bot.ID, true, p.flag("disable_notification")
	c.botSpoke, c.draft = true, Preview{}
	return s.wire(c, s.add(c, m)), nil
}

// replyTo finds the message that a call answers.
func (c *chat) replyTo(p params) (int64, *apiError) {
	r := replyParameters{Message: p.num("reply_to_message_id"), Orphan: p.flag("allow_sending_without_reply")}
	if err := p.object("reply_parameters", &r); err != nil {
		return 0, badRequest("can't parse reply parameters JSON object")
	}
	if r.Message == 0 {
		return 0, nil
	}
	m := c.byID[r.Message]
	if m == nil || m.Deleted {
		if r.Orphan {
			return 0, nil
		}
		return 0, badRequest("message to be replied not found")
	}
	if !strings.Contains(m.Text, r.Quote) {
		return 0, badRequest("QUOTE_TEXT_INVALID")
	}
	return m.ID, nil
}

func wantsPreview(p params) bool {
	var options struct {
		Disabled bool `json:"is_disabled"`
	}
	// Options that cannot be read leave the preview on.
	_ = p.object("link_preview_options", &options)
	return !options.Disabled && !p.flag("disable_web_page_preview")
}
