package bot

import (
	"context"
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

// Row is a line of the start table: ok, or what is wrong and how to fix it.
type Row struct {
	name, text, wrong string
}

func (r Row) String() string {
	if r.wrong != "" {
		return fmt.Sprintf("  ✗ %-10s %s", r.name, terminal.Joined(r.text, r.wrong))
	}
	return fmt.Sprintf("  ✓ %-10s %s", r.name, r.text)
}

// The patience of the start table.
const (
	nameTimeout  = 5 * time.Second
	nameInterval = 20 * time.Millisecond
	modelTimeout = 10 * time.Second
)

// table is the start table, when Telegram has told the bot's name and the models were
// looked at. The bot works already; ok is false when it ends before.
func (p *Bot) table(ctx context.Context) (rows []Row, ok bool) {
	models := make(chan []Row, 1)
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

func (p *Bot) programRows() (rows []Row) {
	servers := p.Live.Settings().MCP
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if err := servers[name].Missing(); err != nil {
			rows = append(rows, Row{name: "mcp " + name, wrong: err.Error()})
		}
	}
	for _, f := range browserFindings(p.Live.Config()) {
		rows = append(rows, Row{name: f.Name, wrong: f.Text + "; " + f.Fix})
	}
	return rows
}

func (p *Bot) channelRows(ctx context.Context) []Row {
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
	var rows []Row
	for _, h := range health {
		rows = append(rows, channelRow(h))
		if h.Channel == "telegram" {
			rows = append(rows, allowedRow(p.Live.Config()))
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

func channelRow(h gateway.Health) Row {
	r := Row{name: h.Channel, text: h.Name}
	switch {
	case h.Fault != "":
		r.wrong = h.Fault
	case !connected(h):
		r.wrong = h.State + "; klawbot status shows the progress"
	case h.Channel == "console":
		r.text = "klawbot chat attaches"
	}
	return r
}

func allowedRow(c *config.Config) Row {
	ids := c.Channels.Telegram.AllowedChatIDs
	if len(ids) == 0 {
		return Row{name: "allowed", wrong: "no chats allowed; run klawbot allow ID (klawbot init finds your ID)"}
	}
	texts := make([]string, 0, 4)
	for i, id := range ids {
		if i == cap(texts)-1 && len(ids) > cap(texts) {
			texts = append(texts, fmt.Sprintf("and %d more", len(ids)-i))
			break
		}
		texts = append(texts, whitelist.FormatID("telegram", id))
	}
	return Row{name: "allowed", text: strings.Join(texts, ", ")}
}

// modelRows are the default model, and what is wrong with the others that the bot uses
// by itself. Their servers are asked whether they know them, without a completion.
func (p *Bot) modelRows(ctx context.Context) []Row {
	ctx, cancel := context.WithTimeout(ctx, modelTimeout)
	defer cancel()
	models := p.Live.Config().EngineModels()
	m, ok := models.Entries[models.Default]
	if !ok {
		return []Row{{name: "model", wrong: "none (commands only); run klawbot init"}}
	}
	r := Row{name: "model", text: fmt.Sprintf("%s (%s at %s)", models.Default, m.Name, m.Provider)}
	others := health.OtherModels(ctx, p.config.HTTP, models)
	if err := probe.Check(ctx, p.config.HTTP, m); err != nil {
		r.wrong = err.Error()
	}
	rows := []Row{r}
	for _, f := range others {
		rows = append(rows, Row{name: f.Name, wrong: f.Text})
	}
	return rows
}

// pathRows are the configuration and the folders, which were opened before, and what
// runs in them.
func (p *Bot) pathRows(ctx context.Context) []Row {
	file := "none: defaults and environment"
	if f := p.Live.Source.File; f != "" {
		file = f
	}
	workspace := Row{name: "workspace", text: p.Folders.Workspace}
	if err := writable(p.Folders.Workspace); err != nil {
		workspace.wrong = fmt.Sprintf("cannot be written (%v); chown -R $USER %s", config.Reason(err), p.Folders.Workspace)
	}
	return []Row{
		{name: "config", text: file, wrong: p.Live.Broken()},
		{name: "data", text: p.Folders.Data},
		workspace,
		p.box.row(),
		{name: "memory", text: health.EmbeddingText(ctx, p.config.Base)},
		{name: "seeing", text: health.SeeingText(p.Live.Settings())},
		{name: "hearing", text: health.HearingText(p.config.Base)},
		{name: "speaking", text: health.SpeakingText(p.config.Base)},
		{name: "reading", text: health.ReadingText(ctx, p.Live.Settings().Media.Documents)},
	}
}
