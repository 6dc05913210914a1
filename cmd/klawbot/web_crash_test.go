//go:build crash

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"klawbot/internal/modeltest"
)

// TestKilledWhileWebPageShowsAnswer kills the bot at each moment of an answer on the web page
// and starts it again. The page shows what was said once and one final answer, without a
// mark for repeats: a row with a key is shown once. The browser stays signed in.
func TestKilledWhileWebPageShowsAnswer(t *testing.T) {
	slow := 1500 * time.Millisecond // in which the placeholder comes; the answer is an edit of it
	for _, at := range []struct {
		point string
		delay time.Duration
	}{{"placeholder.sent", slow}, {"turn.committed", slow}, {"outbox.delivered", slow}, {"outbox.sending", 0}, {"outbox.delivered", 0}} {
		t.Run(fmt.Sprint(at.point, "/", at.delay), func(t *testing.T) {
			point := at.point
			t.Parallel()
			r := newRig(t, "edit", 11)
			p := &webPage{rig: r, at: freeAddress(t)}
			r.edit("channels:\n", "channels:\n  web: {enabled: true, listen: \""+p.at+"\"}\n")
			r.model.Respond(func(modeltest.Request) modeltest.Reply {
				return modeltest.Reply{Text: "The folder is empty.", Delay: at.delay}
			})
			b := r.start("", "KLAWBOT_CRASH="+point)
			p.signIn()
			p.say("how big is the log?") // it may be killed before it answers
			<-b.exited
			if code := b.cmd.ProcessState.ExitCode(); code != -1 {
				t.Fatalf("the bot was not killed at %s, exit code %d\n%s", point, code, tailOf(b.log.String()))
			}
			b = r.start("")
			page := p.until("The folder is empty.")
			if code := b.stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
			}
			for text, want := range map[string]int{"The folder is empty.": 1, "how big is the log?": 1, "↻": 0, `class="message bot`: 1} {
				if n := strings.Count(page, text); n != want {
					t.Errorf("the page shows %q %d times, want %d:\n%s", text, n, want, page)
				}
			}
		})
	}
}

// webPage is a browser at the page of a bot.
type webPage struct {
	*rig
	at     string
	client *http.Client
}

func (p *webPage) signIn() {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.client = &http.Client{Jar: jar}
	for p.get("/favicon.ico") != http.StatusNoContent || !p.hasSocket() {
		continue
	}
	link, _, _ := strings.Cut(p.command("web"), " ")
	resp, err := p.client.PostForm("http://"+p.at+"/in", url.Values{"code": {link[strings.LastIndex(link, "/")+1:]}})
	if err != nil {
		p.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		p.t.Fatalf("sign-in answers %s", resp.Status)
	}
}

func (p *webPage) hasSocket() bool {
	_, err := os.Stat(p.dir + "/data/klawbot.sock")
	return err == nil
}

// get asks for a page and returns the status, 0 when nothing answers.
func (p *webPage) get(path string) int {
	resp, err := p.client.Get("http://" + p.at + path)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

func (p *webPage) say(text string) {
	resp, err := p.client.PostForm("http://"+p.at+"/chat/say", url.Values{"key": {"the-one-message"}, "text": {text}})
	if err == nil {
		_ = resp.Body.Close()
	}
}

// until waits until the chat shows a text and returns the page.
func (p *webPage) until(text string) (page string) {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		resp, err := p.client.Get("http://" + p.at + "/chat")
		if err != nil {
			continue
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if page = string(body); err == nil && resp.StatusCode == http.StatusOK && strings.Contains(page, text) && !strings.Contains(page, "data-growing") {
			return page
		}
	}
	p.t.Fatalf("the page shows %s", page)
	return ""
}
