package setup

import (
	"context"
	"fmt"
	"strings"

	"rsc.io/qr"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/configedit"
	"klawbot/cmd/klawbot/internal/terminal"
)

// again asks about a configuration that is there: Enter keeps each answer, and what is
// not asked about stays as it is.
func (s Setup) again(ctx context.Context, file string) error {
	l, err := config.Open(config.Source{File: file, Environ: s.Environ, Redact: s.Redact})
	if err != nil {
		return err
	}
	fmt.Fprint(s.Stdout, s.Advice(fmt.Sprintf("%s exists. Enter keeps an answer, ? lists the models; to start over: klawbot init --force\n", config.Display(file))))
	p := terminal.Ask(s.Stdin, s.Stdout)
	c := l.Config()
	now, models := "none", c.EngineModels()
	if m, ok := models.Entries[models.Default]; ok {
		now = m.Name + " at " + m.Provider
	}
	if text, err := p.Ask(ctx, "Model", now); err != nil {
		return err
	} else if text != now {
		if err := s.changeModel(ctx, p, l, strings.TrimPrefix(text, "?"), &Answers{}); err != nil {
			return err
		}
	}
	telegram := "off"
	if c.Channels.Telegram.Token != "" {
		telegram = "on"
	}
	fmt.Fprintf(s.Stdout, "Telegram is %s.\n", telegram)
	text, err := p.AskSecret(ctx, "New bot token, or Enter to keep")
	if err != nil {
		return err
	}
	if text != "" {
		if err := s.changeToken(ctx, p, l, &Answers{Token: text}, false); err != nil {
			return err
		}
	}
	a := &Answers{Timezone: c.Location().String()}
	if err := s.askTimezone(ctx, p, a); err != nil {
		return err
	}
	if a.Timezone != c.Location().String() {
		if err := configedit.SetTimezone(l, a.Timezone); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(s.Stdout, s.Advice("The rest of the file is as it was. Next: klawbot run"))
	return err
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
