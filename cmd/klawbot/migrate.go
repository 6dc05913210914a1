package main

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/gateway"
	"klawbot/whitelist"
)

// moveGroup puts the new id of a group in the place of its old one in config.yaml,
// and applies it. Where the file cannot be changed, the gateway lets the group in
// until the next start, and the log says what to do until then.
func moveGroup(l *config.Live, chat gateway.ChatID, to int64, log *slog.Logger) {
	if chat.Channel != "telegram" || !slices.Contains(l.Config().Channels.Telegram.AllowedChatIDs, chat.ID) {
		return // moved before
	}
	if err := replaceAllowed(l, chat.ID, to); err != nil {
		log.Error("the new id of a group is not in the configuration: put it there before the next start",
			"group", chat.String(), "new_id", whitelist.FormatID(chat.Channel, to), "err", err)
		return
	}
	l.Reload(log)
}

// replaceAllowed edits the list of allowed chats in config.yaml.
func replaceAllowed(l *config.Live, from, to int64) error {
	if err := editable(l); err != nil {
		return err
	}
	text, err := os.ReadFile(l.Source.File)
	if err != nil {
		return err
	}
	changed, err := editChecked(l.Source, text, []int64{to}, []int64{from})
	if err != nil {
		return err
	}
	if err := replaceFile(l.Source.File, text, changed); err != nil {
		return fmt.Errorf("write %s: %w", config.Display(l.Source.File), err)
	}
	return nil
}

// editable reports why the list of allowed chats cannot be changed in
// config.yaml, nil when it can.
func editable(l *config.Live) error {
	if l.Source.File == "" {
		return usage.Errorf("there is no config.yaml yet; klawbot init writes one")
	}
	if where := l.Given("channels.telegram.allowedChatIds"); strings.HasPrefix(where, "$") {
		return usage.Errorf("the list comes from %s in the environment, which wins over config.yaml; change it there", where)
	}
	return nil
}
