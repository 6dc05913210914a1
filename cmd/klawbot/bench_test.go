//go:build bench

package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

var short = flag.Bool("bench.short", false, "a quick look instead of the real figures")

// scale makes a number smaller for a quick look.
func scale(n int) int {
	if *short {
		return max(n/10, 3)
	}
	return n
}

// figures collects the figures, each with the goal it is held against.
type figures struct {
	t    *testing.T
	rows []string
}

func (b *figures) add(what string, value float64, unit, goal string, ok bool) {
	verdict := ""
	if !ok {
		verdict = "  <-- missed"
		if !*short {
			b.t.Errorf("%s: %.2f %s, goal %s", what, value, unit, goal)
		}
	}
	b.rows = append(b.rows, fmt.Sprintf("%s\t%.2f %s\t%s%s", what, value, unit, goal, verdict))
}

// resident adds a row of resident memory. It fails no run: 25 MB of it are the file of
// the program, of which the kernel maps as much as it likes.
func (b *figures) resident(what string, mb, goal float64) {
	verdict := ""
	if mb > goal {
		verdict = "  <-- missed"
	}
	b.rows = append(b.rows, fmt.Sprintf("%s\t%.2f MB\t<= %.0f%s", what, mb, goal, verdict))
}

// TestBench measures the real binary against the fakes and prints the table of
// doc/benchmarks.md. The fakes share the machine with the bot.
func TestBench(t *testing.T) {
	binary := buildBinary(t)
	b := &figures{t: t}
	b.start(binary)
	b.senses(binary)
	for _, streaming := range []string{"edit", "off"} {
		b.turns(binary, streaming)
		b.throughput(binary, streaming)
	}
	b.hi(binary)
	b.requests()
	b.burst(binary)
	b.large(binary)
	b.embedding(binary)
	b.meaning(binary)
	b.confined()
	b.size(binary)
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 4, 3, ' ', 0)
	fmt.Fprintf(w, "figure\tmeasured\tgoal\n")
	for _, row := range b.rows {
		fmt.Fprintln(w, row)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("\n%s, %d cores\n%s\n", runtime.Version(), runtime.NumCPU(), out.String())
}

func buildBinary(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("make", "-s", "build")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make build: %v\n%s", err, out)
	}
	return filepath.Join(root, "bin", "klawbot")
}

// benchRig is a rig that sees each call of the bot as it ends.
// Its memory goes by words alone, whatever lies in build/assets.
func benchRig(t *testing.T, streaming string, observe func(telegramtest.Call), chats ...int64) *rig {
	r := newRigAt(t, 0, streaming, chats...)
	r.edit("agent:", wordsAlone+"agent:")
	r.telegram.Observe(observe)
	return r
}

// start measures the time from the start of the process to its first poll, and
// what it occupies when idle.
func (b *figures) start(binary string) {
	var times []time.Duration
	var idle, own float64
	r := newRigAt(b.t, 0, "edit", 11)
	for range scale(20) {
		before := r.telegram.Count("getUpdates")
		began := time.Now()
		p := r.start(binary)
		r.wait(p, "the first poll", func(v telegramtest.State) bool { return v.Count("getUpdates") > before })
		times = append(times, time.Since(began))
		<-time.After(2 * time.Second / time.Duration(1+9*btoi(*short)))
		idle = max(idle, residentMB(b.t, p.cmd.Process.Pid))
		own = max(own, memoryMB(b.t, p.cmd.Process.Pid, "RssAnon:"))
		p.stop()
	}
	slices.Sort(times)
	median := times[len(times)/2].Seconds()
	b.add("start to first getUpdates, median", median, "s", "<= 0.10", median <= 0.10)
	b.add("memory of its own when idle (RssAnon), largest", own, "MB", "<= 16", own <= 16)
	b.resident("RSS idle, largest", idle, 32)
}

func btoi(v bool) int {
	if v {
		return 1
	}
	return 0
}

// wordsAlone is the configuration of a memory without an embedding model.
const wordsAlone = "memory: {embedding: {type: off}}\n"

