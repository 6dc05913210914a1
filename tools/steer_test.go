package tools_test

import (
	"testing"

	"klawbot/tools"
)

// TestSteering: an owner alone changes what every chat obeys; where others had a part
// in it, an owner agrees first, to a command in any case.
func TestSteering(t *testing.T) {
	asked, owners := tools.Decision{Verdict: tools.Ask}, tools.Decision{Verdict: tools.Ask, OwnerOnly: true}
	for name, c := range map[string]struct {
		call            tools.Call
		supervised      tools.Verdict
		full            tools.Verdict
		runs, asCommand bool
	}{
		"an owner":                           {tools.Call{Owner: true}, tools.Allow, tools.Allow, true, true},
		"an owner after a page":              {tools.Call{Owner: true, Heard: true}, tools.Ask, tools.Allow, true, false},
		"an owner among others":              {tools.Call{Owner: true, Others: true}, tools.Ask, tools.Ask, true, false},
		"an owner after a page, who agreed":  {tools.Call{Owner: true, Heard: true, Decided: asked}, tools.Ask, tools.Allow, true, true},
		"somebody else":                      {tools.Call{Chat: "telegram_222"}, tools.Ask, tools.Ask, false, false},
		"somebody else, who agreed":          {tools.Call{Chat: "telegram_222", Decided: asked}, tools.Ask, tools.Ask, false, false},
		"somebody else, and an owner agreed": {tools.Call{Chat: "telegram_222", Decided: owners}, tools.Ask, tools.Ask, true, true},
	} {
		for autonomy, want := range map[tools.Autonomy]tools.Verdict{tools.Supervised: c.supervised, tools.Full: c.full} {
			if d := c.call.Steering(autonomy, "layer", "It"); d.Verdict != want || d.OwnerOnly != (want == tools.Ask) {
				t.Errorf("%s, %s: %+v, want %s", name, autonomy, d, want)
			}
		}
		if c.call.Steers() != c.runs || c.call.SteersByCommand() != c.asCommand {
			t.Errorf("%s: runs %v, as a command %v", name, c.call.Steers(), c.call.SteersByCommand())
		}
	}
}
