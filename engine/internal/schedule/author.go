package schedule

import (
	"context"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// authorKept is how long the author of a removed task is known: some editors empty the
// file before they write it.
const authorKept = time.Hour

// author is who wrote a task of the heartbeat: a chat and a user in it. The zero value
// is a user at the machine, who has an owner's permissions.
type author struct {
	home   gateway.Address
	person int64
}

// fileAuthor is the chat that wrote the current HEARTBEAT.md, by the record of changes.
// When several chats wrote the same text, one with fewer permissions counts.
func (h *Heartbeat) fileAuthor(ctx context.Context) (by author, err error) {
	sum, err := h.Workspace.HeartbeatSum()
	if err != nil || sum == "" {
		return author{}, err
	}
	err = h.Editor.read(ctx, func(tx *store.Tx) error {
		changes, err := tx.Changes().Changes()
		if err != nil {
			return err
		}
		for _, c := range changes {
			if c.After != sum || c.Chat == "" {
				continue
			}
			one, err := h.authorOf(tx, c)
			if err != nil {
				return err
			}
			if by.home.Chat.Channel == "" || h.isOwner(by) && !h.isOwner(one) {
				by = one
			}
		}
		return nil
	})
	return by, err
}

// authorOf is who made a change. Of several users, one who is not an owner counts.
func (h *Heartbeat) authorOf(tx *store.Tx, c store.Change) (author, error) {
	chat, err := gateway.ParseChatID(c.Chat)
	if err != nil {
		return author{}, err
	}
	by := author{home: gateway.Address{Chat: chat}}
	updates, err := tx.Inbox().TurnUpdates(c.Turn)
	if err != nil {
		return author{}, err
	}
	for _, u := range updates {
		if by.person == 0 || !h.Editor.Settings().Owns(chat.Channel, u.From) {
			by.person = u.From
		}
	}
	if by.person == 0 && chat.ID > 0 {
		by.person = chat.ID // a private chat
	}
	return by, nil
}

// isOwner reports whether an owner, or a user at the machine, wrote a task.
func (h *Heartbeat) isOwner(a author) bool {
	return a.home.Chat.Channel == "" || a.home.Chat.Local() || h.Editor.Settings().Owns(a.home.Chat.Channel, a.person)
}

// attribute sets the author of each wanted task, from the author of the file and the
// recent tasks. An unchanged task keeps its author. So does a task that an owner changes
// but that keeps a line of its author: an owner's edit grants that line no permissions.
func (h *Heartbeat) attribute(wanted []store.Job, by author, there []store.Job) {
	for i := range wanted {
		w := &wanted[i]
		from := by
		for _, was := range there {
			wrote := author{was.Home, was.Creator}
			if was.State != store.JobRemoved && sameBeat(was, *w) {
				from = wrote
				break
			}
			if h.isOwner(from) && !h.isOwner(wrote) && sharesLine(was.Message, w.Message) {
				from = wrote
			}
		}
		w.Home, w.Creator = from.home, from.person
	}
}

// sameBeat reports whether a task is unchanged.
func sameBeat(was, w store.Job) bool {
	return was.Name == w.Name && was.Cron == w.Cron && was.Message == w.Message && was.Model == w.Model && was.Target == w.Target
}

// sharesLine reports whether two texts have a line in common that is not blank.
func sharesLine(a, b string) bool {
	lines := strings.Split(a, "\n")
	for line := range strings.Lines(b) {
		if line = strings.TrimSpace(line); line != "" && slices.ContainsFunc(lines, func(l string) bool { return strings.TrimSpace(l) == line }) {
			return true
		}
	}
	return false
}
