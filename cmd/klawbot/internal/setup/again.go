package setup

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"rsc.io/qr"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/configedit"
	"klawbot/cmd/klawbot/internal/terminal"
)

// again asks about a configuration that is there: Enter keeps each answer, and what is
// not asked about stays as it is. With --yes nothing is asked, and the flags alone change
// it. One without Telegram is new to the person: klawbot chat wrote it.
func (s Setup) again(ctx context.Context, file string, a *Answers) error {
	l, err := config.Open(config.Source{File: file, Environ: s.Environ, Redact: s.Redact})
	if err != nil {
		return err
	}
	if !a.Yes {
		s.say("%s exists. Enter keeps an answer; to start over: klawbot init --force", config.Display(file))
	}
	p := terminal.Ask(s.Stdin, s.Stdout)
	c := l.Config()
	name, models := "?", c.EngineModels()
	if m, ok := models.Entries[models.Default]; a.Yes || a.Model != "" {
		name = a.Model
	} else if ok {
		now := m.Name + " at " + m.Provider
		if name, err = p.Ask(ctx, "Model, or ? for a list", now); name == now {
			name = ""
		}
	}
	if err == nil && name != "" {
		err = s.changeModel(ctx, p, l, strings.TrimPrefix(name, "?"), a)
	}
	if err == nil && !a.NoTelegram {
		err = s.changeToken(ctx, p, l, a, false)
	}
	zone := c.Location().String()
	a.Timezone = cmp.Or(a.Timezone, zone)
	if err == nil && !a.Yes {
		err = s.askTimezone(ctx, p, a)
	}
	if err == nil && a.Timezone != zone {
		err = configedit.SetTimezone(l, a.Timezone)
	}
	if err == nil && c.Channels.Telegram.Token == "" {
		err = s.askRest(ctx, p, l, a)
	}
	if err == nil {
		_, err = fmt.Fprintln(s.Stdout, s.Advice(a.nextStep()))
	}
	return err
}

// askRest asks what a first klawbot init asks beside model, Telegram and time zone.
func (s Setup) askRest(ctx context.Context, p *terminal.Prompter, l *config.Live, a *Answers) error {
	a.Web = a.Web || l.Config().Channels.Web.Enabled
	if !a.Yes {
		if err := s.askExtras(ctx, p, a); err != nil {
			return err
		}
	}
	if a.Web && !l.Config().Channels.Web.Enabled {
		if err := configedit.EnableWeb(l); err != nil {
			return err
		}
	}
	if a.Embedding != "" && a.Embedding != l.Config().Memory.Embedding.Model {
		if err := configedit.SetEmbedding(l, a.Embedding); err != nil {
			return err
		}
	}
	l.Reload(slog.New(slog.DiscardHandler))
	f, err := config.FindFolders(s.DataFlag, l.Source.File, l.Config(), s.getenv)
	if err != nil {
		return err
	}
	return s.download(ctx, l.Config(), f, a)
}

// showLink shows the address of the bot, in a terminal as a code for a phone's camera
// too.
func (s Setup) showLink(address string) {
	fmt.Fprintln(s.Stdout, address)
	code, err := qr.Encode(address, qr.L)
	if err != nil || !terminal.Is(s.Stdout) {
		return // the address is enough
	}
	fmt.Fprint(s.Stdout, blocks(code.Size, code.Black))
}

// quiet is the light border that cameras need, in modules.
const quiet = 2

// blocks draws two rows of a code in one line, light on dark as most terminals are: what
// is drawn is what is light.
func blocks(size int, black func(x, y int) bool) string {
	var b strings.Builder
	for y := -quiet; y < size+quiet; y += 2 {
		for x := -quiet; x < size+quiet; x++ {
			b.WriteString(map[[2]bool]string{{false, false}: "█", {false, true}: "▀", {true, false}: "▄", {true, true}: " "}[[2]bool{black(x, y), black(x, y+1)}])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
