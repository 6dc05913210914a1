package telegramtest

import (
	"context"
	"strings"
	"unicode/utf8"
)

// method carries out one call. s.mu is held, except around getUpdates.
type method func(params) (any, *apiError)

// method finds a method by its name in lower case.
func (s *Server) method(name string) method {
	switch name {
	case "getme":
		return s.getMe
	case "sendmessage":
		return s.sendMessage
	case "sendmessagedraft":
		return s.drafts()
	case "senddocument":
		return s.sendDocument
	case "sendvoice":
		return s.sendVoice
	case "sendphoto":
		return s.sendPhoto
	case "sendmediagroup":
		return s.sendMediaGroup
	case "editmessagetext":
		return s.editMessageText
	case "editmessagereplymarkup":
		return s.editMessageReplyMarkup
	case "deletemessage":
		return s.deleteMessage
	case "sendchataction":
		return s.sendChatAction
	case "setmessagereaction":
		return s.setMessageReaction
	case "answercallbackquery":
		return s.answerCallbackQuery
	case "setmycommands":
		return s.setMyCommands
	case "getmycommands":
		return s.getMyCommands
	case "setmydescription":
		return s.setMyDescription
	case "getfile":
		return s.getFile
	case "leavechat":
		return s.leaveChat
	case "setwebhook":
		return s.setWebhook
	case "deletewebhook":
		return s.deleteWebhook
	case "getwebhookinfo":
		return s.getWebhookInfo
	default:
		return nil
	}
}

// call carries out a call by name.
func (s *Server) call(ctx context.Context, name string, p params) (any, *apiError) {
	name = strings.ToLower(name)
	if name == "getupdates" {
		return s.getUpdates(ctx, p)
	}
	m := s.method(name)
	if m == nil {
		return nil, notFound()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.touch()
	return m(p)
}

func (s *Server) getMe(params) (any, *apiError) {
	return struct {
		User
		Join   bool `json:"can_join_groups"`
		Reads  bool `json:"can_read_all_group_messages"`
		Inline bool `json:"supports_inline_queries"`
	}{s.config.Bot, true, s.config.ReadsGroups, false}, nil
}

func (s *Server) sendChatAction(p params) (any, *apiError) {
	c, err := s.target(p)
	if err != nil {
		return nil, err
	}
	// The general topic, which no message may name, is allowed here.
	if p.num("message_thread_id") != generalTopic {
		if _, err := c.thread(p); err != nil {
			return nil, err
		}
	}
	switch p.str("action") {
	case "typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice",
		"upload_document", "choose_sticker", "find_location", "record_video_note", "upload_video_note":
		return true, nil
	default:
		return nil, badRequest("wrong parameter action in request")
	}
}

// reactions are the emoji that a bot may react with.
const reactions = " ❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡 "

func (s *Server) setMessageReaction(p params) (any, *apiError) {
	c, err := s.target(p)
	if err != nil {
		return nil, err
	}
	m := c.byID[p.num("message_id")]
	if m == nil || m.Deleted {
		return nil, badRequest("message to react not found")
	}
	var list []struct {
		Emoji string `json:"emoji"`
	}
	if p.object("reaction", &list) != nil || len(list) > 1 {
		return nil, badRequest("REACTION_INVALID")
	}
	emoji := ""
	for _, r := range list {
		emoji = r.Emoji
		if r.Emoji == "" || !strings.Contains(reactions, " "+r.Emoji+" ") {
			return nil, badRequest("REACTION_INVALID")
		}
	}
	m.Reaction = emoji
	return true, nil
}

func (s *Server) leaveChat(p params) (any, *apiError) {
	c, err := s.target(p)
	if err != nil {
		return nil, err
	}
	if c.Type == "private" {
		return nil, badRequest("chat member status can't be changed in private chats")
	}
	c.access = Left
	s.memberChange(c, s.config.Bot.ID, "member", "left")
	return true, nil
}

// maxDescription is the length of a bot's description, in characters.
const maxDescription = 512

func (s *Server) setMyDescription(p params) (any, *apiError) {
	if utf8.RuneCountInString(p.str("description")) > maxDescription {
		return nil, badRequest("BOT_DESCRIPTION_TOO_LONG")
	}
	s.description = p.str("description")
	return true, nil
}
