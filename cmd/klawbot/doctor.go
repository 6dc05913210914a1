package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"klawbot/engine"
	"klawbot/gateway/telegram"
	"klawbot/internal/httpclient"
)

// finding is what the doctor says about one part.
type finding struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	// Fix is a command or a step that mends it, empty when it is well.
	Fix string `json:"fix,omitempty"`
}

func well(name, format string, args ...any) finding {
	return finding{Name: name, OK: true, Text: fmt.Sprintf(format, args...)}
}

func ill(name, fix string, err error) finding {
	return finding{Name: name, Text: err.Error(), Fix: fix}
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Prove each part from end to end",
		Long:  "Tries every part for real, one short model call included, and names one command for each fix.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all := a.examine(cmd.Context())
			healthy := true
			for i := range all {
				all[i].Text = a.redact.Text(all[i].Text)
				healthy = healthy && all[i].OK
			}
			if err := a.printFindings(all, healthy, asJSON); err != nil {
				return err
			}
			if !healthy {
				return errSilent
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func (a *app) printFindings(all []finding, healthy, asJSON bool) error {
	if asJSON {
		return a.printJSON(struct {
			OK     bool      `json:"ok"`
			Checks []finding `json:"checks"`
		}{healthy, all})
	}
	for _, f := range all {
		mark := "✓"
		if !f.OK {
			mark = "✗"
		}
		fmt.Fprintf(a.stdout, "%s %-10s %s\n", mark, f.Name, f.Text)
		if f.Fix != "" {
			fmt.Fprintf(a.stdout, "  %-10s → %s\n", "", f.Fix)
		}
	}
	return nil
}

// examine looks at every part. Without a configuration the rest makes no sense.
func (a *app) examine(ctx context.Context) []finding {
	l, err := a.open()
	if err != nil {
		return []finding{ill("config", "mend the lines above, config.yaml.example explains every key", err)}
	}
	f, err := a.folders(l.config())
	if err != nil {
		return []finding{ill("data", "klawbot --data FOLDER …", err)}
	}
	client := httpclient.New(httpclient.Options{Proxy: true})
	all := []finding{configFinding(l), dataFinding(f.data), workspaceFinding(f.workspace)}
	all = append(all, a.botFinding(ctx, l, f))
	all = append(all, telegramFindings(ctx, l.config(), client)...)
	return append(all, modelFinding(ctx, l, client))
}

// again is the command that sets the bot up, with or without a configuration
// that is there.
func again(l *live) string {
	if l.source.File == "" {
		return "klawbot init"
	}
	return "klawbot init --force"
}

func configFinding(l *live) finding {
	if l.source.File == "" {
		return well("config", "none, defaults and environment")
	}
	info, err := os.Stat(l.source.File)
	if err != nil {
		return ill("config", "klawbot init", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return ill("config", "chmod 600 "+l.source.File, fmt.Errorf("%s can be read by others (%v)", l.source.File, info.Mode().Perm()))
	}
	return well("config", "%s", l.source.File)
}

// minDisk is the free space below which a database should not be written.
const minDisk = 100 << 20

func dataFinding(dir string) finding {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ill("data", "klawbot --data FOLDER …, with a folder that you may write", err)
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return ill("data", "chown -R $USER "+dir, err)
	}
	_ = probe.Close() // nothing was written
	if err := os.Remove(probe.Name()); err != nil {
		return ill("data", "chown -R $USER "+dir, err)
	}
	free, err := freeBytes(dir)
	switch {
	case err != nil:
		return ill("data", "df "+dir, err)
	case free < minDisk:
		return ill("data", "df "+dir, fmt.Errorf("%s has only %d MiB left", dir, free>>20))
	}
	return well("data", "%s, %d MiB free", dir, free>>20)
}

func workspaceFinding(dir string) finding {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ill("workspace", "klawbot run makes it", err)
	}
	return well("workspace", "%s, %d entries", dir, len(entries))
}

// botFinding asks the running bot, or reads the database of a stopped one.
func (a *app) botFinding(ctx context.Context, l *live, f folders) finding {
	r, err := askStatus(ctx, f.data)
	switch {
	case err == nil && r.Config.Fault != "":
		return ill("bot", "mend config.yaml; it is applied within a second", fmt.Errorf("runs with the last good configuration: %s", r.Config.Fault))
	case err == nil:
		for _, h := range r.Channels {
			if h.Fault != "" {
				return ill("bot", "klawbot status", fmt.Errorf("%s: %s", h.Channel, h.Fault))
			}
		}
		return well("bot", "runs since %s, %d in, %d out waiting", r.Uptime.Round(time.Second), r.Inbox.Waiting, r.Outbox.Waiting)
	}
	p, err := a.wire(l, f, which{telegram: true, console: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		return ill("database", "klawbot init", err)
	}
	d, err := engine.Open(ctx, p.config)
	if err != nil {
		return ill("database", "klawbot run", err)
	}
	defer func() { _ = d.Close() }() // it was only read
	in, out, err := d.Queues(ctx)
	if err != nil {
		return ill("database", "klawbot run", err)
	}
	return well("database", "not running; %d in, %d out waiting", in.Waiting, out.Waiting)
}

func telegramFindings(ctx context.Context, c *Config, client *http.Client) []finding {
	t := c.Channels.Telegram
	if t.Token == "" {
		return []finding{well("telegram", "off; klawbot init turns it on")}
	}
	bot, err := telegram.Probe(ctx, t.Token, t.APIURL)
	if err != nil {
		return []finding{ill("telegram", "klawbot init --force", err)}
	}
	all := []finding{well("telegram", "@%s", bot.Username)}
	if len(t.AllowedChatIDs) == 0 {
		all = append(all, finding{Name: "allowed", Text: "nobody may talk to the bot", Fix: "klawbot allow ID"})
	} else {
		all = append(all, well("allowed", "%d chats", len(t.AllowedChatIDs)))
	}
	return append(all, clockFinding(ctx, client, t.APIURL))
}

// maxSkew is how wrong a clock may be before certificates and schedules suffer.
const maxSkew = 30 * time.Second

// clockFinding compares the clock with the Date of the server's answer.
func clockFinding(ctx context.Context, client *http.Client, address string) finding {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return ill("clock", "klawbot doctor", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return ill("clock", "klawbot doctor", err)
	}
	_ = resp.Body.Close() // a HEAD has no body
	there, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return well("clock", "not compared, %s tells no time", address)
	}
	if skew := time.Since(there).Abs(); skew > maxSkew {
		return ill("clock", "timedatectl set-ntp true", fmt.Errorf("off by %s", skew.Round(time.Second)))
	}
	return well("clock", "right")
}

func modelFinding(ctx context.Context, l *live, client *http.Client) finding {
	models := l.config().models()
	m, ok := models.Entries[models.Default]
	if !ok {
		return finding{Name: "model", Text: "none, so the bot answers commands only", Fix: again(l)}
	}
	started := time.Now()
	if _, err := engine.Probe(ctx, client, m); err != nil {
		return ill("model", again(l)+", or mend models in config.yaml", fmt.Errorf("%s at %s: %w", m.Name, m.Provider, err))
	}
	return well("model", "%s at %s answers in %s", m.Name, m.Provider, time.Since(started).Round(time.Millisecond))
}
