package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/engine"
	"klawbot/gateway"
	"klawbot/whitelist"
)

// row is a line of the start table: ok, or what is wrong and the mend.
type row struct {
	name, text, wrong string
}

func (r row) String() string {
	if r.wrong != "" {
		return fmt.Sprintf("  ✗ %-10s %s", r.name, join(r.text, r.wrong))
	}
	return fmt.Sprintf("  ✓ %-10s %s", r.name, r.text)
}

func join(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ": ")
}

// channelRows waits a moment for the channels to connect.
func (a *app) channelRows(ctx context.Context, p *parts) []row {
	ctx, cancel := context.WithTimeout(ctx, nameTimeout)
	defer cancel()
	tick := time.NewTicker(nameInterval)
	defer tick.Stop()
	health := p.config.Gateway.Health()
	for settling(health) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			health = p.config.Gateway.Health()
		}
	}
	var rows []row
	for _, h := range health {
		rows = append(rows, channelRow(h))
		if h.Channel == "telegram" {
			rows = append(rows, allowedRow(p.live.Config()))
		}
	}
	return rows
}

func settling(all []gateway.Health) bool {
	return slices.ContainsFunc(all, func(h gateway.Health) bool { return h.Fault == "" && !connected(h) })
}

// connected says that the channel has reached its messenger. The first long
// poll is answered much later than the question for the bot's name.
func connected(h gateway.Health) bool {
	return h.State == "ok" || h.State == "connecting" && h.Name != ""
}

func channelRow(h gateway.Health) row {
	r := row{name: h.Channel, text: h.Name}
	switch {
	case h.Fault != "":
		r.wrong = h.Fault
	case !connected(h):
		r.wrong = h.State + "; klawbot status says how it goes on"
	case h.Channel == "console":
		r.text = "klawbot chat attaches"
	}
	return r
}

func allowedRow(c *config.Config) row {
	ids := c.Channels.Telegram.AllowedChatIDs
	if len(ids) == 0 {
		return row{name: "allowed", wrong: "nobody: klawbot allow ID lets a chat in, klawbot init finds your id"}
	}
	texts := make([]string, 0, 4)
	for i, id := range ids {
		if i == cap(texts)-1 && len(ids) > cap(texts) {
			texts = append(texts, fmt.Sprintf("and %d more", len(ids)-i))
			break
		}
		texts = append(texts, whitelist.FormatID("telegram", id))
	}
	return row{name: "allowed", text: strings.Join(texts, ", ")}
}

// modelRow asks the model's server whether it knows the model, without a
// completion.
func (p *parts) modelRow(ctx context.Context) row {
	models := p.live.Config().EngineModels()
	m, ok := models.Entries[models.Default]
	if !ok {
		return row{name: "model", wrong: "none, so the bot answers commands only: klawbot init sets one up"}
	}
	ctx, cancel := context.WithTimeout(ctx, modelTimeout)
	defer cancel()
	r := row{name: "model", text: fmt.Sprintf("%s (%s at %s)", models.Default, m.Name, m.Provider)}
	if err := engine.CheckModel(ctx, p.config.HTTP, m); err != nil {
		r.wrong = err.Error()
	}
	return r
}

// placeRows are the folders. They were opened before, so they are well.
func (p *parts) placeRows() []row {
	file := "none: defaults and environment"
	if f := p.live.Source.File; f != "" {
		file = f
	}
	return []row{
		{name: "config", text: file, wrong: p.live.Broken()},
		{name: "data", text: p.folders.Data},
		{name: "workspace", text: p.folders.Workspace},
		p.box.row(),
		{name: "memory", text: engine.EmbeddingText(p.config)},
	}
}
