//go:build soak

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// TestSoak kills a bot at work with SIGKILL at random moments, KILLS times or
// for MINUTES, and starts it again each time, while up to FAULTS calls to
// Telegram fail. The person gives the next task when the last one is answered,
// so that kills fall into every part of a turn, and in the end every task must
// be answered.
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
	r.model.Respond(inThree(worker(20 * time.Millisecond)))
	var faults atomic.Int64
	allowed := int64(envNumber("FAULTS", 0))
	life, slow := 200*time.Millisecond, time.Duration(0) // slow is what a start takes here
	if allowed > 0 {
		life = time.Second // which is what a fault costs
	}
	r.telegram.Inject(func(c telegramtest.Call) *telegramtest.Fault {
		// A poll that fails costs a second, in which most lives end.
		if c.Chat == 0 || faults.Load() >= allowed || rand.IntN(4) > 0 {
			return nil
		}
		faults.Add(1)
		return killFault(c)
	})
	person := r.telegram.User(chat)
	tasks := 0
	done := 0
	for ; done < kills || time.Now().Before(end); done++ {
		if tasks == 0 || r.isAnswered(chat, tasks-1) {
			person.Send(fmt.Sprintf("task %d", tasks))
			tasks++
		}
		before := r.telegram.Count("getUpdates")
		began := time.Now()
		b := r.start("")
		if done%4 > 0 {
			// Three of four kills fall into work, however slow the machine
			// starts; the fourth may fall into the start.
			r.wait(b, "the bot polls", func(v telegramtest.State) bool { return v.Count("getUpdates") > before })
			slow = time.Since(began)
		}
		after := max(life, slow)
		if done%5 == 0 {
			after += 2 * slowReply // or no slow answer would ever be ready
		}
		<-time.After(rand.N(after))
		b.kill()
	}
	r.telegram.Inject(nil)
	b := r.start("")
	r.wait(b, "the last task is answered", func(v telegramtest.State) bool {
		return v.Polling() && v.Pending() == 0 && answered(v, chat, tasks-1)
	})
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	result := r.count(chat, tasks)
	t.Logf("streaming %s, %d kills, %d faults: %s; a lone placeholder in %.1f %% of the kills",
		streaming, done, faults.Load(), result, 100*float64(result.Placeholders)/float64(done))
	result.check(t)
	shown := r.telegram.Transcript(chat)
	for n := range 3 * tasks {
		if want := fmt.Sprintf("done %d part %d ", n/3, n%3+1); !strings.Contains(shown, want) {
			t.Errorf("%q is lost", want)
		}
	}
	if 20*result.Placeholders > done {
		t.Errorf("%d lone placeholders in %d kills, at most 5 %%", result.Placeholders, done)
	}
	if tasks < done/10 {
		t.Errorf("only %d tasks in %d kills: the kills fell beside the work", tasks, done)
	}
}

// slowReply is what the model takes now and then, so that there is a placeholder.
const slowReply = 1200 * time.Millisecond

// inThree is a worker whose answers come as three messages. The person gives the next
// task at the first, while the others are on their way. One call in six is slow.
func inThree(work func(modeltest.Request) modeltest.Reply) func(modeltest.Request) modeltest.Reply {
	return func(r modeltest.Request) modeltest.Reply {
		reply := work(r)
		if strings.HasPrefix(reply.Text, "done ") {
			reply.Text = inParts(reply.Text, 3)
		}
		if rand.IntN(6) == 0 {
			reply.Delay = slowReply
		}
		return reply
	}
}

// killFault is a fault that may meet a kill. A send that was in doubt once ends
// at the second doubt by the rules, and a kill is one already: so a send is
// refused or slow here, and everything else fails in all ways.
func killFault(c telegramtest.Call) *telegramtest.Fault {
	if !strings.EqualFold(c.Method, "sendMessage") {
		return randomFault(c)
	}
	if rand.IntN(2) == 0 {
		return &telegramtest.Fault{Kind: telegramtest.FaultError, RetryAfter: 1}
	}
	return &telegramtest.Fault{Kind: telegramtest.FaultDelay, Delay: rand.N(100 * time.Millisecond)}
}

// randomFault is any fault that a call of the bot can meet in a short test.
func randomFault(c telegramtest.Call) *telegramtest.Fault {
	f := &telegramtest.Fault{Effect: rand.IntN(2) == 0}
	kinds := 6
	if strings.EqualFold(c.Method, "sendMessage") && strings.HasPrefix(c.Params["text"], "↻") {
		kinds = 2
	}
	switch rand.IntN(kinds) {
	case 0:
		f.Kind, f.RetryAfter, f.Effect = telegramtest.FaultError, 1, false
	case 1:
		f.Kind, f.Delay = telegramtest.FaultDelay, rand.N(2*time.Second)
	case 2:
		f.Kind, f.Status = telegramtest.FaultError, http.StatusInternalServerError
	case 3:
		f.Kind = telegramtest.FaultHTML
	case 4:
		f.Kind = telegramtest.FaultReset
	case 5:
		f.Kind, f.Effect = telegramtest.FaultMalformed, true
	}
	return f
}

func envNumber(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
