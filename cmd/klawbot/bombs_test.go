//go:build soak && linux

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// What one message, file or answer may cost.
const (
	bombMemory = 256.0 // megabytes above the most that the bot has needed before
	bombTime   = 5 * time.Second
)

// bombChat is the person whom the bombs meet.
const bombChat = int64(11)

// bombed are bots on one data directory that meet one bomb after the other.
type bombed struct {
	*rig
	bot  *process
	asks int
}

// TestBombs gives a bot answers, updates, files and a configuration that want to
// cost it dearly. None takes more than its bounds, and the bot answers after each.
func TestBombs(t *testing.T) {
	r := newRig(t, "edit", bombChat)
	r.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Text("OK") })
	x := &bombed{rig: r}
	for name, text := range hostileAnswers(1 << 20) {
		x.meet("an answer of "+name, func() { x.reply(modeltest.Reply{Text: text, Pieces: 16}) })
	}
	x.meet("30,000 pieces", func() { x.reply(modeltest.Reply{Text: strings.Repeat("word ", 30_000), Pieces: 30_000}) })
	x.meet("a delta of 10 MB", func() { x.reply(modeltest.Reply{Text: strings.Repeat("a", 10<<20), Pieces: 1}) })
	x.meet("arguments of 10 MB", func() {
		x.reply(modeltest.Reply{Calls: []modeltest.Call{{Name: "file_list", Arguments: strings.Repeat("[", 10<<20)}}})
	})
	x.meet("nested updates", x.nestedUpdates)
	for tool, arguments := range map[string]map[string]any{
		"file_read":   {"path": "big.txt"},
		"file_search": {"type": "grep", "pattern": "(a+)+b"},
		"file_edit":   {"path": "big.txt", "old_str": "head", "new_str": "tail"},
		"send_file":   {"path": "big.txt"},
	} {
		x.meet("1 GB through "+tool, func() { x.sparse(tool, arguments) })
	}
	pages, served := bombServer(t)
	r.edit("agent: {", "tools: {http: {allowed_hosts: [127.0.0.1]}}\nagent: {")
	for name := range bombPages {
		x.meet("a page of "+name, func() {
			call := modeltest.CallTool("http_request", map[string]any{"method": "GET", "url": pages.URL + "/" + url.PathEscape(name)})
			// A question that came before the call would join its turn and replace it.
			x.replyUntil(call, "the page is fetched", func() bool { return served.Swap(0) > 0 })
		})
	}
	x.meet("a configuration of brackets", x.brackets)
}

// bombPages are pages of 3.9 MB that are more for the one who reads them; each is a
// beginning and what follows it again and again.
var bombPages = map[string][2]string{
	"links that end each other": {"", "<p><a href=x>"},
	"elements opened again":     {"<p>" + strings.Repeat("<b a><i b><u c>", 100), "</p><p>x"},
	"misnested elements":        {"", "<a><b><p>"},
	"attributes":                {"<p ", "a='>'b "},
	"texts that grow":           {"", "word</b>"},
	"deep paragraphs":           {strings.Repeat("<div>", 480), "x</p>"},
	"one wide row":              {"<table>" + strings.Repeat("<tr><td>x", 1000), "<td>x"},
	"links":                     {"", "<a href=/x>y</a> "},
}

// bombServer serves them and counts how often.
func bombServer(t *testing.T) (s *httptest.Server, served *atomic.Int64) {
	served = new(atomic.Int64)
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		page := bombPages[strings.TrimPrefix(r.URL.Path, "/")]
		w.Header().Set("Content-Type", "text/html; charset=windows-1252")
		_, _ = io.WriteString(w, page[0]+strings.Repeat(page[1], 3_900_000/len(page[1]))) // it may be cut off
	}))
	t.Cleanup(s.Close)
	return s, served
}

// hostileAnswers are texts of a size that cost a careless Markdown parser or
// splitter more than linear time.
func hostileAnswers(size int) map[string]string {
	texts := map[string]string{}
	for _, unit := range []string{
		"*", "_", "`", "[", "<", "> ", "- ", "|", "\n", " ", "\u0301", "漢**。_ ", "*a _b ", "[a](", "[a]: b\n", "&a", "| a | b |\n|-|-|\n| c | d |\n\n",
		"```\n", "https://a.b/_c_ ",
	} {
		texts[fmt.Sprintf("%q", unit)] = strings.Repeat(unit, size/len(unit))
	}
	texts["brackets"] = strings.Repeat("[", size/2) + "a" + strings.Repeat("]", size/2)
	texts["quotes, then lines"] = strings.Repeat(">", size/2) + "a\n" + strings.Repeat("b\n", size/4)
	texts["a square table"] = strings.Repeat("|", size/3) + "\n" + strings.Repeat("|-", size/6) + "|\n" + strings.Repeat("|\n", size/6)
	return texts
}

// bombTries is how often a bomb is tried that seems dear. A busy machine, whose
// garbage is collected late, only adds to what it really takes.
const bombTries = 3

