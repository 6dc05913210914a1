package self

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"klawbot/tools"
)

type configArgs struct {
	Action string `json:"action" enum:"get,set,list,append"`
	Key    string `json:"key,omitempty"`
	// Value is nil when it is not given: empty is a value.
	Value *string `json:"value,omitempty"`
}

type settingsTool struct{ configuration Configuration }

// writes reports whether a call changes the configuration. What it cannot read
// counts as a change.
func writes(arguments json.RawMessage) bool {
	var a configArgs
	err := json.Unmarshal(arguments, &a)
	return err != nil || a.Action != "get" && a.Action != "list"
}

// precheck refuses what would be refused anyway before anybody is asked.
func (k settingsTool) precheck(c tools.Call, _ tools.Autonomy) *tools.Result {
	var a configArgs
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return tools.Refused(tools.Validation, err.Error())
	}
	if err := k.check(a); err != nil {
		r := tools.Failed(err)
		return &r
	}
	return nil
}

func (k settingsTool) check(a configArgs) error {
	if a.Action == "list" {
		return nil
	}
	if a.Key == "" {
		return tools.Refuse(tools.Validation, "Missing required parameter: key")
	}
	if a.Action == "get" {
		return nil
	}
	if err := k.configuration.Settable(a.Key); err != nil {
		return err
	}
	if a.Action == "append" { // no key that may be set is a list
		return tools.Refuse(tools.Validation, "%s is not a list; use the action set", a.Key)
	}
	if a.Value == nil {
		return tools.Refuse(tools.Validation, "Missing required parameter: value")
	}
	return nil
}

func (k settingsTool) run(_ context.Context, _ tools.Call, a configArgs) tools.Result {
	if err := k.check(a); err != nil {
		return tools.Failed(err)
	}
	switch a.Action {
	case "list":
		return tools.OK(lines(k.configuration.Entries()))
	case "get":
		return k.get(a.Key)
	}
	if err := k.configuration.Set(a.Key, *a.Value); err != nil {
		return tools.Failed(err)
	}
	return tools.OK(fmt.Sprintf("OK: %s = %s", a.Key, *a.Value))
}

func (k settingsTool) get(key string) tools.Result {
	found := slices.DeleteFunc(k.configuration.Entries(), func(e Entry) bool {
		return e.Key != key && !strings.HasPrefix(e.Key, key+".")
	})
	if len(found) == 0 {
		return tools.Fail(tools.NotFound, fmt.Sprintf("unknown key '%.80s'; the action list shows all keys", key))
	}
	return tools.OK(lines(found))
}

func lines(entries []Entry) string {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = strings.TrimSuffix(e.Key+" = "+e.Value, " ")
		if e.Settable {
			all[i] += "  (settable)"
		}
	}
	return strings.Join(all, "\n")
}
