package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"math/rand/v2"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// worker is the model of the kill tests. Asked for "task N", it appends N to a
// file, sends "side N" to the chat and then says "done N".
func worker(delay time.Duration) func(modeltest.Request) modeltest.Reply {
	return func(r modeltest.Request) modeltest.Reply {
		task := lastTask(r)
		var reply modeltest.Reply
		switch callsBehind(r) {
		case 0:
			reply = modeltest.CallTool("file_write", map[string]any{"path": "done.txt", "content": task + "\n", "mode": "append"})
		case 1:
			reply = modeltest.CallTool("send_message", map[string]any{"channel": "telegram", "chatId": "telegram_11", "text": "side " + task})
		default:
			reply = modeltest.Text("done " + task)
		}
		if delay > 0 {
			reply.Delay = rand.N(delay)
		}
		return reply
	}
}

// lastTask is the number of the last task that the person gave.
func lastTask(r modeltest.Request) string {
	text, _, _ := strings.Cut(r.LastUser(), "(now:") // and what is recalled behind it
	_, after, _ := strings.Cut(text[strings.LastIndex(text, "task "):], " ")
	return strings.Fields(after)[0]
}

// callsBehind counts the tool results behind the last message of the person.
func callsBehind(r modeltest.Request) int {
	n := 0
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != "user"; i-- {
		if r.Messages[i].Role == "tool" {
			n++
		}
	}
	return n
}

// tally counts what came of the tasks.
type tally struct {
	Tasks, Lost, DoubleFinals, MarkedFinals, RepeatedEffects, DoubleSides, Placeholders, OutOfOrder int
}

func (t tally) String() string {
	return fmt.Sprintf("%d tasks: %d lost, %d double finals (%d repeats marked ↻), %d repeated effects, %d double messages, %d placeholders left, %d out of order",
		t.Tasks, t.Lost, t.DoubleFinals, t.MarkedFinals, t.RepeatedEffects, t.DoubleSides, t.Placeholders, t.OutOfOrder)
}

// count reads the chat as the person sees it, and the file as it is.
func (r *rig) count(chat int64, tasks int) tally {
	t := tally{Tasks: tasks}
	shown := map[string]int{}
	all := r.telegram.Messages(chat)
	t.OutOfOrder = len(disorder(all))
	for _, m := range all {
		switch {
		case !m.Bot || m.Deleted:
		case m.Text == "…":
			t.Placeholders++
		default:
			shown[beginning(m.Text)]++
		}
	}
	lines := map[string]int{}
	body, err := os.ReadFile(filepath.Join(r.workspace(), "done.txt"))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	for _, line := range strings.Fields(string(body)) {
		lines[line]++
	}
	for n := range tasks {
		final, side := fmt.Sprintf("done %d", n), fmt.Sprintf("side %d", n)
		if shown[final]+shown["↻ "+final] == 0 {
			t.Lost++
		}
		if shown[final] > 1 {
			t.DoubleFinals++
		}
		t.MarkedFinals += shown["↻ "+final]
		if shown[side] > 1 {
			t.DoubleSides++
		}
		if lines[fmt.Sprint(n)] > 1 {
			t.RepeatedEffects++
		}
	}
	return t
}

// beginning is what a message is counted as: an answer of several parts as its first.
func beginning(text string) string {
	first, _, _ := strings.Cut(text, " part 1 ")
	return first
}

// answered reports whether task n has its final answer.
func answered(v telegramtest.State, chat int64, n int) bool {
	final := fmt.Sprintf("done %d", n)
	for _, m := range v.Messages(chat) {
		if m.Bot && !m.Deleted && strings.TrimPrefix(beginning(m.Text), "↻ ") == final {
			return true
		}
	}
	return false
}

func (r *rig) isAnswered(chat int64, n int) (is bool) {
	r.telegram.View(func(v telegramtest.State) { is = answered(v, chat, n) })
	return is
}

// check fails the test when a promise is broken.
func (t tally) check(tb testing.TB) {
	tb.Helper()
	if t.Lost+t.DoubleFinals+t.RepeatedEffects+t.DoubleSides+t.OutOfOrder > 0 {
		tb.Errorf("%s; want no loss, no double without the mark, no repeated effect, nothing out of order", t)
	}
}
