package bot

import (
	"testing"

	"klawbot/gateway"
)

// TestStartTableWaitsForTheName: updates that wait are there before Telegram has told the
// bot's name.
func TestStartTableWaitsForTheName(t *testing.T) {
	for name, c := range map[string]struct {
		health gateway.Health
		waits  bool
	}{
		"connecting":      {gateway.Health{Channel: "telegram", State: gateway.StateConnecting}, true},
		"without a name":  {gateway.Health{Channel: "telegram", State: gateway.StateOK}, true},
		"with its name":   {gateway.Health{Channel: "telegram", State: gateway.StateOK, Name: "@klaw_bot"}, false},
		"a fault":         {gateway.Health{Channel: "telegram", State: gateway.StateConnecting, Fault: "no network"}, false},
		"another channel": {gateway.Health{Channel: "console", State: gateway.StateOK}, false},
	} {
		if got := settling([]gateway.Health{c.health}); got != c.waits {
			t.Errorf("%s: waits %v, want %v", name, got, c.waits)
		}
	}
}
