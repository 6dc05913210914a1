package configedit

import (
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/cmd/klawbot/internal/yamledit"
	"klawbot/gateway"
	"klawbot/whitelist"
)

// allowedKey is the list of the chats that may talk to the bot.
const allowedKey = "channels.telegram.allowedChatIds"

// errListByHand means that the list is written in a way that the editor leaves alone.
var errListByHand = errors.New("the list is written in a way that cannot be edited safely; edit channels.telegram.allowedChatIds by hand")

// Editable reports why the list of allowed chats cannot be changed in config.yaml,
// nil when it can.
func Editable(l *config.Live) error {
	if l.Source.File == "" {
		return ErrNoFile
	}
	if where := l.Given(allowedKey); strings.HasPrefix(where, "$") {
		return usage.Errorf("the list comes from %s in the environment, which wins over config.yaml; change it there", where)
	}
	return nil
}

// Allowed adds ids to the list of allowed chats in config.yaml and removes others. It
// returns the configuration that stood there before.
func Allowed(l *config.Live, add, remove []int64) (before *config.Config, err error) {
	if err := Editable(l); err != nil {
		return nil, err
	}
	err = change(l.Source, config.Display(l.Source.File), func(text []byte) (changed []byte, err error) {
		before, changed, err = provenAllowed(l.Source, text, add, remove)
		return changed, err
	})
	return before, err
}

// Allow puts a chat on the list in config.yaml and applies it.
func Allow(l *config.Live, chat gateway.ChatID, log *slog.Logger) error {
	return apply(l, chat, []int64{chat.ID}, nil, log)
}

// Deny takes a chat off the list in config.yaml and applies it.
func Deny(l *config.Live, chat gateway.ChatID, log *slog.Logger) error {
	return apply(l, chat, nil, []int64{chat.ID}, log)
}

func apply(l *config.Live, chat gateway.ChatID, add, remove []int64, log *slog.Logger) error {
	if chat.Channel != "telegram" {
		return errors.New("only Telegram has a list of allowed chats")
	}
	if _, err := Allowed(l, add, remove); err != nil {
		return err
	}
	l.Reload(log)
	return nil
}

// MoveGroup puts the new id of a group in the place of its old one in config.yaml,
// and applies it. Where the file cannot be changed, the gateway lets the group in
// until the next start, and the log says what to do until then.
func MoveGroup(l *config.Live, chat gateway.ChatID, to int64, log *slog.Logger) {
	if chat.Channel != "telegram" || !slices.Contains(l.Config().Channels.Telegram.AllowedChatIDs, chat.ID) {
		return // moved before
	}
	if _, err := Allowed(l, []int64{to}, []int64{chat.ID}); err != nil {
		log.Error("the new id of a group is not in the configuration: put it there before the next start",
			"group", chat.String(), "new_id", whitelist.FormatID(chat.Channel, to), "err", err)
		return
	}
	l.Reload(log)
}

// editAllowed returns the text of config.yaml with ids added to the list of allowed
// chats and removed from it. Everything else stays as it is, byte for byte.
func editAllowed(text []byte, add, remove []int64) ([]byte, error) {
	path := strings.Split(allowedKey, ".")
	var err error
	for _, id := range remove {
		if text, err = yamledit.RemoveItem(text, path, sameID(id)); err != nil {
			break
		}
	}
	for _, id := range add {
		if err == nil {
			text, err = yamledit.AddItem(text, path, strconv.FormatInt(id, 10), sameID(id))
		}
	}
	return text, err
}

// sameID compares an item of the list, in any form of an id, with an id.
func sameID(id int64) func(item string) (bool, error) {
	return func(item string) (bool, error) {
		old, err := config.ParseID(item)
		return old == id, err
	}
}

// provenAllowed is editAllowed with the proof: read back, the new text holds the
// wanted list and is the same in everything else.
func provenAllowed(s config.Source, text []byte, add, remove []int64) (*config.Config, []byte, error) {
	changed, before, after, err := proven(s, text, errListByHand, func(l *config.Loaded) ([]byte, error) {
		there := slices.DeleteFunc(slices.Clone(remove), func(id int64) bool {
			return !slices.Contains(l.Config.Channels.Telegram.AllowedChatIDs, id)
		})
		return editAllowed(text, add, there)
	})
	if err != nil {
		return nil, nil, err
	}
	was, is := before.Config, after.Config
	want := slices.DeleteFunc(slices.Clone(was.Channels.Telegram.AllowedChatIDs), func(id int64) bool {
		return slices.Contains(remove, id)
	})
	for _, id := range add {
		if !slices.Contains(want, id) {
			want = append(want, id)
		}
	}
	got := is.Channels.Telegram.AllowedChatIDs
	was.Channels.Telegram.AllowedChatIDs, is.Channels.Telegram.AllowedChatIDs = nil, nil
	if !slices.Equal(want, got) || !reflect.DeepEqual(was, is) {
		return nil, nil, errListByHand
	}
	return &before.Config, changed, nil
}
