package turn

import (
	"testing"

	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// TestCoreMemoryOfARun: the chat that a run belongs to shares what it knows with no
// other one.
func TestCoreMemoryOfARun(t *testing.T) {
	home, other := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 11}}, gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}}
	for _, c := range []struct {
		home, target gateway.Address
		want         int
	}{{home, gateway.Address{}, 3}, {home, home, 3}, {home, other, 1}, {other, other, 2}, {gateway.Address{}, other, 2}, {gateway.Address{}, gateway.Address{}, 1}} {
		workplace := c.target
		if workplace == (gateway.Address{}) {
			workplace = c.home
		}
		if workplace == (gateway.Address{}) {
			workplace.Chat = gateway.ChatID{Channel: store.JobChannel, ID: 7}
		}
		at := turn{Turns: New(Config{Outbox: outbox.New(outbox.Config{})}), Request: Request{
			Row: store.Turn{Address: workplace}, Job: &Job{Job: store.Job{ID: 7, Home: c.home, Target: c.target}, Workplace: workplace},
		}}
		if got := at.corePlaces(); len(got) != c.want {
			t.Errorf("%v for %v sees %v", c.home, c.target, got)
		}
	}
}
