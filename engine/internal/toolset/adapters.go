package toolset

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/workspace"
	"klawbot/gateway"
	"klawbot/tools/guide"
	"klawbot/tools/message"
	"klawbot/tools/self"
)

// chats shows the tools that send which chats the whitelist lets them write to, and
// which are gone.
type chats struct {
	gateway *gateway.Gateway
	open    func() (*store.Store, error)
}

// Check reports whether a message may leave for a chat in text form.
func (a chats) Check(ctx context.Context, chat string) error {
	id, err := gateway.ParseChatID(chat)
	if err != nil {
		return err
	}
	if err := a.gateway.Reachable(id); err != nil {
		return err
	}
	db, err := a.open()
	if err != nil {
		return nil // without a database nothing is known of chats
	}
	switch why, err := Gone(ctx, db, id); {
	case err != nil:
		return fmt.Errorf("%s cannot be looked up: %w", chat, err)
	case why != "":
		return &message.GoneError{Chat: chat, Why: why}
	}
	return nil
}

// Gone says why a chat cannot be reached any more, empty while it can.
func Gone(ctx context.Context, s *store.Store, id gateway.ChatID) (why string, err error) {
	err = s.Read(ctx, func(tx *store.Tx) (err error) {
		why, err = tx.Chats().ChatGone(id.Channel, id.ID)
		return err
	})
	return why, err
}

// skills shows the skills to the tools for them.
type skills struct{ all *workspace.Skills }

// List returns the skills by name.
func (a skills) List() ([]guide.Skill, error) {
	list, err := a.all.List()
	all := make([]guide.Skill, len(list))
	for i, k := range list {
		all[i] = guide.Skill{Name: k.Name, Description: k.Description}
	}
	return all, inToolWords(err)
}

// Load returns the whole text of a skill.
func (a skills) Load(name string) (text string, found bool, err error) {
	text, found, err = a.all.Load(name)
	return text, found, inToolWords(err)
}

// inToolWords says it as the tools for files do.
func inToolWords(err error) error {
	if errors.Is(err, workspace.ErrNoWorkspace) {
		return guide.ErrNoWorkspace
	}
	return err
}

// info shows what is known of the bot to the tool self_info.
type info struct {
	config Config
	hooks  Hooks
}

// Paths are the files and folders of the bot.
func (a info) Paths() []self.Entry {
	if a.config.Paths == nil {
		return nil
	}
	return a.config.Paths()
}

// Sandbox says where commands run.
func (a info) Sandbox() []self.Entry {
	if a.config.Sandbox == nil {
		return nil
	}
	return a.config.Sandbox()
}

// Provider says which model answers a chat, its key masked.
func (a info) Provider(ctx context.Context, chat string) []self.Entry {
	name, m := a.hooks.Model(ctx, chat)
	if name == "" {
		return []self.Entry{{Key: "model", Value: "none; the bot runs without one"}}
	}
	key := self.Mask(m.APIKey)
	if key == "" {
		key = "none"
	}
	return []self.Entry{
		{Key: "model", Value: name + " (" + m.Name + ")"},
		{Key: "provider", Value: m.Provider + " (" + m.Type + ")"},
		{Key: "address", Value: m.BaseURL},
		{Key: "key", Value: key},
		{Key: "context budget", Value: strconv.Itoa(m.ContextBudget) + " tokens"},
		{Key: "longest answer", Value: strconv.Itoa(m.MaxTokens) + " tokens"},
	}
}

// Stats are how the bot is doing.
func (a info) Stats(ctx context.Context) ([]self.Entry, error) { return a.hooks.Stats(ctx) }
