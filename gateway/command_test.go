package gateway_test

import (
	"testing"

	"klawbot/gateway"
)

func TestCommandIn(t *testing.T) {
	for _, c := range []struct{ text, name, args string }{
		{"/help", "help", ""},
		{"/REMIND  tomorrow\nat 9 ", "remind", "tomorrow\nat 9"},
		{"/help@klaw_bot me", "help", "me"},
		{"/usr/bin/env is what?", "", ""},
		{"/", "", ""},
		{"/ help", "", ""},
		{"//help", "", ""},
		{"/2026-11-29", "", ""},
		{"/remind\u00a0x", "", ""},
		{"help", "", ""},
	} {
		if name, args := gateway.CommandIn(c.text); name != c.name || args != c.args {
			t.Errorf("%q: %q, %q", c.text, name, args)
		}
	}
}
