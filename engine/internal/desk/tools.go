package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"klawbot/gateway/web/control"
	"klawbot/tools"
)

// ListTools lists the tools and what the policy says of them.
func (d *Desk) ListTools(_ context.Context, language string) (t control.Toolbox, err error) {
	registry := d.Executor.Registry()
	scope := d.Settings().Policy.For("", tools.OriginPerson)
	for _, l := range registry.List(language) {
		one := control.Tool{Name: l.Name, Group: string(l.Group), About: l.Description, Changes: l.Changes, Aliases: l.Aliases}
		if tool, _, ok := registry.Find(l.Name); ok {
			one.Verdict = string(scope.Decide(tool.Spec(), json.RawMessage("{}")).Verdict)
		}
		t.Tools = append(t.Tools, one)
	}
	for _, f := range registry.Faults() {
		t.Faults = append(t.Faults, f.String())
	}
	t.Policy = policy(d.Settings().Policy)
	return t, nil
}

// policy are the keys of a policy that say something.
func policy(p tools.Policy) []control.Setting {
	all := []control.Setting{{Key: "security.autonomy", Value: string(cmp.Or(p.Autonomy, tools.Supervised))}}
	add := func(where string, l tools.Limits) {
		for _, v := range []struct {
			key  string
			list []string
		}{
			{"allow", l.Allow}, {"allowGroups", texts(l.AllowGroups)}, {"deny", l.Deny}, {"denyGroups", texts(l.DenyGroups)}, {"ask", l.Ask},
		} {
			if len(v.list) > 0 {
				all = append(all, control.Setting{Key: where + "." + v.key, Value: strings.Join(v.list, ", ")})
			}
		}
	}
	add("tools.policy", p.Everyone)
	add("tools.policy.scheduled", p.Scheduled)
	for _, chat := range slices.Sorted(maps.Keys(p.Chats)) {
		add("tools.policy.chats."+chat, p.Chats[chat])
	}
	if len(p.Rules) > 0 {
		all = append(all, control.Setting{Key: "tools.rules", Value: fmt.Sprint(len(p.Rules))})
	}
	return all
}

func texts[T ~string](list []T) []string {
	all := make([]string, len(list))
	for i, t := range list {
		all[i] = string(t)
	}
	return all
}

// CheckCall says what would happen to a call. Who speaks in an owner's private chat is an
// owner; in a group it may be anybody.
func (d *Desk) CheckCall(_ context.Context, tool, arguments, chat string) (v control.Verdict, err error) {
	call := tools.Call{Name: tool, Arguments: json.RawMessage(cmp.Or(strings.TrimSpace(arguments), "{}")), Origin: tools.OriginPerson, Owner: true}
	if chat = strings.TrimSpace(chat); chat != "" {
		id, err := chatOf(chat)
		if err != nil {
			return v, err
		}
		call.Chat, call.Owner = id.String(), slices.Contains(d.Settings().Owners[id.Channel], id.ID)
	}
	decision := d.Executor.Check(call)
	return control.Verdict{
		Verdict: string(decision.Verdict), Reason: d.mask(cmp.Or(decision.Reason, "verdict.norule")), Layer: cmp.Or(decision.Layer, "default"),
		OwnerOnly: decision.OwnerOnly, OnceOnly: decision.OnceOnly,
	}, nil
}
