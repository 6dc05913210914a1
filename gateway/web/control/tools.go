package control

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// Toolbox is the tools of the bot and what they may do.
type Toolbox struct {
	Tools []Tool
	// Faults are the tools that are left out, with the reasons.
	Faults []string
	// Policy are the keys of the policy and their values.
	Policy []Setting
}

// Tool is one tool.
type Tool struct {
	Name, Group, About string
	// Changes says that it modifies data.
	Changes bool
	Aliases []string
	// Verdict is what would happen to a call without arguments, by the lists alone:
	// "allow", "ask" or "deny".
	Verdict string
}

// Verdict says what would happen to a call.
type Verdict struct {
	// Verdict is "allow", "ask" or "deny".
	Verdict, Reason, Layer string
	OwnerOnly              bool
	// OnceOnly says why it is asked about each time.
	OnceOnly string
}

// ToolsDesk says what tools there are and what they may do.
type ToolsDesk interface {
	ListTools(ctx context.Context, language string) (Toolbox, error)
	// CheckCall says what would happen to a call from a chat; nothing runs.
	CheckCall(ctx context.Context, tool, arguments, chat string) (Verdict, error)
}

var toolsPage = control{
	pattern: "/tools", file: "tools",
	show: func(q *Request) (any, error) {
		v := toolsView{Tool: q.HTTP.URL.Query().Get("tool"), Arguments: q.HTTP.URL.Query().Get("arguments"), Chat: q.HTTP.URL.Query().Get("chat")}
		var err error
		if v.Toolbox, err = q.Desk.ListTools(q.HTTP.Context(), q.Language); err != nil || v.Tool == "" {
			return v, err
		}
		checked, err := q.Desk.CheckCall(q.HTTP.Context(), v.Tool, v.Arguments, v.Chat)
		var refused *SaidError
		if errors.As(err, &refused) {
			checked, err = Verdict{Verdict: "deny", Reason: refused.Text}, nil
		}
		v.Checked = &checked
		return v, err
	},
	acts: []act{{"/tools/check", func(q *Request) (string, error) {
		call := url.Values{}
		for _, key := range []string{"tool", "arguments", "chat"} {
			if value := strings.TrimSpace(q.HTTP.PostFormValue(key)); value != "" {
				call.Set(key, value)
			}
		}
		return "/tools?" + call.Encode() + "#check", nil
	}}},
}

type toolsView struct {
	Toolbox
	Tool, Arguments, Chat string
	Checked               *Verdict
}

// Groups are the tools by group, in the order in which groups come.
func (v toolsView) Groups() (all []toolGroup) {
	at := map[string]int{}
	for _, t := range v.Tools {
		i, known := at[t.Group]
		if !known {
			i = len(all)
			at[t.Group], all = i, append(all, toolGroup{Name: t.Group})
		}
		all[i].Tools = append(all[i].Tools, t)
	}
	return all
}

type toolGroup struct {
	Name  string
	Tools []Tool
}
