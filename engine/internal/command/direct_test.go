package command_test

import (
	"testing"

	"klawbot/engine/internal/command"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/redact"
)

// TestDirectCommands: a command that calls a tool is an owner's when it must be, and does
// not run without the secret that it held.
func TestDirectCommands(t *testing.T) {
	owned := settings.Settings{Owners: map[string][]int64{"telegram": {111}}}
	c := command.New(command.Config{Settings: func() settings.Settings { return owned }})
	direct := func(sender int64, name, args string) (tool, fault string) {
		m := gateway.Message{Address: gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 7}}, Sender: gateway.Sender{ID: sender}, Command: name, Args: args}
		call := c.Direct(t.Context(), command.Message{Message: m, Home: m.Address})
		if call == nil {
			return "", ""
		}
		return call.Name, call.Fault
	}
	for _, one := range []struct {
		sender     int64
		name, args string
		want       string
		lost       bool
	}{
		{111, "tool", `file_read {"path": "a"}`, "file_read", false},
		{111, "tool", "", "", false},
		{222, "tool", `file_read {"path": "a"}`, "", false},
		{111, "note", "milk", "file_write", false},
		{111, "note", "the key is " + redact.Bars, "file_write", true},
		{222, "docs", "schedules", "docs_search", false},
		{222, "help", "", "", false},
	} {
		tool, fault := direct(one.sender, one.name, one.args)
		if tool != one.want || (fault != "") != one.lost {
			t.Errorf("/%s %s of %d calls %q (fault %q), want %q", one.name, one.args, one.sender, tool, fault, one.want)
		}
	}
}
