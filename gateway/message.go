package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"klawbot/whitelist"
)

// ChatID names a chat on any channel. Its text form is "telegram_-100123"; the
// one chat of a local channel is "console_default" and has the id 0.
type ChatID struct {
	Channel string
	ID      int64
}

// String is the text form that people, models and files see.
func (c ChatID) String() string { return whitelist.FormatID(c.Channel, c.ID) }

// Local reports whether the chat is on this machine: its users own the bot.
func (c ChatID) Local() bool { return c.ID == 0 }

// ParseChatID reads the text form. An id without a channel is an error.
func ParseChatID(s string) (ChatID, error) {
	channel, id, err := whitelist.ParseID(s)
	if err != nil {
		return ChatID{}, err
	}
	if channel == "" {
		return ChatID{}, fmt.Errorf("chatId %q needs its channel, such as telegram_%s", s, s)
	}
	return ChatID{channel, id}, nil
}

// Address is where a message comes from and where a reply goes to.
type Address struct {
	Chat ChatID
	// Thread is the topic inside the chat, 0 for none.
	Thread int64
}

// String adds the thread to the chat's text form: "telegram_-100123_7".
func (a Address) String() string {
	if a.Thread == 0 {
		return a.Chat.String()
	}
	return fmt.Sprintf("%s_%d", a.Chat, a.Thread)
}

// Update is one event as a channel received it. It carries what is needed to check,
// store and order it. The rest stays in Raw until Channel.Decode, so that a later
// version can read what this one cannot.
type Update struct {
	Channel string
	// Bot and ID identify the update for ever: the same pair is the same
	// update, however often it is delivered.
	Bot, ID int64
	// Kind is the channel's own word: "message", "edited_message",
	// "callback_query", …
	Kind    string
	Address Address
	// Message is the channel's id of the message the update is about, 0 for none.
	Message int64
	From    int64
	Group   bool
	// FromBot and Anonymous are as in whitelist.Source.
	FromBot   bool
	Anonymous bool
	// MovedTo is set when the messenger itself says that the chat has a new
	// id: this one. People cannot write such an update.
	MovedTo int64
	Raw     json.RawMessage
	// Fault says why Raw cannot be understood at all; such an update is
	// stored as a dead row and never stops the others.
	Fault string
}

func (u Update) source() whitelist.Source {
	return whitelist.Source{
		Channel: u.Channel, Chat: u.Address.Chat.ID, User: u.From,
		Group: u.Group, Bot: u.FromBot, Anonymous: u.Anonymous,
	}
}

// Kind is what a decoded message asks for.
type Kind string

// The kinds of messages.
const (
	// KindNone asks for nothing: a service message, an unknown update.
	KindNone Kind = ""
	// KindText is a message a person wrote: Text, perhaps Command.
	KindText Kind = "text"
	// KindEdit is a new text for the message with the same id.
	KindEdit Kind = "edit"
	// KindCallback is a button press: Callback is set.
	KindCallback Kind = "press"
	// KindMember says that the bot came into a chat or left it: Member is set.
	KindMember Kind = "member"
	// KindStop asks to stop the running turn, as the command /stop does.
	KindStop Kind = "stop"
	// KindMoved says that the chat has a new id: MovedTo is set.
	KindMoved Kind = "moved"
)

// Message is a decoded update.
type Message struct {
	Kind    Kind
	Address Address
	// ID is the channel's id of the message.
	ID     int64
	Sender Sender
	// Time is when it was sent, Edited when it was last changed, zero for never.
	Time, Edited time.Time
	Group        bool
	Place
	// Addressed says that the message is meant for the bot: always in a
	// private chat, in a group by mention, reply or command.
	Addressed bool
	// Text is what was written, with the bot's own mention taken away and
	// formatting turned back into Markdown.
	Text string
	// Command is the lower-case name of a command without its slash, Args
	// what follows it. Empty when the message is no command.
	Command, Args string
	// Reply is the message that this one answers, nil for none.
	Reply *Quote
	// Forwarded names the origin of a forwarded message, empty for none.
	Forwarded string
	// Album is the same for messages that were sent as one, empty for none.
	Album string
	// Described says that Text begins with a description of what is no text, such
	// as "[photo]".
	Described bool
	// Attachments are the files of the message, in order; those of Reply are not among
	// them.
	Attachments []Attachment
	Callback    *Callback
	Member      Member
	// MovedTo is the new id of the chat.
	MovedTo int64
}

