package telegramtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// order is the JSON body of every control request; each verb reads the fields
// that it needs. Verbs, with what they return:
//
//	send      user [chat thread reply_to forward name username] text → {"message_id"}
//	          with attach (document, photo, voice, audio, sticker), file, seconds, mime, album: a file
//	edit      user [chat] message_id text
//	delete    user [chat] message_id
//	press     user [chat message_id] button → {"query_id"}
//	block     user
//	unblock   user
//	group     chat user [title type forum]      the bot is added to a group
//	kick      chat user
//	deny      chat access                       see Access; "" opens
//	migrate   chat to
//	push      update → {"update_id"}
//	reset_ids next
//	fault     fault [delay]                     see Fault; delay is "2s"
//	clear_faults
//	wait      chat pattern [after timeout]      → the message, or 408
//	wait_calls method count [timeout]           → {"count"}, or 408
//	messages  chat → [Message]
//	transcript chat → {"text"}
//	journal   [method after] → [Call] with N > after
//	status    → {"pending", "polling", "calls"}
//	save      → the state;  restore: the state itself is the body
//
// chat is the private chat of the user when it is not given. Timeouts are
// durations such as "10s", the default. A fault of the request is 400 with
// {"error"}.
type order struct {
	User     int64           `json:"user"`
	Chat     int64           `json:"chat"`
	Thread   int64           `json:"thread"`
	Message  int64           `json:"message_id"`
	Reply    int64           `json:"reply_to"`
	Text     string          `json:"text"`
	Forward  string          `json:"forward"`
	Attach   string          `json:"attach"`
	File     File            `json:"file"`
	Seconds  int             `json:"seconds"`
	MIME     string          `json:"mime"`
	Album    string          `json:"album"`
	Name     string          `json:"name"`
	Username string          `json:"username"`
	Button   string          `json:"button"`
	Title    string          `json:"title"`
	Type     string          `json:"type"`
	Forum    bool            `json:"forum"`
	Access   Access          `json:"access"`
	To       int64           `json:"to"`
	Next     int64           `json:"next"`
	Update   json.RawMessage `json:"update"`
	Fault    Fault           `json:"fault"`
	Delay    string          `json:"delay"`
	Pattern  string          `json:"pattern"`
	After    int64           `json:"after"`
	Timeout  string          `json:"timeout"`
	Method   string          `json:"method"`
	Count    int             `json:"count"`
}

// done is the answer of a verb that returns nothing.
type done struct {
	OK bool `json:"ok"`
}

var errUnknownVerb = errors.New("unknown verb")

// control serves /control/<verb>. It asks for no token: all who reach the
// fake may use it.
func (s *Server) control(w http.ResponseWriter, r *http.Request, verb string) {
	result, err := s.obey(r, verb)
	status := http.StatusOK
	switch {
	case errors.Is(err, errTimeout):
		status = http.StatusRequestTimeout
	case errors.Is(err, errUnknownVerb):
		status = http.StatusNotFound
	case err != nil:
		status = http.StatusBadRequest
	}
	if err != nil {
		result = struct {
			Error string `json:"error"`
		}{err.Error()}
	}
	writeJSON(w, status, result)
}

func (s *Server) obey(r *http.Request, verb string) (any, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if verb == "restore" {
		return done{true}, s.Restore(body)
	}
	var o order
	if len(body) > 0 {
		d := json.NewDecoder(strings.NewReader(string(body)))
		d.DisallowUnknownFields()
		if err := d.Decode(&o); err != nil {
			return nil, fmt.Errorf("read request: %w", err)
		}
	}
	for _, try := range []func(string, order) (any, error){s.controlPerson, s.controlWorld, s.controlFault, s.controlLook} {
		if result, err := try(verb, o); !errors.Is(err, errUnknownVerb) {
			return result, err
		}
	}
	return s.controlWait(r.Context(), verb, o)
}

// person is who an order is about, at the place it names.
func (s *Server) person(o order) Person {
	p := s.User(o.User)
	if o.Chat != 0 {
		p = p.In(o.Chat)
	}
	return p.Topic(o.Thread)
}

// introduce gives a person the names of an order, if it has any.
func (s *Server) introduce(o order) {
	if o.Name == "" && o.Username == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.user(o.User)
	if o.Name != "" {
		u.FirstName = o.Name
	}
	if o.Username != "" {
		u.Username = o.Username
	}
	s.users[u.ID] = u
}

// controlPerson does what people do.
func (s *Server) controlPerson(verb string, o order) (any, error) {
	p := s.person(o)
	switch verb {
	case "send":
		s.introduce(o)
		d := Draft{Text: o.Text, ReplyTo: o.Reply, Forward: o.Forward, Seconds: o.Seconds, MIME: o.MIME, Album: o.Album}
		if err := d.Attach(o.Attach, func() string { return s.AddFile(o.File) }); err != nil {
			return nil, err
		}
		return struct {
			ID int64 `json:"message_id"`
		}{p.Post(d)}, nil
	case "edit":
		return done{true}, p.Edit(o.Message, o.Text)
	case "delete":
		return done{true}, p.Delete(o.Message)
	case "press":
		id, err := p.Press(o.Message, o.Button)
		return struct {
			ID string `json:"query_id"`
		}{id}, err
	case "block":
		p.Block()
	case "unblock":
		p.Unblock()
	default:
		return nil, errUnknownVerb
	}
	return done{true}, nil
}

// controlWorld does what happens to chats and to the queue.
func (s *Server) controlWorld(verb string, o order) (any, error) {
	switch verb {
	case "group":
		s.AddToGroup(Chat{ID: o.Chat, Title: o.Title, Type: o.Type, Forum: o.Forum}, o.User)
	case "kick":
		s.Kick(o.Chat, o.User)
	case "deny":
		s.Deny(o.Chat, o.Access)
	case "migrate":
		s.Migrate(o.Chat, o.To)
	case "reset_ids":
		s.ResetUpdateIDs(o.Next)
	case "push":
		id, err := s.Push(string(o.Update))
		return struct {
			ID int64 `json:"update_id"`
		}{id}, err
	default:
		return nil, errUnknownVerb
	}
	return done{true}, nil
}
