package main

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/gateway"
	"klawbot/whitelist"
)

// migrate puts the new id of a group in the place of its old one in config.yaml,
// and applies it. Where the file cannot be changed, the gateway lets the group in
// until the next start, and the log says what to do until then.
func (l *live) migrate(chat gateway.ChatID, to int64, log *slog.Logger) {
	if chat.Channel != "telegram" || !slices.Contains(l.config().Channels.Telegram.AllowedChatIDs, chat.ID) {
		return // moved before
	}
	if err := l.replaceAllowed(chat.ID, to); err != nil {
		log.Error("the new id of a group is not in the configuration: put it there before the next start",
			"group", chat.String(), "new_id", whitelist.FormatID(chat.Channel, to), "err", err)
		return
	}
	l.reload(log)
}

// replaceAllowed edits the list of allowed chats in config.yaml.
func (l *live) replaceAllowed(from, to int64) error {
	if err := l.editable(); err != nil {
		return err
	}
	text, err := os.ReadFile(l.source.File)
	if err != nil {
		return err
	}
	changed, err := editChecked(l.source, text, []int64{to}, []int64{from})
	if err != nil {
		return err
	}
	if err := replaceFile(l.source.File, text, changed); err != nil {
		return fmt.Errorf("write %s: %w", display(l.source.File), err)
	}
	return nil
}

// editable reports why the list of allowed chats cannot be changed in
// config.yaml, nil when it can.
func (l *live) editable() error {
	if l.source.File == "" {
		return usage.Errorf("there is no config.yaml yet; klawbot init writes one")
	}
	if where := l.current.Load().places["channels.telegram.allowedChatIds"]; strings.HasPrefix(where, "$") {
		return usage.Errorf("the list comes from %s in the environment, which wins over config.yaml; change it there", where)
	}
	return nil
}
