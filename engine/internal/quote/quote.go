// Package quote writes what a model reads around a message, and knows in it the
// words of somebody else than its sender.
package quote

import (
	"fmt"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/clip"
)

// Itself is what Text calls the bot.
const Itself = "you"

// What Text sets before the words of somebody else.
const (
	replyMark   = "[in reply to "
	forwardMark = "[forwarded from "
)

// Text is a message with what stands around it: who wrote it, where a
// group leaves that open, what it answers, where it was forwarded from. Names
// and quotes are foreign text and are set as data.
func Text(m gateway.Message) string {
	var b strings.Builder
	if m.Reply != nil {
		author := clip.Name(m.Reply.Author)
		switch {
		case m.Reply.Own:
			author = Itself
		case author == Itself || strings.HasPrefix(author, Itself+":"):
			author = clip.Nobody // whatever they call themselves
		}
		fmt.Fprintf(&b, replyMark+"%s: %q]\n", author, m.Reply.Text)
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

// PassesOn reports whether a message holds words of somebody else than its sender:
// what it answers or forwards, or what a tool has found.
func PassesOn(m llm.Message) bool {
	if m.Role == llm.RoleUser {
		for line := range strings.Lines(m.PlainText()) {
			if !strings.HasPrefix(line, replyMark+Itself+": ") {
				return strings.HasPrefix(line, replyMark) || strings.HasPrefix(line, forwardMark)
			}
		}
	}
	return slices.ContainsFunc(m.Blocks, func(b llm.Block) bool { return b.Result != nil && b.Result.Others })
}

// HoldsOthers reports whether a message of a private chat, 0 for a local one, holds words
// of somebody else than its person.
func HoldsOthers(m store.Message, chat int64) bool {
	return PassesOn(m.Body) || m.Body.Role == llm.RoleUser && chat != 0 && m.Sender != chat
}
