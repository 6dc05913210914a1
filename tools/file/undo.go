package file

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"klawbot/tools"
)

type undoArgs struct {
	Action string `json:"action,omitempty" enum:"list,revert,revert_turn,revert_all" default:"list"`
	ID     int64  `json:"id,omitempty" min:"1"`
}

// maxListed is how many changes are listed.
const maxListed = 50

func (f *files) undo(ctx context.Context, c tools.Call, a undoArgs) tools.Result {
	if c.Changelog == nil {
		return tools.Fail(tools.Execution, "changes are not recorded here, so there is nothing to undo")
	}
	all, err := c.Changelog.Changes(ctx)
	if err != nil {
		return tools.Fail(tools.Execution, "the list of changes cannot be read: "+err.Error())
	}
	h := newHistory(all, c.Chat)
	if a.Action == "list" {
		return h.list()
	}
	chosen, err := h.choose(a)
	if err != nil {
		return failed(err, "change", fmt.Sprint(a.ID))
	}
	return f.revert(ctx, c, h, chosen)
}

// history is what is recorded, seen by a chat.
type history struct {
	// all are the changes, the newest first.
	all []tools.Change
	// undone are the ids of those that others took back.
	undone map[int64]bool
	chat   string
}

// newHistory finds out which changes are in effect. A change that was undone is
// not, and an undo that was undone has taken back nothing.
func newHistory(all []tools.Change, chat string) history {
	h := history{all: all, undone: map[int64]bool{}, chat: chat}
	for _, c := range all {
		if h.undone[c.ID] {
			continue
		}
		for _, id := range c.Undoes {
			h.undone[id] = true
		}
	}
	return h
}

// visible reports whether the chat may see and undo a change: its own. The
// command line, which is no chat, may undo all.
func (h history) visible(c tools.Change) bool { return h.chat == "" || c.Chat == h.chat }

// open are the changes in effect that the chat may undo and that are no undos
// themselves; an undo is undone by its id only.
func (h history) open() []tools.Change {
	return h.where(func(c tools.Change) bool { return !h.undone[c.ID] && len(c.Undoes) == 0 })
}

func (h history) where(wanted func(tools.Change) bool) []tools.Change {
	var found []tools.Change
	for _, c := range h.all {
		if h.visible(c) && wanted(c) {
			found = append(found, c)
		}
	}
	return found
}

// choose returns the changes that a call wants to undo, the newest first, at
// least one.
func (h history) choose(a undoArgs) ([]tools.Change, error) {
	if a.Action == "revert" && a.ID != 0 {
		return h.byID(a.ID)
	}
	open := h.open()
	chosen := open
	switch {
	case len(open) == 0:
	case a.Action == "revert":
		chosen = open[:1]
	case a.Action == "revert_turn" && a.ID != 0:
		chosen = slices.DeleteFunc(open, func(c tools.Change) bool { return c.Turn != a.ID })
	case a.Action == "revert_turn":
		newest := open[0]
		chosen = slices.DeleteFunc(open, func(c tools.Change) bool {
			// Calls at the command line belong to no turn, each stands alone.
			return c.Turn != newest.Turn || c.Turn == 0 && c.Call != newest.Call
		})
	}
	if len(chosen) == 0 {
		return nil, refuse(tools.NotFound, "there is no such change to undo; file_undo with action list shows what there is")
	}
	return chosen, nil
}

func (h history) byID(id int64) ([]tools.Change, error) {
	found := h.where(func(c tools.Change) bool { return c.ID == id })
	switch {
	case len(found) == 0:
		return nil, refuse(tools.NotFound, "there is no change %d; file_undo with action list shows what there is", id)
	case h.undone[id]:
		return nil, refuse(tools.Execution, "change %d is undone already", id)
	}
	return found, nil
}

// listed is a change as programs see it.
type listed struct {
	ID     int64     `json:"id"`
	At     time.Time `json:"at"`
	Turn   int64     `json:"turn,omitempty"`
	Tool   string    `json:"tool"`
	Path   string    `json:"path"`
	New    bool      `json:"new,omitempty"`
	Undone bool      `json:"undone,omitempty"`
	Undoes []int64   `json:"undoes,omitempty"`
}

func (h history) list() tools.Result {
	seen := h.where(func(tools.Change) bool { return true })
	if len(seen) == 0 {
		return tools.OK("No changes are recorded.")
	}
	var lines []string
	var data []listed
	for _, c := range seen[:min(len(seen), maxListed)] {
		l := listed{c.ID, c.At, c.Turn, c.Tool, c.Path, c.Before == "", h.undone[c.ID], c.Undoes}
		lines, data = append(lines, l.String()), append(data, l)
	}
	if len(seen) > maxListed {
		lines = append(lines, fmt.Sprintf("... and %d older ones ...", len(seen)-maxListed))
	}
	r := tools.OK(strings.Join(lines, "\n"))
	source, err := json.Marshal(data)
	if err != nil {
		return tools.Fail(tools.Execution, err.Error())
	}
	r.Data = source
	return r
}

func (l listed) String() string {
	text := fmt.Sprintf("%d: %s", l.ID, l.At.UTC().Format("2006-01-02 15:04 UTC"))
	if l.Turn != 0 {
		text += fmt.Sprintf(", turn %d", l.Turn)
	}
	text += fmt.Sprintf(", %s %s", l.Tool, l.Path)
	switch {
	case len(l.Undoes) > 0:
		text += " (undid " + numbers(l.Undoes) + ")"
	case l.New:
		text += " (new file)"
	}
	if l.Undone {
		text += " (undone)"
	}
	return text
}

// numbers lists ids as "3, 5".
func numbers(ids []int64) string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ids)), ", "), "[]")
}
