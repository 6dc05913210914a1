//go:build soak

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"klawbot/internal/telegramtest"
)

// TestSoak kills a bot at work with SIGKILL at random moments, KILLS times or
// for MINUTES, and starts it again each time. The person gives the next task
// when the last one is answered, so that kills fall into every part of a turn,
// and in the end every task must be answered.
func TestSoak(t *testing.T) {
	for _, streaming := range []string{"edit", "off"} {
		t.Run(streaming, func(t *testing.T) { soak(t, streaming) })
	}
}

func soak(t *testing.T, streaming string) {
	kills := envNumber("KILLS", 200)
	end := time.Now().Add(time.Duration(envNumber("MINUTES", 0)) * time.Minute)
	const chat = 11
	r := newRig(t, streaming, chat)
	r.model.Respond(worker(20 * time.Millisecond))
	person := r.telegram.User(chat)
	tasks := 0
	done := 0
	for ; done < kills || time.Now().Before(end); done++ {
		if tasks == 0 || r.isAnswered(chat, tasks-1) {
			person.Send(fmt.Sprintf("task %d", tasks))
			tasks++
		}
		b := r.start("")
		<-time.After(rand.N(200 * time.Millisecond))
		b.kill()
	}
	b := r.start("")
	r.wait(b, "the last task is answered", func(v telegramtest.State) bool {
		return v.Polling() && v.Pending() == 0 && answered(v, chat, tasks-1)
	})
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	result := r.count(chat, tasks)
	t.Logf("streaming %s, %d kills: %s", streaming, done, result)
	result.check(t)
	if streaming == "edit" && result.MarkedFinals > 0 {
		t.Logf("%d answers had lost their placeholder and left as sends", result.MarkedFinals)
	}
}

func envNumber(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