// Place is what a group and its topic are called, "" when that is unknown. It is foreign
// text.
type Place struct{ Title, Topic string }

// ChatName is what the chat is called: by its title, or after the person.
func (m Message) ChatName() string {
	if m.Group {
		return m.Title
	}
	return m.Sender.Name
}

// Knock says that a chat that is not allowed wrote: which one, and never what.
type Knock struct {
	Chat ChatID
	// Name is what the person or the group calls itself. It is foreign text.
	Name string
	// Times counts what came since the last Knock of the chat.
	Times int
}

// Sender is who wrote a message.
type Sender struct {
	ID int64
	// Name is for display only. It is foreign text and decides nothing.
	Name string
}

// Quote is a message that another one answers.
type Quote struct {
	Author string
	Text   string
	// From is the author's id, 0 when it is unknown. Attachments are the files of the
	// quoted message.
	From        int64
	Attachments []Attachment
	// Own says that the bot itself wrote it, as its message ID.
	Own bool
	ID  int64
}

// Callback is a button press below a message of the bot.
type Callback struct {
	// Query is what Answer takes.
	Query string
	// Data is the Button.Data that was sent.
	Data string
	// Message is the message that carries the button.
	Message int64
}

// Member is a change of the bot's own place in a chat.
type Member string

// The changes of membership.
const (
	MemberJoined Member = "joined"
	MemberLeft   Member = "left"
	// MemberMuted and MemberUnmuted: it may not write there any more, or again.
	MemberMuted   Member = "muted"
	MemberUnmuted Member = "unmuted"
)

// Part is one message as it leaves: rendered, short enough for its channel,
// ready to be sent without another thought. It is stored as JSON in the outbox.
type Part struct {
	Text     string   `json:"text"`
	Entities []Entity `json:"entities,omitempty"`
	// ReplyTo is the message that this one answers, 0 for none.
	ReplyTo int64 `json:"reply_to,omitempty"`
	// Answers is the message that the whole text answers, 0 for none: only the first part
	// replies to it.
	Answers int64 `json:"answers,omitempty"`
	// Silent parts do not make the phone ring.
	Silent  bool       `json:"silent,omitempty"`
	Buttons [][]Button `json:"buttons,omitempty"`
	// Document is a file that the part carries; Text is then its caption.
	Document *Document `json:"document,omitempty"`
	// Album are 2 to MaxAlbum files that are sent as one, in place of Document.
	Album []*Document `json:"album,omitempty"`
	// Last marks the end of the answer to what was asked.
	Last bool `json:"last,omitempty"`
	// Failed says that the answer is an excuse: what was asked failed.
	Failed bool `json:"failed,omitempty"`
	// Key is the same each time the part is sent, "" when nothing repeats it; see Keyed.
	Key string `json:"-"`
	// Yield lets the part fall when the chat's pace has no room for it now:
	// placeholders and previews. The error is then SendError{Kind: Busy}.
	Yield bool `json:"-"`
	// Paced parts have taken their place with Pace and do not wait again.
	Paced bool `json:"-"`
}

// Work is what the bot does right now.
type Work struct {
	Kind WorkKind `json:"kind"`
	// Tool is the name of the tool, with WorkTool and WorkWaiting.
	Tool string `json:"tool,omitempty"`
	// Detail is what the tool works on, such as its command: one short line without
	// secrets, empty when there is nothing to say. It is foreign text.
	Detail string `json:"detail,omitempty"`
	// Since is when it began.
	Since time.Time `json:"since"`
}

// WorkKind is a kind of work.
type WorkKind string

// The kinds of work.
const (
	// WorkThinking waits for the model.
	WorkThinking WorkKind = "thinking"
	WorkTool     WorkKind = "tool"
	// WorkWaiting waits for a person who decides about the tool.
	WorkWaiting WorkKind = "waiting"
	// WorkIdle says that the answer is complete and on its way.
	WorkIdle WorkKind = "idle"
)

