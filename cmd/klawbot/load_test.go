//go:build soak && linux

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// loadChats is how many people write at once.
const loadChats = 50

// shortLoad is how long TestLoad takes when MINUTES is 0; from longLoad on it
// looks for growth.
const shortLoad, longLoad = 12 * time.Second, 4 * time.Minute

// TestLoad lets people write RATE messages a second for MINUTES, while
// FAULTPERCENT of the calls to Telegram and to the model fail. In the end each
// message has its answer, and the process needs no more than in the beginning.
func TestLoad(t *testing.T) {
	length := max(time.Duration(envNumber("MINUTES", 0))*time.Minute, shortLoad)
	rate, percent := envNumber("RATE", 5), envNumber("FAULTPERCENT", 5)
	l := newLoad(t, percent)
	b := l.rig.start("")
	l.rig.wait(b, "it polls", func(v telegramtest.State) bool { return v.Polling() })
	of := newNeeds(t, b, l.metrics, filepath.Join(l.rig.dir, "data", "klawbot.db-wal"))
	began := time.Now()
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for sampled := began; time.Since(began) < length; {
		l.say()
		if time.Since(sampled) >= 500*time.Millisecond {
			sampled = time.Now()
			of.sample()
		}
		<-tick.C
	}
	l.calm()
	of.report(length >= longLoad)
	l.rig.wait(b, "every message is answered", func(v telegramtest.State) bool { return v.Pending() == 0 && l.missing(v) == 0 })
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	if strings.Contains(b.log.String(), "panic") {
		t.Errorf("something panicked:\n%s", tailOf(b.log.String()))
	}
	t.Logf("%v at %d messages/s: %s", length, rate, l)
	if l.doubles() > 0 {
		t.Errorf("%d answers came twice without the mark", l.doubles())
	}
	if late, chats := l.late(); chats > 0 {
		t.Errorf("%d messages out of order in %d chats: %q", len(late), chats, late[:min(len(late), 20)])
	}
}

// load is the people, and the faults at the same time.
type load struct {
	rig     *rig
	metrics string
	said    []int // by chat

	mu            sync.Mutex
	percent       int // guarded by mu
	calls, failed int // guarded by mu; of the model
	telegramFails int // guarded by mu
}

func newLoad(t *testing.T, percent int) *load {
	chats := make([]int64, loadChats)
	for i := range chats {
		chats[i] = int64(100 + i)
	}
	l := &load{rig: newRig(t, "edit", chats...), said: make([]int, loadChats), percent: percent, metrics: freePort(t)}
	l.rig.edit("health:", fmt.Sprintf("metrics: {listen: %q}\nhealth:", l.metrics))
	l.rig.edit("retries: 1", "retries: 4\n  timeoutSeconds: 10")
	l.rig.model.Respond(l.answer)
	l.rig.telegram.Inject(l.hit)
	return l
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// say lets the next person write. Each writes twice in a row, so that the second
// message comes while the first is worked on or its answer leaves.
func (l *load) say() {
	i := 0
	for j, n := range l.said {
		if n%2 == 1 {
			i = j
			break
		}
		if n < l.said[i] {
			i = j
		}
	}
	l.rig.telegram.User(int64(100 + i)).Send(fmt.Sprintf("task %d", l.said[i]))
	l.said[i]++
}

// answer names every task that is in the turn, unless it fails.
func (l *load) answer(r modeltest.Request) modeltest.Reply {
	var tasks []string
	for _, m := range slices.Backward(r.Messages) {
		if m.Role != "user" {
			break
		}
		for part := range strings.SplitSeq(m.Text(), "task ") {
			if f := strings.Fields(part); len(f) > 0 {
				if _, err := strconv.Atoi(f[0]); err == nil {
					tasks = append(tasks, "done "+f[0]+".")
				}
			}
		}
	}
	reply := modeltest.Text(strings.Join(tasks, " "))
	if rand.IntN(3) == 0 && reply.Text != "" {
		reply = modeltest.Text(inParts(reply.Text, 3))
	}
	reply.Delay, reply.PieceDelay = rand.N(200*time.Millisecond), rand.N(200*time.Millisecond)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	if rand.IntN(100) >= l.percent {
		return reply
	}
	l.failed++
	// A model on this machine may be silent for minutes before its first byte,
	// because it may be loading: StallBefore is for TestModelFaults.
	faults := []modeltest.Fault{modeltest.ResetBefore, modeltest.ResetAfter, modeltest.StallAfter, modeltest.Truncate, modeltest.Malformed}
	switch n := rand.IntN(len(faults) + 3); n {
	case len(faults):
		return modeltest.RateLimited(time.Second)
	case len(faults) + 1:
		return modeltest.HTML(http.StatusBadGateway)
	case len(faults) + 2:
		return modeltest.Error(http.StatusServiceUnavailable, "overloaded")
	default:
		reply.Fault = faults[n]
		return reply
	}
}

// hit lets calls to Telegram fail. A message that is a repeat already is spared
// the doubt: a second one ends it by the rules.
func (l *load) hit(c telegramtest.Call) *telegramtest.Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	if rand.IntN(100) >= l.percent {
		return nil
	}
	f := randomFault(c)
	l.telegramFails++
	return f
}

