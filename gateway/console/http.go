package console

import (
	"encoding/json"
	"net/http"
	"time"

	"klawbot/gateway"
)

// Event is what a terminal is shown. On the wire it is a line of JSON.
type Event struct {
	Type Type `json:"type"`
	// ID is the message that the event is about.
	ID   int64  `json:"id,omitempty"`
	Text string `json:"text,omitempty"`
	// ReplyTo is the message that this one answers, 0 when it does not say.
	ReplyTo int64 `json:"reply_to,omitempty"`
	// Last marks the end of an answer.
	Last bool `json:"last,omitempty"`
	// Refusal is what a person writes to say no, when the message asks something.
	Refusal string `json:"refusal,omitempty"`
	// Failed says that the answer is an excuse: what was asked failed.
	Failed bool `json:"failed,omitempty"`
	// Work is what the bot does, for TypeWork.
	Work *gateway.Work `json:"work,omitempty"`
}

// Type is what happened.
type Type string

// The types of events.
const (
	// TypeReady comes first: from here on nothing is missed.
	TypeReady   Type = "ready"
	TypeMessage Type = "message"
	// TypeEdit replaces the text of the message.
	TypeEdit   Type = "edit"
	TypeDelete Type = "delete"
	TypeTyping Type = "typing"
	TypeWork   Type = "work"
)

// terminal is an attached reader of events. It holds what is not written yet. When it
// is full, the reader is so far behind that it counts as not there.
type terminal chan delivery

type delivery struct {
	event   Event
	written chan<- bool // has room for every terminal
}

// terminalQueue is how far a terminal may be behind.
const terminalQueue = 64

// maxMessageBytes bounds what a terminal may say at once.
const maxMessageBytes = 1 << 20

type said struct {
	Text string        `json:"text"`
	File *attachedFile `json:"file,omitempty"`
}

type accepted struct {
	ID int64 `json:"id"`
}

// ServeHTTP answers POST /messages, which stores a message, and GET
// /events, which streams what the bot says, a line of JSON an event.
func (c *Channel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "POST /messages":
		c.serveMessage(w, r)
	case "GET /events":
		c.serveEvents(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (c *Channel) serveMessage(w http.ResponseWriter, r *http.Request) {
	var m said
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxMessageBytes)).Decode(&m); err != nil {
		http.Error(w, "the message could not be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	id, err := c.say(r.Context(), m)
	if err != nil {
		c.log.Error("console message not stored", "err", err)
		http.Error(w, "the message was not stored: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	_ = json.NewEncoder(w).Encode(accepted{id}) // the message is stored; who asked may be gone
}

func (c *Channel) serveEvents(w http.ResponseWriter, r *http.Request) {
	t := make(terminal, terminalQueue)
	c.mu.Lock()
	c.terminals[t] = true
	c.mu.Unlock()
	defer c.detach(t)

	w.Header().Set("Content-Type", "application/x-ndjson")
	if !write(w, Event{Type: TypeReady}) {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case d := <-t:
			ok := write(w, d.event)
			d.written <- ok
			if !ok {
				return
			}
		}
	}
}

// detach forgets the terminal and says of what it has not written that it has not.
func (c *Channel) detach(t terminal) {
	c.mu.Lock()
	delete(c.terminals, t)
	c.mu.Unlock()
	for {
		select {
		case d := <-t:
			d.written <- false
		default:
			return
		}
	}
}

// writeTimeout is how long a terminal may be stopped before it counts as gone.
const writeTimeout = 5 * time.Second

// write writes the event through to the terminal.
func write(w http.ResponseWriter, e Event) bool {
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return false
	}
	if err := json.NewEncoder(w).Encode(e); err != nil {
		return false
	}
	return control.Flush() == nil
}
