package file

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"klawbot/tools"
)

type undoArgs struct {
	Action string `json:"action,omitempty" enum:"list,revert,revert_turn,revert_all" default:"list"`
	ID     int64  `json:"id,omitempty" min:"1"`
}

// reverts reports whether a call does more than list.
func reverts(arguments json.RawMessage) bool {
	var a undoArgs
	err := json.Unmarshal(arguments, &a)
	return err != nil || a.Action != "list" && a.Action != ""
}

// maxListed bounds the changes in a list.
const maxListed = 50

func (f *files) undo(ctx context.Context, c tools.Call, a undoArgs) tools.Result {
	if c.Changelog == nil {
		return tools.Fail(tools.Execution, "changes are not recorded here, so nothing can be undone")
	}
	all, err := c.Changelog.Changes(ctx)
	if err != nil {
		return tools.Fail(tools.Execution, "can't read the list of changes: "+err.Error())
	}
	h := newHistory(all, c.Chat)
	if a.Action == "list" {
		zone := time.UTC
		if f.config.Location != nil {
			zone = f.config.Location()
		}
		return h.list(zone)
	}
	chosen, err := h.choose(a)
	if err != nil {
		return failed(err, "change", fmt.Sprint(a.ID))
	}
	return f.revert(ctx, c, h, chosen)
}

// listed is a change in JSON.
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

func (h history) list(zone *time.Location) tools.Result {
	seen := h.where(func(tools.Change) bool { return true })
	if len(seen) == 0 {
		return tools.OK("No changes are recorded.")
	}
	var lines []string
	var data []listed
	for _, c := range seen[:min(len(seen), maxListed)] {
		l := listed{c.ID, c.At, c.Turn, c.Tool, c.Path, c.Before == "", h.undone[c.ID], c.Undoes}
		lines, data = append(lines, l.line(zone)), append(data, l)
	}
	if len(seen) > maxListed {
		lines = append(lines, fmt.Sprintf("... and %d older ones ...", len(seen)-maxListed))
	}
	return tools.OK(strings.Join(lines, "\n")).With(data)
}

func (l listed) line(zone *time.Location) string {
	text := fmt.Sprintf("%d: %s", l.ID, l.At.In(zone).Format("2006-01-02 15:04"))
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