// meet lets a bot meet a bomb and holds what it costs against the bounds.
func (x *bombed) meet(name string, bomb func()) {
	x.t.Helper()
	took, peak := x.cost(name, bomb)
	for range bombTries - 1 {
		if took <= bombTime && peak <= bombMemory {
			return
		}
		again, high := x.cost(name+", again", bomb)
		took, peak = min(took, again), min(peak, high)
	}
	if peak > bombMemory {
		x.t.Errorf("%s took %.0f MB, at most %.0f", name, peak, bombMemory)
	}
	if took > bombTime {
		x.t.Errorf("%s took %v of processor time, at most %v", name, took, bombTime)
	}
}

// cost lets a bot meet a bomb and measures what it takes. Each bomb gets a process
// of its own, because Go keeps memory for the next.
func (x *bombed) cost(name string, bomb func()) (took time.Duration, peak float64) {
	x.t.Helper()
	x.bot = x.start("")
	x.wait(x.bot, "it polls", func(v telegramtest.State) bool { return v.Polling() })
	x.ask()
	pid := x.bot.cmd.Process.Pid
	time0, memory0 := processorTime(x.t, pid), memoryMB(x.t, pid, "VmHWM:")
	bomb()
	x.ask()
	took, peak = processorTime(x.t, pid)-time0, memoryMB(x.t, pid, "VmHWM:")-memory0
	if code := x.bot.stop(); code != 0 {
		x.t.Errorf("exit code %d after %s", code, name)
	}
	if strings.Contains(x.bot.log.String(), "panic") {
		x.t.Errorf("%s made something panic:\n%s", name, tailOf(x.bot.log.String()))
	}
	x.t.Logf("%-40s %6.0f MB %8v", name, peak, took)
	return took, peak
}

// ask wants an answer to an ordinary message.
func (x *bombed) ask() {
	x.t.Helper()
	x.asks++
	text := fmt.Sprintf("alive %d", x.asks)
	x.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if strings.Contains(r.LastUser(), text) {
			return modeltest.Text("yes, " + text)
		}
		return modeltest.Text("OK")
	})
	x.telegram.User(bombChat).Send(text)
	x.wait(x.bot, text, func(v telegramtest.State) bool { return saidLately(v, "yes, "+text) && v.Pending() == 0 })
}

// until waits for what the fake Telegram does not see.
func (x *bombed) until(what string, holds func() bool) {
	x.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			x.t.Fatalf("never: %s\n%s", what, tailOf(x.bot.log.String()))
		}
	}
}

func saidLately(v telegramtest.State, text string) bool {
	all := v.Messages(bombChat)
	for _, m := range all[max(0, len(all)-20):] {
		if m.Bot && !m.Deleted && m.Text == text {
			return true
		}
	}
	return false
}

// reply makes one answer of the model a bomb, and starts a new conversation, so
// that the next bomb does not meet this one.
func (x *bombed) reply(bomb modeltest.Reply) {
	asked := x.model.Total()
	x.replyUntil(bomb, "the bomb is on its way", func() bool { return x.model.Total() > asked })
}

// replyUntil is reply with another sign that the bomb has arrived.
func (x *bombed) replyUntil(bomb modeltest.Reply, what string, arrived func() bool) {
	x.model.Push(bomb)
	x.telegram.User(bombChat).Send("a bomb, please")
	x.until(what, arrived)
	x.ask()
	x.telegram.User(bombChat).Send("/new")
}

// nestedUpdates are messages whose answered messages answer messages, 2,000 deep,
// and whose formatting is 10,000 ranges: Telegram sends 100 at most.
func (x *bombed) nestedUpdates() {
	const depth = 2000
	head := fmt.Sprintf(`{"message_id":7,"date":1,"chat":{"id":%d,"type":"private"},"from":{"id":%d,"first_name":"A"},"text":"deep"`, bombChat, bombChat)
	x.push(`{"message":` + strings.Repeat(head+`,"reply_to_message":`, depth) + head + strings.Repeat("}", depth+1) + `}`)
	x.push(`{"message":` + head + `,"entities":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}}`)
	one := `{"type":"bold","offset":0,"length":4}`
	x.push(`{"message":` + head + `,"entities":[` + strings.Repeat(one+",", 10_000) + one + `]}}`)
}

func (x *bombed) push(update string) {
	x.t.Helper()
	if _, err := x.telegram.Push(update); err != nil {
		x.t.Fatal(err)
	}
}

// sparse lets a tool take a file of 1 GB that takes no room on the disk.
func (x *bombed) sparse(tool string, arguments map[string]any) {
	name := filepath.Join(x.workspace(), "big.txt")
	if err := os.WriteFile(name, []byte("head\n"), 0o600); err != nil {
		x.t.Fatal(err)
	}
	if err := os.Truncate(name, 1<<30); err != nil {
		x.t.Fatal(err)
	}
	x.reply(modeltest.CallTool(tool, arguments))
}

// brackets gives the running bot a configuration that it must refuse.
func (x *bombed) brackets() {
	good, err := os.ReadFile(x.config)
	if err != nil {
		x.t.Fatal(err)
	}
	said := len(x.bot.log.String()) // before the bot can complain
	if err := os.WriteFile(x.config, []byte("agent: "+strings.Repeat("[", 256<<10)), 0o600); err != nil {
		x.t.Fatal(err)
	}
	x.until("the bot complains of its configuration", func() bool { return strings.Contains(x.bot.log.String()[said:], "config.yaml") })
	if err := os.WriteFile(x.config, good, 0o600); err != nil {
		x.t.Fatal(err)
	}
}
