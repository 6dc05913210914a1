// Package quote writes a message as models get it, with whose words it passes on,
// and reads that again. It knows marks in texts only.
package quote

import (
	"fmt"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
)

// What Message sets before the words of others, and what it calls the bot there.
const (
	replyMark   = "[in reply to "
	forwardMark = "[forwarded from "
	itself      = "you"
)

// ForOthers is the author of words of the bot that were no answer to owners.
const ForOthers = itself + ", for somebody else"

// Message is a message with what stands around it: who wrote it, where a
// group leaves that open, what it answers, where it was forwarded from. Names
// and quotes are foreign text and are set as data.
func Message(m gateway.Message) string {
	var b strings.Builder
	if m.Reply != nil {
		author := clip.Name(m.Reply.Author)
		switch {
		case m.Reply.Own:
			author = itself
		case author == itself || strings.HasPrefix(author, itself+":"):
			author = clip.Nobody // they may call themselves as they like
		}
		said := fmt.Sprintf("%s: %q", author, m.Reply.Text)
		if m.Reply.Text == "" && !m.Reply.Own {
			said = "a message that cannot be read"
		}
		b.WriteString(replyMark + said + "]\n")
	}
	if m.Forwarded != "" {
		fmt.Fprintf(&b, forwardMark+"%s]\n", clip.Name(m.Forwarded))
	}
	if m.Group {
		fmt.Fprintf(&b, "[%s] ", clip.Name(m.Sender.Name))
	}
	b.WriteString(m.Text)
	return b.String()
}

// PassesOn reports whether a message holds words of others than its sender:
// what it answers or forwards, or what a tool has found.
func PassesOn(m llm.Message) bool {
	if m.Role == llm.RoleUser {
		if tools.HasForeign(m.PlainText()) {
			return true
		}
		for line := range strings.Lines(m.PlainText()) {
			if !strings.HasPrefix(line, replyMark+itself+": ") {
				return strings.HasPrefix(line, replyMark) || strings.HasPrefix(line, forwardMark)
			}
		}
	}
	return slices.ContainsFunc(m.Blocks, func(b llm.Block) bool { return b.Result != nil && b.Result.Others })
}

// HoldsOthers reports whether a message of a private chat, 0 for a local one, holds words
// of others than its person.
func HoldsOthers(m store.Message, chat int64) bool {
	return PassesOn(m.Body) || m.Body.Role == llm.RoleUser && chat != 0 && m.Sender != chat
}

// Outside reports whether a conversation holds text that tools brought from outside, or
// that came in files.
func Outside(conv []llm.Message) bool {
	return slices.ContainsFunc(conv, func(m llm.Message) bool {
		return slices.ContainsFunc(m.Blocks, func(b llm.Block) bool { return b.Result != nil && tools.FromOutside(b.Result.Text) }) ||
			m.Role == llm.RoleUser && tools.HasForeign(m.PlainText())
	})
}
