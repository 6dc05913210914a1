package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"klawbot/gateway"
)

// messenger is a channel in memory: a Telegram whose every answer the test
// decides. Texts are rendered one part a paragraph break of three lines.
type messenger struct {
	mu      sync.Mutex
	changed chan struct{}
	lastID  int64
	shown   []shown                              // what the chats show now, oldest first
	calls   []string                             // every call in words
	fail    func(call string) *gateway.SendError // asked before a call takes effect
	lose    func(call string) bool               // the call takes effect, its answer is lost
	hold    chan struct{}                        // blocks sends while it is open
	slow    chan struct{}                        // holds the file slowFile back
	hang    string                               // a send of this text is written and never answered
	ill     bool                                 // what Health says
	// document is a text that renders as a file.
	document string
	// limit is how long a part may be, 0 for no limit.
	limit int
	// invisible is a text that renders as nothing.
	invisible string
}

type shown struct {
	to   gateway.Address
	id   int64
	text string
	part gateway.Part
}

func newMessenger() *messenger { return &messenger{changed: make(chan struct{})} }

var _ gateway.Channel = (*messenger)(nil)

func (m *messenger) Name() string { return "telegram" }

func (m *messenger) Serve(ctx context.Context, _ gateway.Accept) error {
	<-ctx.Done()
	return nil
}

func (m *messenger) Decode(u gateway.Update) (gateway.Message, error) {
	if string(u.Raw) == "panic" {
		panic("decode")
	}
	var msg gateway.Message
	err := json.Unmarshal(u.Raw, &msg)
	return msg, err
}

func (m *messenger) Render(markdown string) []gateway.Part {
	if markdown == m.document && markdown != "" {
		return []gateway.Part{{Text: "summary"}, {Document: &gateway.Document{Name: "answer.md", Content: markdown}}}
	}
	var parts []gateway.Part
	for _, text := range strings.Split(markdown, "\n\n\n") {
		for m.limit > 0 && len(text) > m.limit {
			parts, text = append(parts, gateway.Part{Text: text[:m.limit]}), text[m.limit:]
		}
		if strings.TrimSpace(text) != "" && text != m.invisible {
			parts = append(parts, gateway.Part{Text: text})
		}
	}
	return parts
}

func (m *messenger) Send(ctx context.Context, to gateway.Address, p gateway.Part) (int64, error) {
	m.mu.Lock()
	hold := m.hold
	m.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if m.hang != "" && p.Text == m.hang {
		<-ctx.Done()
		return 0, &gateway.SendError{Kind: gateway.Ambiguous, Err: ctx.Err()}
	}
	var id int64
	err := m.do(fmt.Sprintf("send %s %s", to, p.Text), func() error {
		m.lastID++
		id = m.lastID
		m.shown = append(m.shown, shown{to, id, p.Text, p})
		return nil
	})
	return id, err
}

func (m *messenger) Edit(ctx context.Context, to gateway.Address, id int64, p gateway.Part) error {
	return m.do(fmt.Sprintf("edit %s %d %s", to, id, p.Text), func() error {
		i := slices.IndexFunc(m.shown, func(s shown) bool { return s.id == id })
		if i < 0 {
			return &gateway.SendError{Kind: gateway.NotFound, Err: fmt.Errorf("message to edit not found")}
		}
		m.shown[i].text, m.shown[i].part = p.Text, p
		return nil
	})
}

func (m *messenger) Delete(ctx context.Context, to gateway.Address, id int64) error {
	return m.do(fmt.Sprintf("delete %s %d", to, id), func() error {
		m.shown = slices.DeleteFunc(m.shown, func(s shown) bool { return s.id == id })
		return nil
	})
}

func (m *messenger) do(call string, effect func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, call)
	defer func() {
		close(m.changed)
		m.changed = make(chan struct{})
	}()
	if m.fail != nil {
		if err := m.fail(call); err != nil {
			return err
		}
	}
	if err := effect(); err != nil {
		return err
	}
	if m.lose != nil && m.lose(call) {
		return &gateway.SendError{Kind: gateway.Ambiguous, Err: fmt.Errorf("connection reset")}
	}
	return nil
}

func (m *messenger) Health() gateway.Health {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := gateway.Health{Channel: m.Name(), State: gateway.StateOK}
	if m.ill {
		h.State = "connecting"
	}
	return h
}

// recover says that the messenger can be reached again.
func (m *messenger) recover() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ill = false
}

// texts are what a chat shows now.
func (m *messenger) texts(chat int64) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var texts []string
	for _, s := range m.shown {
		if s.to.Chat.ID == chat {
			texts = append(texts, s.text)
		}
	}
	return texts
}

// textsAt are the texts of a chat of any channel.
func (m *messenger) textsAt(at gateway.Address) (texts []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.shown {
		if s.to == at {
			texts = append(texts, s.text)
		}
	}
	return texts
}

// log is every call so far.
func (m *messenger) log() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.calls)
}

// busy is how many times as long a machine may take that has other work too.
const busy = 10

// wait returns when done is true, and false when it takes too long, for a machine
// that is busy. done is asked again after every call, and now and then, because
// it may look at more than the messenger.
func (m *messenger) wait(limit time.Duration, done func() bool) bool {
	timeout := time.After(busy * limit)
	for {
		m.mu.Lock()
		changed := m.changed
		m.mu.Unlock()
		if done() {
			return true
		}
		select {
		case <-changed:
		case <-time.After(5 * time.Millisecond):
		case <-timeout:
			return done()
		}
	}
}