// turns measures the bot's own share of a turn: from the update to the model
// request, and from the model's answer to the reply.
func (b *figures) turns(binary, streaming string) {
	own, memory, computed := b.talk(binary, streaming, func(*rig) {})
	p50, p99 := ms(own[len(own)/2]), ms(own[len(own)*99/100])
	b.add("own overhead per turn p50, streaming "+streaming, p50, "ms", "<= 5", p50 <= 5)
	b.add("own overhead per turn p99, streaming "+streaming, p99, "ms", "<= 25", p99 <= 25)
	b.add("processor time per turn, streaming "+streaming, computed, "ms", "", true)
	b.resident(fmt.Sprintf("RSS after %d turns, streaming %s", len(own), streaming), memory, 44)
}

// hi measures what a person waits for with default settings and a model that answers at
// once: from the update to the answer. The pause makes each a lone message.
func (b *figures) hi(binary string) {
	const pause = 2 * time.Second
	var mu sync.Mutex
	want := ""
	shown := make(chan time.Time, 1)
	r := newRigAt(b.t, 0, "edit", 11)
	for _, set := range []string{
		"    streaming: edit\n", "    limits: {perChatPerSecond: 0, groupPerMinute: 0, globalPerSecond: 0}\n",
		"agent: {debounceMs: 0, maxConcurrentModelCalls: 16}\n",
	} {
		r.edit(set, "")
	}
	r.telegram.Observe(func(c telegramtest.Call) {
		mu.Lock()
		defer mu.Unlock()
		if want != "" && c.Params["text"] == want {
			shown <- c.Time
			want = ""
		}
	})
	r.model.Respond(func(modeltest.Request) modeltest.Reply {
		mu.Lock()
		defer mu.Unlock()
		return modeltest.Reply{Text: want, Pieces: 1}
	})
	p := r.start(binary)
	r.wait(p, "the first poll", func(v telegramtest.State) bool { return v.Polling() })
	var waited []time.Duration
	for n := range scale(20) {
		mu.Lock()
		want = fmt.Sprintf("hello %d", n)
		mu.Unlock()
		sent := time.Now()
		r.telegram.User(11).Send("hi")
		select {
		case at := <-shown:
			waited = append(waited, at.Sub(sent))
		case <-time.After(10 * time.Second):
			b.t.Fatalf("no answer to hi %d\n%s", n, tailOf(p.log.String()))
		}
		<-time.After(pause)
	}
	p.stop()
	slices.Sort(waited)
	median := waited[len(waited)/2].Seconds()
	b.add("hi with default settings: update to answer, p50", median, "s", "<= 0.15", median <= 0.15)
}

// talk lets one person talk, each question sent when the answer before is there.
// It returns the bot's own share of each turn, the shortest first, what the bot
// occupies at the end, and how long it has computed for a turn, in milliseconds:
// that is nearly the same on a machine with other work.
func (b *figures) talk(binary, streaming string, change func(*rig)) (own []time.Duration, memory, computed float64) {
	var mu sync.Mutex
	var sent, asked, said, shown time.Time
	finals := make(chan struct{}, 1)
	want := ""
	r := benchRig(b.t, streaming, func(c telegramtest.Call) {
		mu.Lock()
		defer mu.Unlock()
		if want != "" && c.Params["text"] == want {
			shown, want = c.Time, ""
			finals <- struct{}{}
		}
	}, 11)
	r.model.Respond(func(q modeltest.Request) modeltest.Reply {
		mu.Lock()
		defer mu.Unlock()
		asked, said = q.At, time.Now() // what the fake takes to check it is not the bot's
		return modeltest.Reply{Text: want, Pieces: 1}
	})
	change(r)
	p := r.start(binary)
	r.wait(p, "the first poll", func(v telegramtest.State) bool { return v.Polling() })
	person := r.telegram.User(11)
	before := processorTime(b.t, p.cmd.Process.Pid)
	for n := range scale(1000) {
		mu.Lock()
		want, sent = fmt.Sprintf("answer %d", n), time.Now()
		mu.Unlock()
		person.Send(fmt.Sprintf("question %d", n))
		select {
		case <-finals:
		case <-time.After(10 * time.Second):
			b.t.Fatalf("no answer to question %d\n%s", n, tailOf(p.log.String()))
		}
		mu.Lock()
		own = append(own, asked.Sub(sent)+shown.Sub(said))
		mu.Unlock()
	}
	memory = residentMB(b.t, p.cmd.Process.Pid)
	computed = ms(processorTime(b.t, p.cmd.Process.Pid)-before) / float64(len(own))
	p.stop()
	slices.Sort(own)
	return own, memory, computed
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// throughput lets 100 people talk at once, each waiting for the answer before
// the next question.
func (b *figures) throughput(binary, streaming string) {
	const people = 100
	chats := make([]int64, people)
	wake := map[int64]chan struct{}{}
	for i := range chats {
		chats[i] = int64(1000 + i)
		wake[chats[i]] = make(chan struct{}, 1)
	}
	r := benchRig(b.t, streaming, func(c telegramtest.Call) {
		if c.Params["text"] == "ok" {
			wake[c.Chat] <- struct{}{}
		}
	}, chats...)
	r.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Text: "ok", Pieces: 1} })
	p := r.start(binary)
	r.wait(p, "the first poll", func(v telegramtest.State) bool { return v.Polling() })
	rounds := scale(60)
	began := time.Now()
	var group sync.WaitGroup
	for _, chat := range chats {
		group.Go(func() {
			person := r.telegram.User(chat)
			for n := range rounds {
				person.Send(fmt.Sprintf("q %d", n))
				select {
				case <-wake[chat]:
				case <-time.After(30 * time.Second):
					b.t.Errorf("chat %d got no answer to question %d", chat, n)
					return
				}
			}
		})
	}
	group.Wait()
	took := time.Since(began)
	memory := residentMB(b.t, p.cmd.Process.Pid)
	p.stop()
	rate := float64(people*rounds) / took.Seconds()
	b.add("turns per second, 100 chats, streaming "+streaming, rate, "/s", ">= 300", rate >= 300)
	b.rows = append(b.rows, fmt.Sprintf("RSS after %d turns of 100 chats, streaming %s\t%.2f MB\t", people*rounds, streaming, memory))
}

