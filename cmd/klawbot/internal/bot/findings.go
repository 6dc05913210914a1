package bot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine/health"
	"klawbot/gateway/telegram"
	"klawbot/internal/httpclient"
)

// Surroundings are the findings about what is around the engine, without a bot.
func (c Config) Surroundings(ctx context.Context) []health.Finding {
	return surroundings(ctx, c.Live, &box{live: c.Live, folders: c.Folders})
}

// surroundings are the findings about what is around the engine; a running bot
// gives them to /doctor.
func surroundings(ctx context.Context, l *config.Live, b *box) []health.Finding {
	f := b.folders
	client := httpclient.New(httpclient.Options{Proxy: true})
	defer client.CloseIdleConnections()
	all := []health.Finding{configFinding(l)}
	for _, text := range l.Problems() {
		all = append(all, health.Broken("config", "edit "+l.Source.File, errors.New(text)))
	}
	all = append(all, dataFinding(f.Data), workspaceFinding(f.Workspace), b.finding(ctx))
	all = append(all, pluginFindings(l, b)...)
	all = append(all, browserFindings(l.Config())...)
	return append(all, telegramFindings(ctx, l.Config(), client)...)
}

func configFinding(l *config.Live) health.Finding {
	if l.Source.File == "" {
		return health.OK("config", "none, defaults and environment")
	}
	if fault := l.Broken(); fault != "" {
		return health.Broken("config", "correct the file; it is applied within a second", fmt.Errorf("the last good one is in use: %s", fault))
	}
	info, err := os.Stat(l.Source.File)
	if err != nil {
		return health.Broken("config", "klawbot init", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return health.Broken("config", "chmod 600 "+l.Source.File, fmt.Errorf("%s can be read by others (%v)", l.Source.File, info.Mode().Perm()))
	}
	return health.OK("config", "%s", l.Source.File)
}

func dataFinding(dir string) health.Finding {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return health.Broken("data", "klawbot --data DIRECTORY …, with a directory that you may write", err)
	}
	if err := writable(dir); err != nil {
		return health.Broken("data", "chown -R $USER "+dir, err)
	}
	for _, name := range []string{"klawbot.db", "conversations"} {
		name = filepath.Join(dir, name)
		if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o077 != 0 {
			return health.Broken("data", "chmod go-rwx "+name, fmt.Errorf("%s can be read by others (%v)", name, info.Mode().Perm()))
		}
	}
	return health.OK("data", "%s", dir)
}

func workspaceFinding(dir string) health.Finding {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return health.OK("workspace", "new: the first klawbot run or klawbot chat makes it")
	}
	if err != nil {
		return health.Broken("workspace", "chown -R $USER "+dir, err)
	}
	if err := writable(dir); err != nil {
		return health.Broken("workspace", "chown -R $USER "+dir, err)
	}
	return health.OK("workspace", "%s, %d entries", dir, len(entries))
}

// writable makes a file in a folder and removes it.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	_ = f.Close() // nothing was written
	return os.Remove(f.Name())
}

func browserFindings(c *config.Config) []health.Finding {
	path := c.Tools.Browser.Path
	if _, err := exec.LookPath(path); path != "" && err != nil {
		return []health.Finding{health.Broken("browser", "change tools.browser.path, or leave it out to have Chromium looked for", err)}
	}
	return nil
}

// PortFindings are the addresses of the configuration that are taken. They are for a
// bot that does not run: one that runs has them itself.
func PortFindings(c *config.Config) (all []health.Finding) {
	addresses := [][2]string{{"health.listen", c.Health.Listen}}
	if c.Metrics.Listen != c.Health.Listen {
		addresses = append(addresses, [2]string{"metrics.listen", c.Metrics.Listen})
	}
	if t := c.Channels.Telegram; t.Token != "" && t.Mode == "webhook" {
		addresses = append(addresses, [2]string{"channels.telegram.webhook.listen", t.Webhook.Listen})
	}
	for _, a := range addresses {
		if a[1] == "" {
			continue
		}
		ln, err := net.Listen("tcp", a[1])
		if err != nil {
			all = append(all, health.Broken("port", "choose another address for "+a[0]+" in config.yaml", err))
			continue
		}
		_ = ln.Close() // nothing came
	}
	return all
}

func telegramFindings(ctx context.Context, c *config.Config, client *http.Client) []health.Finding {
	t := c.Channels.Telegram
	if t.Token == "" {
		return []health.Finding{health.Off("telegram", "klawbot telegram", "off")}
	}
	bot, err := telegram.Probe(ctx, t.Token, t.APIURL)
	if err != nil {
		return []health.Finding{health.Broken("telegram", "check the network and channels.telegram.token in config.yaml", err)}
	}
	all := []health.Finding{health.OK("telegram", "@%s", bot.Username)}
	if len(t.AllowedChatIDs) == 0 {
		all = append(all, health.Limited("allowed", "klawbot allow ID", "no chats allowed"))
	} else {
		all = append(all, health.OK("allowed", "%s", terminal.Plural(len(t.AllowedChatIDs), "chat", "chats")))
	}
	return append(all, clockFinding(ctx, client, t.APIURL))
}

// maxSkew is how wrong a clock may be before certificates and schedules suffer.
const maxSkew = 30 * time.Second

// clockFinding compares the clock with the Date of the server's answer.
func clockFinding(ctx context.Context, client *http.Client, address string) health.Finding {
	ctx, cancel := context.WithTimeout(ctx, StatusTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return health.Broken("clock", "klawbot doctor", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return health.Broken("clock", "klawbot doctor", err)
	}
	_ = resp.Body.Close() // a HEAD has no body
	there, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return health.OK("clock", "not compared; %s sends no date", address)
	}
	if skew := time.Since(there).Abs(); skew > maxSkew {
		return health.Broken("clock", "timedatectl set-ntp true", fmt.Errorf("off by %s", skew.Round(time.Second)))
	}
	return health.OK("clock", "right")
}