// calm ends all faults.
func (l *load) calm() {
	l.rig.telegram.Inject(nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.percent = 0
}

// missing counts the tasks that no answer names.
func (l *load) missing(v telegramtest.State) int {
	missing := 0
	for i, said := range l.said {
		var shown strings.Builder
		for _, m := range v.Messages(int64(100 + i)) {
			if m.Bot && !m.Deleted {
				shown.WriteString(m.Text + "\n")
			}
		}
		text := shown.String()
		for n := range said {
			if !strings.Contains(text, fmt.Sprintf("done %d.", n)) {
				missing++
			}
		}
	}
	return missing
}

// doubles counts the texts of the bot that a chat shows twice without the mark.
func (l *load) doubles() int {
	doubles := 0
	for i := range l.said {
		shown := map[string]int{}
		for _, m := range l.rig.telegram.Messages(int64(100 + i)) {
			if m.Bot && !m.Deleted && strings.HasPrefix(m.Text, "done ") {
				if shown[m.Text]++; shown[m.Text] > 1 {
					doubles++
				}
			}
		}
	}
	return doubles
}

// late are the messages that stand out of order, and in how many chats they are.
func (l *load) late() (all []string, chats int) {
	for i := range l.said {
		late := disorder(l.rig.telegram.Messages(int64(100 + i)))
		if all = append(all, late...); len(late) > 0 {
			chats++
		}
	}
	return all, chats
}

func (l *load) String() string {
	missing, all := 0, 0
	l.rig.telegram.View(func(v telegramtest.State) { missing = l.missing(v) })
	for _, n := range l.said {
		all += n
	}
	late, chats := l.late()
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("%d messages in %d chats, %d lost, %d double, %d out of order in %d chats; %d calls of Telegram failed, %d of %d of the model",
		all, len(l.said), missing, l.doubles(), len(late), chats, l.telegramFails, l.failed, l.calls)
}

// footprint follows what a process needs.
type footprint struct {
	t                         *testing.T
	pid                       int
	metrics, wal              string
	memory, files, goroutines []float64
	largestWAL                int64
}

func newNeeds(t *testing.T, b *process, metrics, wal string) *footprint {
	return &footprint{t: t, pid: b.cmd.Process.Pid, metrics: metrics, wal: wal}
}

func (w *footprint) sample() {
	w.t.Helper()
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", w.pid))
	if err != nil {
		w.t.Fatalf("the bot is gone: %v", err)
	}
	w.files = append(w.files, float64(len(fds)))
	w.memory = append(w.memory, residentMB(w.t, w.pid))
	w.goroutines = append(w.goroutines, w.metric("go_goroutines"))
	if info, err := os.Stat(w.wal); err == nil {
		w.largestWAL = max(w.largestWAL, info.Size())
	}
}

// metric reads a number from the bot's metrics page.
func (w *footprint) metric(name string) float64 {
	w.t.Helper()
	answer, err := http.Get("http://" + w.metrics + "/metrics")
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				w.t.Fatal(err)
			}
			return n
		}
	}
	w.t.Fatalf("no metric %s", name)
	return 0
}

// report holds the figures against their bounds. What grows shows only after
// minutes.
func (w *footprint) report(long bool) {
	w.t.Helper()
	if len(w.memory) < 10 {
		w.t.Fatalf("only %d samples", len(w.memory))
	}
	memory, files, goroutines := newTrend(w.memory), newTrend(w.files), newTrend(w.goroutines)
	w.t.Logf("behind the first fifth: RSS %.1f MB, at the end %.1f MB (%+.1f %%), most %.1f MB; descriptors %.0f, %.0f; goroutines %.0f, %.0f; largest WAL %.1f MiB",
		memory.from, memory.to, memory.growth()*100, slices.Max(w.memory), files.from, files.to, goroutines.from, goroutines.to, float64(w.largestWAL)/(1<<20))
	if long && memory.growth() > 0.10 {
		w.t.Errorf("RSS grew by %.1f %%, at most 10 %%", memory.growth()*100)
	}
	if d := files.to - files.from; long && (d > 5 || d < -5) || slices.Max(w.files) > 150 {
		w.t.Errorf("descriptors went by %+.0f, at most 5; there were up to %.0f", d, slices.Max(w.files))
	}
	if d := goroutines.to - goroutines.from; long && (d > 20 || d < -20) || slices.Max(w.goroutines) > 400 {
		w.t.Errorf("goroutines went by %+.0f, at most 20; there were up to %.0f", d, slices.Max(w.goroutines))
	}
	if w.largestWAL > 64<<20 {
		w.t.Errorf("the WAL had %d bytes, at most 64 MiB", w.largestWAL)
	}
}

// trend is the median of the second fifth of a series, and of the last.
type trend struct{ from, to float64 }

func newTrend(series []float64) trend {
	n := len(series) / 5
	return trend{median(series[n : 2*n]), median(series[4*n:])}
}

func (t trend) growth() float64 { return t.to/t.from - 1 }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
