package command

import (
	"strings"

	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
)

// voice shows or changes whether the chat gets spoken answers to what it speaks. In a
// group that is the owners' to change.
func (c *Commands) voice(m Message) Reply {
	chat, on := m.Home.Chat, false
	switch strings.ToLower(strings.TrimSpace(m.Args)) {
	case "":
		return Reply{Change: func(tx *store.Tx, r *Reply) error {
			now, err := tx.Chats().SpeaksTo(chat.Channel, chat.ID)
			r.Text = c.voiceIs(now)
			return err
		}}
	case "on":
		on = true
	case "off":
	default:
		return Reply{Text: c.say(locale.VoiceUsage)}
	}
	switch {
	case m.Group && !c.owns(m):
		return Reply{Text: c.say(locale.OwnersOnly, "voice")}
	case on && chat.Local():
		return Reply{Text: c.say(locale.VoiceNotHere)}
	case on && !c.Speaks():
		return Reply{Text: c.say(locale.VoiceMute)}
	}
	return Reply{Text: c.voiceIs(on), Change: func(tx *store.Tx, _ *Reply) error {
		return tx.Chats().SetVoice(chat.Channel, chat.ID, on)
	}}
}

func (c *Commands) voiceIs(on bool) string {
	if on {
		return c.say(locale.VoiceOn)
	}
	return c.say(locale.VoiceOff)
}
