package bot

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine"
	"klawbot/gateway/telegram"
	"klawbot/internal/httpclient"
)

// Surroundings are the findings about what is around the engine, without a bot.
func (c Config) Surroundings(ctx context.Context) []engine.Finding {
	return surroundings(ctx, c.Live, &box{live: c.Live, folders: c.Folders})
}

// surroundings are the findings about what is around the engine; a running bot
// gives them to /doctor.
func surroundings(ctx context.Context, l *config.Live, b *box) []engine.Finding {
	f := b.folders
	client := httpclient.New(httpclient.Options{Proxy: true})
	defer client.CloseIdleConnections()
	all := []engine.Finding{configFinding(l), dataFinding(f.Data), workspaceFinding(f.Workspace), b.finding(ctx)}
	all = append(all, pluginFindings(l, b)...)
	return append(all, telegramFindings(ctx, l.Config(), client)...)
}

func configFinding(l *config.Live) engine.Finding {
	if l.Source.File == "" {
		return engine.Well("config", "none, defaults and environment")
	}
	if fault := l.Broken(); fault != "" {
		return engine.Ill("config", "correct the file; it is applied within a second", fmt.Errorf("the last good one is in use: %s", fault))
	}
	info, err := os.Stat(l.Source.File)
	if err != nil {
		return engine.Ill("config", "klawbot init", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return engine.Ill("config", "chmod 600 "+l.Source.File, fmt.Errorf("%s can be read by others (%v)", l.Source.File, info.Mode().Perm()))
	}
	return engine.Well("config", "%s", l.Source.File)
}

func dataFinding(dir string) engine.Finding {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return engine.Ill("data", "klawbot --data FOLDER …, with a folder that you may write", err)
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return engine.Ill("data", "chown -R $USER "+dir, err)
	}
	_ = probe.Close() // nothing was written
	if err := os.Remove(probe.Name()); err != nil {
		return engine.Ill("data", "chown -R $USER "+dir, err)
	}
	for _, name := range []string{"klawbot.db", "conversations"} {
		name = filepath.Join(dir, name)
		if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o077 != 0 {
			return engine.Ill("data", "chmod go-rwx "+name, fmt.Errorf("%s can be read by others (%v)", name, info.Mode().Perm()))
		}
	}
	return engine.Well("data", "%s", dir)
}

func workspaceFinding(dir string) engine.Finding {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return engine.Ill("workspace", "created by klawbot run", err)
	}
	return engine.Well("workspace", "%s, %d entries", dir, len(entries))
}

func telegramFindings(ctx context.Context, c *config.Config, client *http.Client) []engine.Finding {
	t := c.Channels.Telegram
	if t.Token == "" {
		return []engine.Finding{engine.Well("telegram", "off; set it up: klawbot init")}
	}
	bot, err := telegram.Probe(ctx, t.Token, t.APIURL)
	if err != nil {
		return []engine.Finding{engine.Ill("telegram", "check the network and channels.telegram.token in config.yaml", err)}
	}
	all := []engine.Finding{engine.Well("telegram", "@%s", bot.Username)}
	if len(t.AllowedChatIDs) == 0 {
		all = append(all, engine.Finding{Name: "allowed", Text: "no chats allowed", Fix: "klawbot allow ID"})
	} else {
		all = append(all, engine.Well("allowed", "%s", terminal.Plural(len(t.AllowedChatIDs), "chat", "chats")))
	}
	return append(all, clockFinding(ctx, client, t.APIURL))
}

// maxSkew is how wrong a clock may be before certificates and schedules suffer.
const maxSkew = 30 * time.Second

// clockFinding compares the clock with the Date of the server's answer.
func clockFinding(ctx context.Context, client *http.Client, address string) engine.Finding {
	ctx, cancel := context.WithTimeout(ctx, StatusTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return engine.Ill("clock", "klawbot doctor", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return engine.Ill("clock", "klawbot doctor", err)
	}
	_ = resp.Body.Close() // a HEAD has no body
	there, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return engine.Well("clock", "not compared; %s sends no date", address)
	}
	if skew := time.Since(there).Abs(); skew > maxSkew {
		return engine.Ill("clock", "timedatectl set-ntp true", fmt.Errorf("off by %s", skew.Round(time.Second)))
	}
	return engine.Well("clock", "right")
}
