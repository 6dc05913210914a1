package engine

import (
	"testing"

	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/run"
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
		j := store.Job{ID: 7, Home: c.home, Target: c.target}
		if got := (&turn{e: &Engine{outbox: outbox.New(outbox.Config{})}, job: &run.Work{Job: j}, row: store.Turn{Address: run.Workplace(j)}}).corePlaces(); len(got) != c.want {
			t.Errorf("%v for %v sees %v", c.home, c.target, got)
		}
	}
}