// Entity formats a range of a Part's text. Offset and Length count UTF-16 code
// units, as Telegram does.
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
}

// Button is a button below a message.
type Button struct {
	Text string `json:"text"`
	// Data is 1 to 64 bytes and comes back in Callback.Data.
	Data string `json:"data,omitempty"`
	// URL, in place of Data, is a page on the web that the button opens.
	URL string `json:"url,omitempty"`
}

// Failure is the kind of a SendError.
type Failure string

// The kinds of failures of sending, each with what the sender does about it.
const (
	// Refused: the allow list does not name the chat. Never sent.
	Refused Failure = "refused"
	// Busy: a part that yields found no room. Let it fall.
	Busy Failure = "busy"
	// Retry: not delivered, for certain. Send again after RetryAfter.
	Retry Failure = "retry"
	// Ambiguous: written, but not answered. It may be there.
	Ambiguous Failure = "ambiguous"
	// Dead: the chat is gone or has blocked the bot. Do not try again.
	Dead Failure = "dead"
	// Moved: the chat has the new id MigrateTo. Send there.
	Moved Failure = "moved"
	// NotFound: the message to edit is not there any more. Send a new one.
	NotFound Failure = "not_found"
	// Muted: the bot may not write there now. Try again later.
	Muted Failure = "muted"
	// Rejected: the channel will never take this part.
	Rejected Failure = "rejected"
	// Voiceless: the chat takes no voice messages. Send text only.
	Voiceless Failure = "voiceless"
	// Stopped: the channel itself does not work (a revoked token).
	Stopped Failure = "stopped"
)

// SendError is the error of Send, Edit and Delete.
type SendError struct {
	Kind Failure
	// RetryAfter is how long the channel asks to wait, 0 when it does not say.
	RetryAfter time.Duration
	// MigrateTo is the new id of a chat that moved.
	MigrateTo int64
	// Server says that the messenger itself failed (a status of 5xx) with an
	// Ambiguous send: it may be repeated more often than a lost answer.
	Server bool
	// Topic says that a chat is Muted in this topic only.
	Topic bool
	Err   error
}

// MutedBy is the error of a send to a place where the bot may not write.
func MutedBy(err error) (fail *SendError, muted bool) {
	fail, ok := errors.AsType[*SendError](err)
	return fail, ok && fail.Kind == Muted
}

func (e *SendError) Error() string { return fmt.Sprintf("%s: %v", e.Kind, e.Err) }

func (e *SendError) Unwrap() error { return e.Err }

// States of a channel for Health.State that others decide by.
const (
	// StateOK: the channel works.
	StateOK = "ok"
	// StateConnecting and StateStale: the messenger is out of reach, in the
	// second case for minutes.
	StateConnecting = "connecting"
	StateStale      = "stale"
	// StateConflict: another program receives the updates. StateStopped: the channel
	// has given up.
	StateConflict = "conflict"
	StateStopped  = "stopped"
)

// Health is how a channel fares.
type Health struct {
	Channel string `json:"channel"`
	// Name is the bot's name there ("@mybot"), empty while unknown.
	Name string `json:"name,omitempty"`
	// State is one of the states above.
	State string `json:"state"`
	// LastPoll is the time of the last successful poll, zero for never.
	LastPoll time.Time `json:"last_poll,omitzero"`
	// Fault is the last error in words, empty when all is well.
	Fault string `json:"fault,omitempty"`
	// Strangers counts the updates blocked by the allow list.
	Strangers int64 `json:"strangers"`
}

// command is how a text begins that is a command. A path, such as /usr/bin, is none.
var command = regexp.MustCompile(`^/([A-Za-z0-9_]{1,64})(?:@\w+)?(?:\s+|$)`)

// CommandIn is the command that a text begins with, in lower case, and what follows it.
// The name is empty for other texts.
func CommandIn(text string) (name, args string) {
	found := command.FindStringSubmatch(text)
	if found == nil {
		return "", ""
	}
	return strings.ToLower(found[1]), strings.TrimSpace(text[len(found[0]):])
}
