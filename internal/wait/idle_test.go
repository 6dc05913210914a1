package wait_test

import (
	"testing"
	"testing/synctest"
	"time"

	"klawbot/internal/wait"
)

func TestIdleWaitsForWork(t *testing.T) {
	const calm, most = 3 * time.Second, time.Minute
	for name, c := range map[string]struct {
		work func(*wait.Idle)
		want time.Duration
	}{
		"nothing has run":        {func(*wait.Idle) {}, 0},
		"one has just ended":     {func(i *wait.Idle) { i.Begin(); i.End() }, calm},
		"one ended a while ago":  {func(i *wait.Idle) { i.Begin(); i.End(); time.Sleep(2 * time.Second) }, time.Second},
		"one never ends":         {func(i *wait.Idle) { i.Begin() }, most},
		"one ends in the middle": {func(i *wait.Idle) { i.Begin(); go func() { time.Sleep(10 * time.Second); i.End() }() }, 13 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var i wait.Idle
				c.work(&i)
				began := time.Now()
				i.Wait(t.Context(), calm, most)
				// Running work is checked once per calm.
				if took := time.Since(began); took < c.want || took > c.want+calm {
					t.Errorf("it waited %v, want %v", took, c.want)
				}
			})
		})
	}
}
