package telegramtest

import "encoding/json"

// User is a person or a bot, as the API shows one.
type User struct {
	ID           int64  `json:"id"`
	IsBot        bool   `json:"is_bot"`
	FirstName    string `json:"first_name"`
	LastName     string `json:"last_name,omitempty"`
	Username     string `json:"username,omitempty"`
	LanguageCode string `json:"language_code,omitempty"`
}

// Chat is a chat, as the API shows one.
type Chat struct {
	ID int64 `json:"id"`
	// Type is "private", "group", "supergroup" or "channel". Empty is
	// guessed from the id.
	Type      string `json:"type"`
	Title     string `json:"title,omitempty"`
	Username  string `json:"username,omitempty"`
	FirstName string `json:"first_name,omitempty"`
	// Forum says that the chat has topics.
	Forum bool `json:"is_forum,omitempty"`
}

// Entity formats a range of a text. Offset and Length count UTF-16 units.
type Entity struct {
	Type        string `json:"type"`
	Offset      int    `json:"offset"`
	Length      int    `json:"length"`
	URL         string `json:"url,omitempty"`
	User        *User  `json:"user,omitempty"`
	Language    string `json:"language,omitempty"`
	CustomEmoji string `json:"custom_emoji_id,omitempty"`
}

// Button is a button of an inline keyboard.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data,omitempty"`
	URL  string `json:"url,omitempty"`
}

// wireMessage is a message, as the API shows one.
type wireMessage struct {
	ID          int64         `json:"message_id"`
	Thread      int64         `json:"message_thread_id,omitempty"`
	From        *User         `json:"from,omitempty"`
	Chat        Chat          `json:"chat"`
	Date        int64         `json:"date"`
	EditDate    int64         `json:"edit_date,omitempty"`
	IsTopic     bool          `json:"is_topic_message,omitempty"`
	Forward     *wireOrigin   `json:"forward_origin,omitempty"`
	Reply       *wireMessage  `json:"reply_to_message,omitempty"`
	Text        string        `json:"text,omitempty"`
	Entities    []Entity      `json:"entities,omitempty"`
	Caption     string        `json:"caption,omitempty"`
	Captioned   []Entity      `json:"caption_entities,omitempty"`
	Document    *wireDocument `json:"document,omitempty"`
	Photo       []wirePhoto   `json:"photo,omitempty"`
	Voice       *wireDocument `json:"voice,omitempty"`
	Audio       *wireDocument `json:"audio,omitempty"`
	Sticker     *wireSticker  `json:"sticker,omitempty"`
	Album       string        `json:"media_group_id,omitempty"`
	Markup      *wireKeyboard `json:"reply_markup,omitempty"`
	MigrateTo   int64         `json:"migrate_to_chat_id,omitempty"`
	MigrateFrom int64         `json:"migrate_from_chat_id,omitempty"`
}

type wireOrigin struct {
	Type string `json:"type"`
	Date int64  `json:"date"`
	Name string `json:"sender_user_name"`
}

type wireDocument struct {
	ID       string `json:"file_id"`
	UniqueID string `json:"file_unique_id"`
	Name     string `json:"file_name,omitempty"`
	Size     int    `json:"file_size"`
	Path     string `json:"file_path,omitempty"`
	MIME     string `json:"mime_type,omitempty"`
	Seconds  int    `json:"duration,omitempty"`
}

// wireSticker is a sticker that does not move.
type wireSticker struct {
	wireDocument
	Type   string `json:"type"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// wirePhoto is one size of a photo.
type wirePhoto struct {
	ID       string `json:"file_id"`
	UniqueID string `json:"file_unique_id"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Size     int    `json:"file_size"`
}

type wireKeyboard struct {
	Rows [][]Button `json:"inline_keyboard"`
}

type wireQuery struct {
	ID       string       `json:"id"`
	From     User         `json:"from"`
	Message  *wireMessage `json:"message"`
	Instance string       `json:"chat_instance"`
	Data     string       `json:"data"`
}

type wireMember struct {
	User   User   `json:"user"`
	Status string `json:"status"`
}

type wireMemberChange struct {
	Chat Chat       `json:"chat"`
	From User       `json:"from"`
	Date int64      `json:"date"`
	Old  wireMember `json:"old_chat_member"`
	New  wireMember `json:"new_chat_member"`
}

// wireAnswer is the envelope of every answer.
type wireAnswer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result,omitempty"`
	ErrorCode   int             `json:"error_code,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  *wireParameters `json:"parameters,omitempty"`
}

type wireParameters struct {
	MigrateTo  int64 `json:"migrate_to_chat_id,omitempty"`
	RetryAfter int   `json:"retry_after,omitempty"`
}

// wire shows a message as the API does, with the message it answers.
// s.mu is held.
func (s *Server) wire(c *chat, m *Message) *wireMessage {
	w := s.wireAlone(c, m)
	if original := c.byID[m.ReplyTo]; original != nil && !original.Deleted {
		w.Reply = s.wireAlone(c, original)
	}
	return w
}

func (s *Server) wireAlone(c *chat, m *Message) *wireMessage {
	w := &wireMessage{
		ID: m.ID, Chat: c.Chat, Date: m.Date.Unix(), Thread: m.Thread,
		IsTopic: m.Thread != 0 && c.topics[m.Thread], Text: m.Text, Entities: m.Entities,
		MigrateTo: m.migrateTo, MigrateFrom: m.migrateFrom, Album: m.Album,
	}
	if from, ok := s.users[m.From]; ok && c.Type != "channel" {
		w.From = &from
	}
	if !m.Edited.IsZero() {
		w.EditDate = m.Edited.Unix()
	}
	if m.Forward != "" {
		w.Forward = &wireOrigin{Type: "hidden_user", Date: w.Date, Name: m.Forward}
	}
	if len(m.Buttons) > 0 {
		w.Markup = &wireKeyboard{m.Buttons}
	}
	s.wireFiles(w, m)
	return w
}

// wireFiles adds the file of a message.
func (s *Server) wireFiles(w *wireMessage, m *Message) {
	if f, ok := s.files[m.Document]; ok {
		w.Document = f.wire(m.Document)
		w.Document.MIME = m.MIME
		w.caption()
	}
	for id, to := range map[string]**wireDocument{m.Voice: &w.Voice, m.Audio: &w.Audio} {
		if f, ok := s.files[id]; ok {
			*to = f.wire(id)
			(*to).MIME, (*to).Seconds = m.MIME, m.Seconds
			w.caption()
		}
	}
	if f, ok := s.files[m.Sticker]; ok {
		width, height, _ := f.measure() // a sticker of a test may be anything
		w.Sticker = &wireSticker{wireDocument: *f.wire(m.Sticker), Type: "regular", Width: width, Height: height}
	}
	if f, ok := s.files[m.Photo]; ok {
		width, height, _ := f.measure() // it was a photo when it was sent
		w.Photo = []wirePhoto{{ID: m.Photo, UniqueID: "u" + m.Photo, Width: width, Height: height, Size: len(f.Data)}}
		w.caption()
	}
}

// caption makes the text one that stands below a file.
func (w *wireMessage) caption() {
	w.Caption, w.Captioned, w.Text, w.Entities = w.Text, w.Entities, "", nil
}
