package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestQuietWaitsForTheTurns(t *testing.T) {
	const calm, most = 3 * time.Second, time.Minute
	for name, c := range map[string]struct {
		turns func(*quiet)
		want  time.Duration
	}{
		"nothing has run":        {func(*quiet) {}, 0},
		"one has just ended":     {func(q *quiet) { q.begin(); q.end() }, calm},
		"one ended a while ago":  {func(q *quiet) { q.begin(); q.end(); time.Sleep(2 * time.Second) }, time.Second},
		"one never ends":         {func(q *quiet) { q.begin() }, most},
		"one ends in the middle": {func(q *quiet) { q.begin(); go func() { time.Sleep(10 * time.Second); q.end() }() }, 13 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var q quiet
				c.turns(&q)
				began := time.Now()
				q.wait(t.Context(), calm, most)
				// A turn that runs is looked at every calm.
				if took := time.Since(began); took < c.want || took > c.want+calm {
					t.Errorf("it waited %v, want %v", took, c.want)
				}
			})
		})
	}
}
