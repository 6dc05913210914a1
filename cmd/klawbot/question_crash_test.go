//go:build crash

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// TestKilledBesideAQuestionOfAServer kills the bot right after an MCP server has
// asked the person something, and right after the person has answered, in words
// and with a button, also before the messenger has told which message asks. The
// server gets no answer, so the chat may not say that it was answered, and the
// call is not repeated.
func TestKilledBesideAQuestionOfAServer(t *testing.T) {
	const words = `{"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}`
	const buttons = `{"type": "object", "properties": {"color": {"type": "string", "enum": ["red", "blue"]}}, "required": ["color"]}`
	write := func(u telegramtest.Person) { u.Send("4711") }
	press := func(u telegramtest.Person) { _, _ = u.Press(0, "blue") } // the bot dies before it answers
	for name, k := range map[string]serverKill{
		"asked":                        {point: "question.asked", form: words},
		"answered in words":            {point: "question.answered", form: words, answer: write},
		"answered in words at once":    {point: "question.answered", form: words, answer: write, atOnce: true},
		"answered by a button":         {point: "approval.answered", form: buttons, answer: press, edited: true},
		"answered by a button at once": {point: "approval.answered", form: buttons, answer: press, edited: true, atOnce: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killBesideServer(t, k)
		})
	}
}

// serverKill is where the bot dies beside a question of a server.
type serverKill struct {
	point, form string
	answer      func(telegramtest.Person) // nil for none
	atOnce      bool                      // the messenger never tells the message's id
	edited      bool                      // the bot knows the message nevertheless, which a tap tells
}

// losesReply has the messenger deliver the messages that hold a text and never
// answer their request.
func (r *rig) losesReply(text string) {
	r.telegram.Inject(func(c telegramtest.Call) *telegramtest.Fault {
		if c.Method != "sendMessage" || !strings.Contains(c.Params["text"], text) {
			return nil
		}
		return &telegramtest.Fault{Kind: telegramtest.FaultHang, Effect: true}
	})
}

// lostAnswer is what the chat shows of an answer that may not have arrived.
const lostAnswer = "⏹ Answered, but I restarted before the call ended. The answer may not have arrived."

func killBesideServer(t *testing.T, k serverKill) {
	const chat = 11
	r := newRig(t, "off", chat)
	file := func(name, content string) string {
		t.Helper()
		path := filepath.Join(r.dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	server, got := filepath.Join(r.dir, "mcpserver"), filepath.Join(r.dir, "form.got")
	if err := os.Symlink(os.Args[0], server); err != nil {
		t.Fatal(err)
	}
	r.edit("  retries: 1\n", "  retries: 1\nsecurity: {autonomy: full}\ntools:\n  exec: {mode: full}\n")
	r.command("mcp", "add", "demo", "--env", "ABOUT="+file("about", "Says it again."), "--env", "FORM="+file("form", k.form), "--", server)
	r.command("mcp", "approve", "demo", "--yes")
	r.model.Respond(func(q modeltest.Request) modeltest.Reply {
		if callsBehind(q) == 0 && strings.Contains(q.LastUser(), "fill it in") {
			return modeltest.CallTool("mcp_demo_survey", nil)
		}
		return modeltest.Text("so: " + q.Last().Text())
	})
	b := r.start("", "KLAWBOT_CRASH="+k.point)
	if k.atOnce {
		r.losesReply("needs input")
	}
	r.telegram.User(chat).Send("fill it in")
	if k.answer != nil {
		r.wait(b, "the question", func(v telegramtest.State) bool { return showsText(v, chat, "needs input") })
		k.answer(r.telegram.User(chat))
	}
	<-b.exited
	if code := b.cmd.ProcessState.ExitCode(); code != -1 {
		t.Fatalf("the bot was not killed at %s, exit code %d\n%s", k.point, code, tailOf(b.log.String()))
	}
	r.telegram.Inject(nil)
	b = r.again(b)
	r.wait(b, "an answer", func(v telegramtest.State) bool { return showsText(v, chat, "so: ") && v.Pending() == 0 })
	if k.answer != nil {
		r.wait(b, "the outcome", func(v telegramtest.State) bool { return showsText(v, chat, lostAnswer) })
	}
	r.telegram.User(chat).Send("hello")
	r.wait(b, "the next answer", func(v telegramtest.State) bool { return showsText(v, chat, "hello") })
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	if text, err := os.ReadFile(got); err == nil {
		t.Errorf("the server got %s", text)
	}
	for _, m := range r.telegram.Messages(chat) {
		waits := k.edited && strings.Contains(m.Text, "needs input") // a question that was killed on its way may be there
		if m.Bot && (waits || strings.HasPrefix(m.Text, "✅")) {
			t.Errorf("the chat shows %q", m.Text)
		}
	}
}

// showsText reports whether a message of the bot holds a text.
func showsText(v telegramtest.State, chat int64, text string) bool {
	for _, m := range v.Messages(chat) {
		if m.Bot && !m.Deleted && strings.Contains(m.Text, text) {
			return true
		}
	}
	return false
}
