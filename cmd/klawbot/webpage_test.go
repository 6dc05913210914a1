package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/internal/modeltest"
	"klawbot/internal/needs"
)

// webPage is a browser at the page of a bot.
type webPage struct {
	*rig
	at     string
	client *http.Client
}

// withPage turns the web page on, before the start.
func (r *rig) withPage() *webPage {
	r.t.Helper()
	p := &webPage{rig: r, at: freeAddress(r.t)}
	r.edit("channels:\n", "channels:\n  web: {enabled: true, listen: \""+p.at+"\"}\n")
	return p
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

// hasSocket reports whether commands reach the bot. Its socket is there a moment earlier.
func (p *webPage) hasSocket() bool {
	_, err := bot.AskStatus(p.t.Context(), p.dir+"/data")
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

// say sends a message under the key of a browser: sent twice, it is said once.
func (p *webPage) say(key, text string) {
	resp, err := p.client.PostForm("http://"+p.at+"/chat/say", url.Values{"key": {key}, "text": {text}})
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

// events are the streams of an open page: it comes back after an end, as a browser does,
// and reports what it was sent.
func (p *webPage) events(ctx context.Context) <-chan string {
	all := make(chan string, 10000)
	go func() {
		defer close(all)
		last := ""
		for ctx.Err() == nil {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.at+"/events", nil)
			if err != nil {
				return
			}
			r.Header.Set("Last-Event-ID", last)
			resp, err := p.client.Do(r)
			if err != nil {
				continue
			}
			in := bufio.NewScanner(resp.Body)
			for in.Buffer(nil, 1<<20); in.Scan(); {
				if id, is := strings.CutPrefix(in.Text(), "id: "); is {
					last = id
				}
				all <- in.Text()
			}
			_ = resp.Body.Close()
		}
	}()
	return all
}

var markup = regexp.MustCompile(`<[^>]*>`)

// TestSecretsAreNotOnTheWebPage has a model say secrets, as a whole and in pieces, and a person
// type one. Neither the chat nor what is streamed to it shows them.
func TestSecretsAreNotOnTheWebPage(t *testing.T) {
	t.Parallel() // it mostly waits
	r := newRig(t, "edit", 11)
	p := r.withPage()
	token := r.telegram.Token()
	said := []string{"the key is " + canaryKey + " and the token " + token}
	for _, secret := range []string{canaryKey, token} {
		said = append(said, inPieces(secret)...)
	}
	for i, text := range said {
		r.model.Push(modeltest.Reply{Text: fmt.Sprintf("Answer %d begins.\n\n%s\n\nAnswer %d ends.", i, text, i)})
	}
	b := r.start("")
	p.signIn()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events := p.events(ctx)
	for i := range said {
		p.say(fmt.Sprintf("canary-%04d", i), "my own key is "+canaryKey)
		page := p.until(fmt.Sprintf("Answer %d ends.", i))
		c := canaries{t, []string{canaryKey, token}}
		c.look("the page", []byte(page))
		c.lookClosely("the page", markup.ReplaceAllString(page, ""))
	}
	cancel()
	var sent strings.Builder
	for line := range events {
		sent.WriteString(line + "\n")
	}
	if !strings.Contains(sent.String(), "ends.") {
		t.Error("nothing was streamed")
	}
	c := canaries{t, []string{canaryKey, token}}
	c.look("the stream", []byte(sent.String()))
	for line := range strings.Lines(sent.String()) {
		var piece struct{ HTML string }
		if data, is := strings.CutPrefix(line, "data: "); is && json.Unmarshal([]byte(data), &piece) == nil {
			c.lookClosely("the stream", markup.ReplaceAllString(piece.HTML, ""))
		}
	}
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
}

// TestBotCannotOpenItsOwnPage: its tools for the web do not reach this machine, and a
// program that does isn't signed in.
func TestBotCannotOpenItsOwnPage(t *testing.T) {
	t.Parallel() // it mostly waits
	needs.Program(t, "curl", "curl")
	r := newRig(t, "edit", 11)
	p := r.withPage()
	b := r.start("")
	p.signIn()
	p.say("private-0001", "private words")
	call := func(tool string, arguments map[string]string) string {
		text, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		newApp(nil, strings.NewReader(""), &out, &out).execute(t.Context(), []string{"--config", r.config, "tools", "call", "--yes", tool, string(text)})
		return out.String()
	}
	pages := []string{"/status", "/chat", "/events", "/logs"}
	for _, path := range pages {
		at := "http://" + p.at + path
		for tool, arguments := range map[string]map[string]string{"http_request": {"method": "GET", "url": at}, "web_fetch": {"url": at}} {
			if got := call(tool, arguments); !strings.Contains(got, "Access denied: 127.0.0.1 is not on the public internet") {
				t.Errorf("%s of %s: %s", tool, path, got)
			}
		}
		got := call("shell", map[string]string{"command": "curl -s -m 20 -w ' status %{http_code}' " + at})
		if !strings.Contains(got, "status 401") || strings.Contains(got, "private words") || strings.Contains(got, "telegram") {
			t.Errorf("shell at %s: %s", path, got)
		}
	}
	t.Run("browser", func(t *testing.T) {
		needs.Program(t, "chromium", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
		for _, path := range pages {
			if got := call("browser", map[string]string{"action": "open", "url": "http://" + p.at + path}); !strings.Contains(got, "Access denied") {
				t.Errorf("at %s: %s", path, got)
			}
		}
	})
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
}

// TestNoLinkToAnotherProgram: when another program has the address, no link to it is printed.
func TestNoLinkToAnotherProgram(t *testing.T) {
	t.Parallel() // it mostly waits
	r := newRig(t, "edit", 11)
	p := r.withPage()
	other, err := net.Listen("tcp", p.at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	web := func() (code int, out string) {
		var said bytes.Buffer
		code = newApp(nil, strings.NewReader(""), &said, &said).execute(t.Context(), []string{"--config", r.config, "web"})
		return code, said.String()
	}
	want := "the web page isn't served: " + p.at + " is taken by another program; choose another channels.web.listen"
	if code, out := web(); code != exitFailed || !strings.Contains(out, want) || strings.Contains(out, "/in/") {
		t.Errorf("alone: exit code %d, %s", code, out)
	}
	b := r.start("")
	for !p.hasSocket() {
		continue
	}
	if code, out := web(); code != exitFailed || !strings.Contains(out, want) || strings.Contains(out, "/in/") {
		t.Errorf("beside a bot: exit code %d, %s", code, out)
	}
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
}

// TestWebChatIsInTheBackup: a restored bot has the chat of the web page with its files, and the
// browser is still signed in.
func TestWebChatIsInTheBackup(t *testing.T) {
	t.Parallel() // it mostly waits
	r := newRig(t, "edit", 11)
	p := r.withPage()
	r.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Text("It is a shopping list.") })
	b := r.start("")
	p.signIn()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("key", "with-a-file")
	_ = w.WriteField("text", "what is this?")
	part, err := w.CreateFormFile("file", "list.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write([]byte("milk and bread"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	resp, err := p.client.Post("http://"+p.at+"/chat/say", w.FormDataContentType(), &form)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	p.until("It is a shopping list.")
	backup := filepath.Join(t.TempDir(), "bot.tar.gz")
	r.command("backup", backup)
	if code := b.stop(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	if err := os.RemoveAll(filepath.Join(r.dir, "data")); err != nil {
		t.Fatal(err)
	}
	r.command("restore", backup)
	b = r.start("")
	page := p.until("It is a shopping list.")
	link := regexp.MustCompile(`/chat/file/[0-9]+`).FindString(page)
	if !strings.Contains(page, "what is this?") || link == "" {
		t.Fatalf("the restored page shows %s", page)
	}
	file, err := p.client.Get("http://" + p.at + link)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(file.Body)
	_ = file.Body.Close()
	if string(text) != "milk and bread" || err != nil {
		t.Errorf("the restored file holds %q, %v", text, err)
	}
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
}