// burst sends 1,000 messages from 20 chats while each model call takes 0.3 s.
func (b *figures) burst(binary string) {
	const people, each = 20, 50
	var chats []int64
	for i := range int64(people) {
		chats = append(chats, 2000+i)
	}
	r := newRigAt(b.t, 0, "edit", chats...)
	var mu sync.Mutex
	got, inOrder, all := map[string]int{}, true, make(chan struct{})
	seen := 0
	r.model.Respond(func(q modeltest.Request) modeltest.Reply {
		mu.Lock()
		defer mu.Unlock()
		for _, m := range trailingUsers(q) {
			chat, n, _ := strings.Cut(strings.Fields(m)[0], "/")
			i, err := strconv.Atoi(n)
			if err == nil && i < got[chat] {
				continue // asked again, together with what joined it
			}
			inOrder = inOrder && err == nil && i == got[chat]
			got[chat] = i + 1
			if seen++; seen == people*each {
				close(all)
			}
		}
		return modeltest.Reply{Text: "ok", Delay: 300 * time.Millisecond}
	})
	p := r.start(binary)
	r.wait(p, "the first poll", func(v telegramtest.State) bool { return v.Polling() })
	began := time.Now()
	for n := range each {
		for i, chat := range chats {
			r.telegram.User(chat).Send(fmt.Sprintf("%d/%d", i, n))
		}
	}
	select {
	case <-all:
	case <-time.After(60 * time.Second):
	}
	took := time.Since(began).Seconds()
	mu.Lock()
	lost := people*each - seen
	order := inOrder
	mu.Unlock()
	p.stop()
	b.add("burst of 1,000 messages, 20 chats, model 0.3 s: lost", float64(lost), "messages", "0, in order", lost == 0 && order)
	b.rows = append(b.rows, fmt.Sprintf("burst: time until the last reached the model\t%.2f s\t", took))
}

// trailingUsers are the texts of the person's messages at the end of a request.
func trailingUsers(q modeltest.Request) []string {
	first := len(q.Messages)
	for first > 0 && q.Messages[first-1].Role == "user" {
		first--
	}
	var texts []string
	for _, m := range q.Messages[first:] {
		texts = append(texts, m.Text())
	}
	return texts
}

func (b *figures) size(binary string) {
	info, err := os.Stat(binary)
	if err != nil {
		b.t.Fatal(err)
	}
	size := float64(info.Size()) / 1e6
	b.add("binary, stripped", size, "MB", "<= 35", size <= 35)
}
