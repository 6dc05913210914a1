package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/gateway/telegram"
)

// The patience with a person who looks for the phone.
const (
	ownerTimeout  = 5 * time.Minute
	ownerInterval = time.Second
	ownerPoll     = 10 * time.Second
)

type writer struct {
	update int64
	id     int64
	name   string
	text   string
}

// askOwner waits for a message to the bot and asks whether its sender is the
// person at the terminal. The updates are only looked at: the bot gets them
// again when it runs.
func (s Setup) askOwner(ctx context.Context, p *terminal.Prompter, a *Answers, client *http.Client, bot telegram.Bot) error {
	fmt.Fprintf(s.Stdout, "Send any message to @%s in Telegram now.", bot.Username)
	if p.AtTerminal() {
		fmt.Fprint(s.Stdout, " Enter skips this.")
	}
	fmt.Fprintln(s.Stdout)
	waiting, cancel := context.WithTimeout(ctx, ownerTimeout)
	defer cancel()
	seen, refused := map[int64]bool{}, map[int64]bool{}
	last := ""
	troubled := func(err error) {
		if text := s.Redact.Text(err.Error()); text != last {
			last = text
			fmt.Fprintf(s.Stdout, "%s; still waiting.\n", text)
		}
	}
	for {
		w, err := nextWriter(waiting, p, client, a, seen, troubled)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errSkipped):
			return nil
		case waiting.Err() != nil:
			fmt.Fprintln(s.Stdout, s.Advice("No message received. Later: klawbot allow ID"))
			return nil
		case err != nil:
			return err
		}
		if refused[w.id] {
			continue
		}
		yes, err := p.Confirmed(ctx, fmt.Sprintf("%s (id %d) wrote %q. Is this you?", terminal.Visible(w.name), w.id, w.text))
		if err != nil {
			return err
		}
		refused[w.id] = !yes
		if yes {
			fmt.Fprintf(s.Stdout, "Owner: %s (id %d)\n", terminal.Visible(w.name), w.id)
			a.owners = []int64{w.id}
			a.allowed = config.Unique(append(a.allowed, w.id))
			return nil
		}
	}
}

// errSkipped means that the person pressed Enter instead of writing.
var errSkipped = errors.New("skipped")

// nextWriter waits for a private message that was not seen yet. The same
// updates come again and again, because none is acknowledged. Errors go to troubled
// and do not end the wait: the answers that were given before would be lost.
func nextWriter(ctx context.Context, p *terminal.Prompter, client *http.Client, a *Answers, seen map[int64]bool, troubled func(error)) (writer, error) {
	tick := time.NewTicker(ownerInterval)
	defer tick.Stop()
	var skip <-chan terminal.Reply
	if p.AtTerminal() {
		skip = p.Next()
	}
	for {
		all, err := peekUpdates(ctx, client, a)
		if err != nil && ctx.Err() == nil {
			troubled(err)
		}
		for _, w := range all {
			if !seen[w.update] {
				seen[w.update] = true
				return w, nil
			}
		}
		select {
		case <-skip:
			p.Taken()
			return writer{}, errSkipped
		case <-ctx.Done():
			return writer{}, ctx.Err()
		case <-tick.C:
		}
	}
}

// peekUpdates asks for updates without an offset, which acknowledges none.
func peekUpdates(ctx context.Context, client *http.Client, a *Answers) ([]writer, error) {
	base := a.APIURL
	if base == "" {
		base = telegram.DefaultAPIURL
	}
	ctx, cancel := context.WithTimeout(ctx, 2*ownerPoll)
	defer cancel()
	body := fmt.Appendf(nil, `{"timeout": %d, "limit": 100}`, int(ownerPoll.Seconds()))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(base, "/")+"/bot"+a.Token+"/getUpdates", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("wait for a message: %w", err)
	}
	defer resp.Body.Close()
	return readWriters(resp)
}

func readWriters(resp *http.Response) ([]writer, error) {
	var answer struct {
		OK          bool   `json:"ok"`
		Description string `json:"description"`
		Result      []struct {
			ID      int64 `json:"update_id"`
			Message struct {
				Text string `json:"text"`
				Chat struct {
					ID   int64  `json:"id"`
					Type string `json:"type"`
				} `json:"chat"`
				From struct {
					ID    int64  `json:"id"`
					First string `json:"first_name"`
					Last  string `json:"last_name"`
					User  string `json:"username"`
				} `json:"from"`
			} `json:"message"`
		} `json:"result"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("wait for a message: Telegram answers %s", resp.Status)
	}
	if !answer.OK {
		return nil, fmt.Errorf("wait for a message: Telegram says %q; is the bot running elsewhere?", answer.Description)
	}
	var all []writer
	for _, u := range answer.Result {
		if m := u.Message; m.Chat.Type == "private" && m.Chat.ID == m.From.ID {
			name := strings.TrimSpace(m.From.First + " " + m.From.Last)
			if m.From.User != "" {
				name += " @" + m.From.User
			}
			all = append(all, writer{update: u.ID, id: m.From.ID, name: name, text: terminal.Clip(m.Text, 60)})
		}
	}
	return all, nil
}
