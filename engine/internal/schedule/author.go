package schedule

import (
	"context"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// authorKept is how long the author of a task that was removed is known: an editor
// may empty the file before it writes it.
const authorKept = time.Hour

// author is who wrote a task of the heartbeat: a chat and a person in it. The
// zero value is a person at the machine, who may do what the owner may.
type author struct {
	home   gateway.Address
	person int64
}

// fileAuthor is the chat that HEARTBEAT.md comes from as it is now, by the
// record of changes. When several have written the same text, one that is no
// owner's counts: it may do less.
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

// authorOf is who made a change. Of several people who wrote together, one who is
// no owner counts.
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
		by.person = chat.ID // the chat is the person's
	}
	return by, nil
}

// isOwner reports whether an owner, or a person at the machine, wrote a task.
func (h *Heartbeat) isOwner(a author) bool {
	return a.home.Chat.Channel == "" || a.home.Chat.Local() || h.Editor.Settings().Owns(a.home.Chat.Channel, a.person)
}

// attribute says for each wanted task who wrote it, given the one who wrote the
// file as it is and the tasks that there were lately. A task that is as it was keeps its
// author, and so does what an owner only touches: a line of somebody who may do
// less lends a task no more rights than that one has.
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

// sameBeat reports whether a task asks for the same as one that there was.
func sameBeat(was, w store.Job) bool {
	return was.Name == w.Name && was.Cron == w.Cron && was.Message == w.Message && was.Model == w.Model && was.Target == w.Target
}

// sharesLine reports whether two texts have a line in common that says something.
func sharesLine(a, b string) bool {
	lines := strings.Split(a, "\n")
	for line := range strings.Lines(b) {
		if line = strings.TrimSpace(line); line != "" && slices.ContainsFunc(lines, func(l string) bool { return strings.TrimSpace(l) == line }) {
			return true
		}
	}
	return false
}
