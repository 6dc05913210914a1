package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine/health"
	"klawbot/engine/probe"
	"klawbot/gateway"
	"klawbot/whitelist"
)

// The patience of the start table.
const (
	nameTimeout  = 5 * time.Second
	nameInterval = 20 * time.Millisecond
	modelTimeout = 10 * time.Second
)

// table is the start table, when Telegram has told the bot's name and the models were
// looked at. The bot works already; ok is false when it ends before.
func (p *Bot) table(ctx context.Context) (rows []health.Finding, ok bool) {
	models := make(chan []health.Finding, 1)
	go func() { models <- p.modelRows(ctx) }()
	rows = p.channelRows(ctx)
	select {
	case r := <-models:
		rows = append(rows, r...)
	case <-ctx.Done():
		return nil, false
	}
	rows = append(rows, p.pathRows(ctx)...)
	return append(rows, p.programRows()...), true
}

func (p *Bot) programRows() (rows []health.Finding) {
	servers := p.Live.Settings().MCP
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if err := servers[name].Missing(); err != nil {
			rows = append(rows, health.Broken("mcp "+name, "tools.mcp."+name+" in config.yaml", err))
		}
	}
	return append(rows, browserFindings(p.Live.Config())...)
}

func (p *Bot) channelRows(ctx context.Context) []health.Finding {
	ctx, cancel := context.WithTimeout(ctx, nameTimeout)
	defer cancel()
	tick := time.NewTicker(nameInterval)
	defer tick.Stop()
	all := p.config.Gateway.Health()
	for settling(all) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			all = p.config.Gateway.Health()
		}
	}
	var rows []health.Finding
	for _, h := range all {
		rows = append(rows, channelRow(h))
		if h.Channel == "telegram" {
			rows = append(rows, allowedRow(p.Live.Config()))
		}
	}
	return rows
}

func settling(all []gateway.Health) bool {
	return slices.ContainsFunc(all, func(h gateway.Health) bool {
		return h.Fault == "" && (!connected(h) || h.Channel == "telegram" && h.Name == "")
	})
}

// connected says that the channel has reached its messenger. The first long
// poll is answered much later than the question for the bot's name.
func connected(h gateway.Health) bool {
	return h.State == "ok" || h.State == "connecting" && h.Name != ""
}

func channelRow(h gateway.Health) health.Finding {
	switch {
	case h.State == gateway.StateStopped || h.State == gateway.StateConflict:
		return health.Broken(h.Channel, "klawbot doctor", errors.New(terminal.Joined(h.Name, cmp.Or(h.Fault, h.State))))
	case h.Fault != "":
		return health.Limited(h.Channel, "check the connection; klawbot doctor", terminal.Joined(h.Name, h.Fault)+"; I keep trying")
	case !connected(h):
		return health.Limited(h.Channel, "klawbot status shows the progress", "no answer yet; I keep trying")
	case h.Channel == "console":
		return health.OK(h.Channel, "klawbot chat attaches")
	}
	return health.OK(h.Channel, "%s", cmp.Or(h.Name, "connected"))
}

func allowedRow(c *config.Config) health.Finding {
	ids := c.Channels.Telegram.AllowedChatIDs
	if len(ids) == 0 {
		return health.Limited("allowed", "klawbot allow ID (klawbot init finds your ID)", "no chats allowed")
	}
	texts := make([]string, 0, 4)
	for i, id := range ids {
		if i == cap(texts)-1 && len(ids) > cap(texts) {
			texts = append(texts, fmt.Sprintf("and %d more", len(ids)-i))
			break
		}
		texts = append(texts, whitelist.FormatID("telegram", id))
	}
	return health.OK("allowed", "%s", strings.Join(texts, ", "))
}

// modelRows are the default model, and what is wrong with the others that the bot uses
// by itself. Their servers are asked whether they know them, without a completion.
func (p *Bot) modelRows(ctx context.Context) []health.Finding {
	ctx, cancel := context.WithTimeout(ctx, modelTimeout)
	defer cancel()
	models := p.Live.Config().EngineModels()
	m, ok := models.Entries[models.Default]
	if !ok {
		return []health.Finding{health.Off("model", "klawbot model", "none: commands, notes and reminders work")}
	}
	r := health.OK("model", "%s (%s at %s)", models.Default, m.Name, m.Provider)
	others := health.OtherModels(ctx, p.config.HTTP, models)
	if err := probe.Check(ctx, p.config.HTTP, m); err != nil {
		r = health.Broken("model", "klawbot doctor", fmt.Errorf("%s: %w", r.Text, err))
	}
	rows := []health.Finding{r}
	return append(rows, others...)
}

// pathRows are the configuration and the folders, which were opened before, and what
// runs in them.
func (p *Bot) pathRows(ctx context.Context) []health.Finding {
	file := "none: defaults and environment"
	if f := p.Live.Source.File; f != "" {
		file = f
	}
	workspace := health.OK("workspace", "%s", p.Folders.Workspace)
	if err := writable(p.Folders.Workspace); err != nil {
		workspace = health.Broken("workspace", "chown -R $USER "+p.Folders.Workspace, fmt.Errorf("%s cannot be written (%w)", p.Folders.Workspace, config.Reason(err)))
	}
	configuration := health.OK("config", "%s", file)
	if fault := p.Live.Broken(); fault != "" {
		configuration = health.Broken("config", "correct the file", fmt.Errorf("%s: %s", file, fault))
	}
	memory := health.OK("memory", "%s", health.EmbeddingText(ctx, p.config.Base))
	if embedding := p.Live.Config().EngineMemory().Embedding; embedding.Type == "onnx" && !Complete(AssetPlaces(ctx, p.Live.Config(), p.Folders).Files()) {
		memory = health.Limited("memory", "klawbot assets pull", strings.TrimSuffix(memory.Text, ": klawbot assets pull"))
	}
	rows := []health.Finding{configuration, health.OK("data", "%s", p.Folders.Data), workspace, p.box.row(), memory}
	return append(rows, health.Senses(ctx, p.config.Base)...)
}
