package file

import (
	"slices"

	"klawbot/tools"
)

// history is the recorded changes from the view of a chat.
type history struct {
	all    []tools.Change // the newest first
	undone map[int64]bool // by id
	chat   string
}

// newHistory finds out which changes are undone. An undo that was undone does not count.
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

// visible reports whether the chat may see and undo a change. The command line may undo all.
func (h history) visible(c tools.Change) bool { return h.chat == "" || c.Chat == h.chat }

// open are the changes that the chat may undo, except undos, which need their id.
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

// choose returns the changes to undo, the newest first, at least one.
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
			// At the command line each call is a turn.
			return c.Turn != newest.Turn || c.Turn == 0 && c.Call != newest.Call
		})
	}
	if len(chosen) == 0 {
		return nil, tools.Refuse(tools.NotFound, "nothing to undo; file_undo with action list shows what there is")
	}
	return chosen, nil
}

func (h history) byID(id int64) ([]tools.Change, error) {
	found := h.where(func(c tools.Change) bool { return c.ID == id })
	switch {
	case len(found) == 0:
		return nil, tools.Refuse(tools.NotFound, "there is no change %d; file_undo with action list shows what there is", id)
	case h.undone[id]:
		return nil, tools.Refuse(tools.Execution, "change %d is undone already", id)
	}
	return found, nil
}
