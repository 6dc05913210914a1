package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/workspace"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/tools"
	"klawbot/tools/guide"
	"klawbot/tools/job"
	"klawbot/tools/mcp"
	"klawbot/tools/message"
	recalltools "klawbot/tools/recall"
	"klawbot/tools/self"
	"klawbot/tools/web"
)

// lent is what the engine lends to its own tools.
type lent struct {
	skills *workspace.Skills
	// model is the model that answers in a chat.
	model func(ctx context.Context, chat string) (name string, m settings.Model)
	// servers are how the MCP servers do.
	servers func() []mcp.Status
	// gone says why a chat cannot be reached any more, empty while it can.
	gone func(ctx context.Context, id gateway.ChatID) (why string, err error)
	// status is how the bot is doing.
	status func(context.Context) (Status, error)
	// schedules keeps what is planned.
	schedules *schedule.Editor
	// memory keeps and finds.
	memory *recall.Memory
	// web is what goes out into the web; nil is nothing.
	web *web.Web
}

// ownTools are the tools that need something of the engine.
func ownTools(c Config, l lent) []tools.Tool {
	all := slices.Concat(
		message.New(message.Config{
			Door:     door{c.Gateway, l.gone},
			Location: func() *time.Location { return c.Settings().Zone() },
			OpenFile: c.OpenFile,
		}),
		guide.New(guide.Config{Manual: c.Manual, Skills: shelf{l.skills}, Search: l.memory.SearchDocs}),
		recalltools.New(l.memory),
		job.Tools(job.Config{Schedules: l.schedules, Subagents: l.schedules}),
	)
	if l.web != nil {
		all = append(all, l.web.Tools()...)
	}
	if c.Configuration != nil {
		all = append(all, self.New(self.Config{Configuration: c.Configuration, Body: body{c, l}})...)
	}
	return all
}

// extractor has a model take out of a text what a call asks.
type extractor func(ctx context.Context, c tools.Call, question, text string) (string, error)

// newWeb makes the tools of the web and lends them a small model; nil is none.
func newWeb(c *web.Config, extract extractor) *web.Web {
	if c == nil {
		return nil
	}
	lending := *c
	lending.Extract = extract
	return web.New(lending)
}

// door lends the whitelist, and what is known of chats, to the tools that send.
type door struct {
	gateway *gateway.Gateway
	gone    func(ctx context.Context, id gateway.ChatID) (why string, err error)
}

// Check reports whether a message may leave for a chat in text form.
func (d door) Check(ctx context.Context, chat string) error {
	id, err := gateway.ParseChatID(chat)
	if err != nil {
		return err
	}
	if err := d.gateway.Reachable(id); err != nil {
		return err
	}
	switch why, err := d.gone(ctx, id); {
	case err != nil:
		return fmt.Errorf("%s cannot be looked up: %w", chat, err)
	case why != "":
		return &message.GoneError{Chat: chat, Why: why}
	}
	return nil
}

// goneIn tells why a chat cannot be reached, from the database.
func goneIn(ctx context.Context, s *store.Store, id gateway.ChatID) (why string, err error) {
	err = s.Read(ctx, func(tx *store.Tx) (err error) {
		why, err = tx.Chats().ChatGone(id.Channel, id.ID)
		return err
	})
	return why, err
}

// shelf lends the skills to the tools that show them.
type shelf struct{ skills *workspace.Skills }

// List returns the skills by name.
func (s shelf) List() ([]guide.Skill, error) {
	list, err := s.skills.List()
	all := make([]guide.Skill, len(list))
	for i, k := range list {
		all[i] = guide.Skill{Name: k.Name, Description: k.Description}
	}
	return all, inToolWords(err)
}

// Load returns the whole text of a skill.
func (s shelf) Load(name string) (text string, found bool, err error) {
	text, found, err = s.skills.Load(name)
	return text, found, inToolWords(err)
}

// inToolWords says it as the tools for files do.
func inToolWords(err error) error {
	if errors.Is(err, workspace.ErrNoWorkspace) {
		return guide.ErrNoWorkspace
	}
	return err
}

// body lends what is known of the bot to the tool self_info.
type body struct {
	config Config
	lent   lent
}

// Paths are the files and folders of the bot.
func (b body) Paths() []self.Entry {
	if b.config.Paths == nil {
		return nil
	}
	return b.config.Paths()
}

// Sandbox says where commands run.
func (b body) Sandbox() []self.Entry {
	if b.config.Sandbox == nil {
		return nil
	}
	return b.config.Sandbox()
}

// Provider says which model answers a chat, its key masked.
func (b body) Provider(ctx context.Context, chat string) []self.Entry {
	name, m := b.lent.model(ctx, chat)
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
func (b body) Stats(ctx context.Context) ([]self.Entry, error) {
	s, err := b.lent.status(ctx)
	if err != nil {
		return nil, err
	}
	backup := "none"
	if !s.Backup.At.IsZero() {
		backup = s.Backup.At.In(b.config.Settings().Zone()).Format("2006-01-02 15:04")
	}
	remembered, err := b.lent.memory.Stats(ctx)
	if err != nil {
		return nil, err
	}
	entries := []self.Entry{
		{Key: "memory", Value: remembered},
		{Key: "version", Value: b.config.Version},
		{Key: "running for", Value: s.Uptime.Round(time.Second).String()},
		{Key: "turns running", Value: strconv.Itoa(s.Running)},
		{Key: "messages waiting", Value: strconv.Itoa(s.Inbox.Waiting)},
		{Key: "replies waiting", Value: strconv.Itoa(s.Outbox.Waiting)},
		{Key: "database", Value: s.Database.State + ", " + strconv.FormatInt(s.Database.Bytes, 10) + " bytes"},
		{Key: "last backup", Value: backup},
		{Key: "usage", Value: s.Usage.Text(tools.English)},
	}
	for _, h := range s.Channels {
		entries = append(entries, self.Entry{Key: "channel " + h.Channel, Value: string(h.State)})
	}
	for _, f := range b.lent.servers() {
		finding := ServerFinding(f)
		entries = append(entries, self.Entry{Key: finding.Name, Value: finding.Text})
	}
	return entries, nil
}
