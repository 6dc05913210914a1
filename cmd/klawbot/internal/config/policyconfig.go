package config

import (
	"fmt"
	"maps"
	"slices"

	"klawbot/gateway"
	"klawbot/tools"
	"klawbot/whitelist"
)

// toolGroups are names of groups of tools.
func toolGroups(v any) error {
	known := []tools.Group{
		tools.GroupRuntime, tools.GroupFiles, tools.GroupNet, tools.GroupBrowser, tools.GroupMemory, tools.GroupSystem, tools.GroupMessage,
	}
	for _, name := range v.([]string) {
		if !slices.Contains(known, tools.Group(name)) {
			return fmt.Errorf("must hold some of %v, got %q", known, name)
		}
	}
	return nil
}

// PolicyChat is the text form of a chat in the policy; a bare number is
// Telegram's.
func PolicyChat(name string) (string, error) {
	channel, id, err := whitelist.ParseID(name)
	if err != nil {
		return "", err
	}
	if channel == "" {
		channel = "telegram"
	}
	return gateway.ChatID{Channel: channel, ID: id}.String(), nil
}

// checkPolicy finds what is wrong with the chats and the rules of the policy. A
// rule that cannot be used must not be left out in silence.
func checkPolicy(c *Config, origins map[string]string) []Fault {
	var faults []Fault
	named := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Tools.Policy.Chats)) {
		key := "tools.policy.chats." + name
		chat, err := PolicyChat(name)
		if err == nil && named[chat] != "" {
			err = fmt.Errorf("is the same chat as %s; keep one", named[chat])
		}
		if err != nil {
			faults = append(faults, Fault{origins[key], key, err.Error()})
		}
		named[chat] = name
	}
	for i, r := range c.Tools.Rules {
		if _, err := r.rule(); err != nil {
			key := fmt.Sprintf("tools.rules.%d", i)
			faults = append(faults, Fault{origins[key], "tools.rules", err.Error()})
		}
	}
	return faults
}

func (r ToolRule) rule() (tools.Rule, error) {
	return tools.NewRule(r.Name, r.Tools, r.Arguments, r.Forbidden)
}

// policy is what the configuration lets the tools do. It has been checked.
func (c *Config) policy() tools.Policy {
	p := c.Tools.Policy
	policy := tools.Policy{
		Autonomy:  tools.Autonomy(c.Security.Autonomy),
		Everyone:  ToolLimits{p.Allow, p.Deny, p.Ask, p.Groups}.limits(),
		Scheduled: p.Scheduled.limits(),
		Chats:     map[string]tools.Limits{},

		AnyoneApproves: c.Tools.Exec.Approvers == "anyone",
	}
	for name, l := range p.Chats {
		if chat, err := PolicyChat(name); err == nil {
			policy.Chats[chat] = l.limits()
		}
	}
	for _, r := range c.Tools.Rules {
		if rule, err := r.rule(); err == nil {
			policy.Rules = append(policy.Rules, rule)
		}
	}
	return policy
}

func (l ToolLimits) limits() tools.Limits {
	return tools.Limits{
		Allow: l.Allow, Deny: l.Deny, Ask: l.Ask, AllowGroups: groupsOf(l.Groups.Allow), DenyGroups: groupsOf(l.Groups.Deny),
	}
}

func groupsOf(names []string) []tools.Group {
	groups := make([]tools.Group, len(names))
	for i, n := range names {
		groups[i] = tools.Group(n)
	}
	return groups
}
