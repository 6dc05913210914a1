package web_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"klawbot/gateway"
	"klawbot/gateway/web"
)

// routes are all routes, with a value for each part of a path.
func routes(t *testing.T) (all []string) {
	t.Helper()
	for _, p := range web.Patterns() {
		p = strings.NewReplacer("{$}", "", "{id}", "1", "{code}", strings.Repeat("0", 32), "{version}", "v", "{name}", "style.css").Replace(p)
		all = append(all, p)
	}
	if len(all) < 15 {
		t.Fatalf("only %d routes", len(all))
	}
	return all
}

var home = gateway.Address{Chat: gateway.ChatID{Channel: web.Name}}

// Other site posts.
func TestOtherSitesCannotAct(t *testing.T) {
	s := open(t)
	b := s.signIn(t)
	for _, route := range routes(t) {
		method, path, _ := strings.Cut(route, " ")
		if method != http.MethodPost {
			continue
		}
		for _, from := range []string{"cross-site", "same-site"} {
			r := s.request(t, method, path, strings.NewReader("key=abcdefgh&text=hi"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", from)
			if a := s.do(t, b, r); a.code != http.StatusForbidden {
				t.Errorf("%s from %s answers %d", route, from, a.code)
			}
		}
		r := s.request(t, method, path, strings.NewReader(""))
		r.Header.Set("Origin", "https://evil.example")
		if a := s.do(t, b, r); a.code != http.StatusForbidden {
			t.Errorf("%s from another origin answers %d", route, a.code)
		}
	}
	if came := s.came(t); len(came) > 0 {
		t.Errorf("the bot got %v", came)
	}
}

func TestReadingChangesNothing(t *testing.T) {
	s := open(t)
	b := s.signIn(t)
	if a := s.get(t, b, "/chat/say?key=abcdefgh&text=hi"); a.code != http.StatusNotFound && a.code != http.StatusMethodNotAllowed {
		t.Errorf("a message in an address answers %d", a.code)
	}
	if len(s.came(t)) > 0 {
		t.Error("a message came in by GET")
	}
}

// DNS rebinding.
func TestHostIsCheckedFirst(t *testing.T) {
	s := open(t)
	b := s.signIn(t)
	for _, route := range append(routes(t), "GET /nothing") {
		method, path, _ := strings.Cut(route, " ")
		for _, host := range []string{"evil.example", "evil.example:" + s.base[strings.LastIndex(s.base, ":")+1:], "127.0.0.1:1", "127.0.0.1.evil.example", "[::2]"} {
			r := s.request(t, method, path, nil)
			r.Host = host
			if a := s.do(t, b, r); a.code != http.StatusMisdirectedRequest {
				t.Errorf("%s at %s answers %d", route, host, a.code)
			}
		}
	}
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "127.0.0.2"} {
		r := s.request(t, http.MethodGet, "/chat", nil)
		r.Host = host + s.base[strings.LastIndex(s.base, ":"):]
		if a := s.do(t, browser(t), r); a.code != http.StatusUnauthorized {
			t.Errorf("%s answers %d", host, a.code)
		}
	}
}

// hostile are texts that try to become part of the page.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `<svg onload=alert(1)>`, `[x](javascript:alert(1))`,
	`![x](javascript:alert(1))`, `<javascript:alert(1)>`, `[x](data:text/html,<script>alert(1)</script>)`, `[x](JaVaScRiPt:alert(1))`,
	"[x](\tjavascript:alert(1))", "```\"><script>alert(1)</script>\nx\n```", "`</code><script>alert(1)</script>`",
	`[x](https://a.example/"onmouseover="alert(1))`, `<a href="javascript:alert(1)">x</a>`, `</template><script>alert(1)</script>`,
	`{{.Key}}{{html "x"}}`, `<iframe srcdoc="<script>alert(1)</script>">`, `<form action=https://evil.example><input type=submit>`,
	`<base href=https://evil.example>`, `<meta http-equiv=refresh content=0;url=https://evil.example>`, `<style>@import "https://evil.example"</style>`,
	`![pixel](https://evil.example/p.png)`, "| a |\n|---|\n| <script>alert(1)</script> |", "<!--><script>alert(1)</script>-->",
	"[x]: javascript:alert(1)\n[x]", "\x00<script>alert(1)</script>", "<scr\x00ipt>alert(1)</scr\x00ipt>", "vbscript:alert(1) <vbscript:alert(1)>",
}

// checkPage finds what can run or load in a page, but for the page's own.
func checkPage(t *testing.T, what, page string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode {
			checkElement(t, what, n)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(doc)
}

func checkElement(t *testing.T, what string, n *html.Node) {
	t.Helper()
	switch n.Data {
	case "iframe", "object", "embed", "base", "style", "link-x":
		t.Errorf("%s: an element %s", what, n.Data)
	case "script":
		if n.FirstChild != nil {
			t.Errorf("%s: a script in the page: %s", what, n.FirstChild.Data)
		}
	}
	for _, a := range n.Attr {
		value := strings.ToLower(strings.TrimSpace(a.Val))
		switch {
		case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc", a.Key == "http-equiv":
			t.Errorf("%s: an attribute %s=%q", what, a.Key, a.Val)
		case (a.Key == "src" || a.Key == "action") && !strings.HasPrefix(value, "/"):
			t.Errorf("%s: %s loads %s=%q", what, n.Data, a.Key, a.Val)
		case a.Key == "href" && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "https://") && !strings.HasPrefix(value, "http://") && !strings.HasPrefix(value, "mailto:"):
			t.Errorf("%s: a link to %q", what, a.Val)
		}
	}
}

// Script in an answer, a file, a name.
func TestNoScriptFromContent(t *testing.T) {
	s := open(t)
	b := s.signIn(t)
	for i, text := range hostile {
		p := gateway.Part{
			Text: text, Key: fmt.Sprint("answer/", i), Buttons: [][]gateway.Button{{{Text: text, Data: text}, {Text: text, URL: "javascript:alert(1)"}}},
			Document: &gateway.Document{Name: text + ".html", Content: text},
		}
		if _, err := s.Send(t.Context(), home, p); err != nil {
			t.Fatal(err)
		}
		if a := s.post(t, b, "/chat/say", "key", fmt.Sprintf("said-%04d", i), "text", text); a.code != http.StatusSeeOther {
			t.Fatalf("%q answers %d", text, a.code)
		}
	}
	r := s.request(t, http.MethodGet, "/browsers", nil)
	r.Header.Set("User-Agent", hostile[0])
	for path, a := range map[string]answer{"/chat": s.get(t, b, "/chat"), "/browsers": s.do(t, b, r)} {
		if a.code != http.StatusOK {
			t.Errorf("%s answers %d", path, a.code)
		}
		checkPage(t, path, a.body)
	}
}

// Framing, and what else the headers say.
func TestHeadersOfEveryAnswer(t *testing.T) {
	s := open(t)
	b := s.signIn(t)
	for _, path := range []string{"/chat", "/in/x", "/nothing", "/browsers"} {
		h := s.get(t, b, path).header
		for name, part := range map[string]string{
			"Content-Security-Policy": "frame-ancestors 'none'", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-store",
		} {
			if !strings.Contains(h.Get(name), part) {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
		policy := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "require-trusted-types-for 'script'") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
	}
}

// A link that is used again.
func TestLinkWorksOnce(t *testing.T) {
	s := open(t)
	old := s.Link()
	link := strings.TrimPrefix(s.Link(), s.base)
	code := strings.TrimPrefix(link, "/in/")
	if len(code) != 32 {
		t.Errorf("the code has %d characters", len(code))
	}
	b := browser(t)
	for range 3 {
		if a := s.get(t, b, link); a.code != http.StatusOK || a.header.Get("Referrer-Policy") != "no-referrer" || a.header.Get("Set-Cookie") != "" {
			t.Errorf("the link answers %d, %v", a.code, a.header)
		}
	}
	if a := s.get(t, b, strings.TrimPrefix(old, s.base)); a.code != http.StatusGone {
		t.Errorf("an older link answers %d", a.code)
	}
	if a := s.post(t, b, "/in", "code", code); a.code != http.StatusSeeOther || a.header.Get("Location") != "/chat" {
		t.Errorf("sign-in answers %d", a.code)
	}
	for _, a := range []answer{s.get(t, browser(t), link), s.post(t, browser(t), "/in", "code", code)} {
		if a.code != http.StatusGone || !strings.Contains(a.body, "This link was used or is too old. → klawbot web") {
			t.Errorf("a used link answers %d: %s", a.code, a.body)
		}
		if strings.Contains(a.body, `class="button"`) {
			t.Errorf("a button leads nowhere: %s", a.body)
		}
	}
	if a := s.get(t, b, link); a.code != http.StatusGone || !strings.Contains(a.body, "Go to the chat") || !strings.Contains(a.body, `href="/status"`) {
		t.Errorf("a used link in a browser that is signed in answers %d: %s", a.code, a.body)
	}
	s.post(t, b, "/language", "language", "ru", "back", "/chat")
	if a := s.get(t, b, link); !strings.Contains(a.body, "В чат") {
		t.Errorf("a used link speaks another language: %s", a.body)
	}
	if a := s.get(t, b, "/chat"); a.code != http.StatusOK {
		t.Errorf("the signed-in browser gets %d", a.code)
	}
}

// Guessing.
func TestGuessingIsSlow(t *testing.T) {
	s := open(t)
	link := strings.TrimPrefix(s.Link(), s.base)
	b := browser(t)
	for i := range 50 {
		want := http.StatusGone
		if i >= 5 {
			want = http.StatusTooManyRequests
		}
		if a := s.post(t, b, "/in", "code", fmt.Sprintf("%032d", i)); a.code != want {
			t.Fatalf("guess %d answers %d, want %d", i, a.code, want)
		}
	}
	if a := s.post(t, b, "/in", "code", strings.TrimPrefix(link, "/in/")); a.code != http.StatusSeeOther {
		t.Errorf("the right code answers %d", a.code)
	}
}

// A cookie that is stolen.
func TestCookie(t *testing.T) {
	s := open(t)
	b := s.signIn(t)
	u, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	value := b.Jar.Cookies(u)[0].Value
	if len(value) != 64 {
		t.Errorf("the cookie has %d characters", len(value))
	}
	for hash := range s.desk.browsers {
		if hash == value {
			t.Error("the cookie itself is kept")
		}
	}
	link := s.Link()
	a := s.post(t, browser(t), "/in", "code", link[strings.LastIndex(link, "/")+1:])
	if c := a.header.Get("Set-Cookie"); !strings.Contains(c, "HttpOnly") || !strings.Contains(c, "SameSite=Strict") || !strings.Contains(c, "Path=/") {
		t.Errorf("the cookie is %q", c)
	}
}

// Page on another port gets the cookie: browsers share cookies between ports. A page there
// cannot act with it, and an address of its own, which Linux has, keeps it.
func TestAnotherPortCannotAct(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux answers on all of 127.0.0.0/8")
	}
	s := open(t, func(c *web.Config) { c.Listen = strings.Replace(c.Listen, "127.0.0.1", "127.0.0.2", 1) })
	b := s.signIn(t)
	for address, want := range map[string]int{"http://127.0.0.2:1/": 1, "http://127.0.0.1:1/": 0, "http://localhost:1/": 0} {
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Jar.Cookies(at); len(got) != want {
			t.Errorf("%s gets the cookies %v, want %d", address, got, want)
		}
	}
	for _, header := range [][2]string{{"Sec-Fetch-Site", "same-site"}, {"Origin", "http://127.0.0.2:1"}} {
		r := s.request(t, http.MethodPost, "/chat/say", strings.NewReader("key=abcdefgh&text=hi"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set(header[0], header[1])
		if a := s.do(t, b, r); a.code != http.StatusForbidden {
			t.Errorf("a form with %v answers %d", header, a.code)
		}
	}
	if came := s.came(t); len(came) > 0 {
		t.Errorf("the bot got %v", came)
	}
}

func TestEndedBrowserIsOutAtOnce(t *testing.T) {
	s := open(t)
	thief, owner := s.signIn(t), s.signIn(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r := s.request(t, http.MethodGet, "/events", nil).WithContext(ctx)
	stream, err := thief.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	if a := s.get(t, owner, "/browsers"); strings.Count(a.body, "/end\"") != 2 {
		t.Errorf("the list: %s", a.body)
	}
	began := time.Now()
	if a := s.post(t, owner, "/browsers/1/end"); a.code != http.StatusSeeOther {
		t.Errorf("the end answers %d", a.code)
	}
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() {
		continue
	}
	if took := time.Since(began); ctx.Err() != nil || took > time.Second {
		t.Errorf("the stream ended after %v", took)
	}
	if a := s.get(t, thief, "/chat"); a.code != http.StatusUnauthorized {
		t.Errorf("the ended browser gets %d", a.code)
	}
	if a := s.get(t, owner, "/chat"); a.code != http.StatusOK {
		t.Errorf("the other one gets %d", a.code)
	}
}

func TestBrowserIsOutAfterItsDays(t *testing.T) {
	s := open(t, func(c *web.Config) { c.SignIn = time.Nanosecond })
	b := s.signIn(t)
	if a := s.get(t, b, "/chat"); a.code != http.StatusUnauthorized {
		t.Errorf("an old browser gets %d", a.code)
	}
}

// Another user of the machine.
func TestStrangersSeeNothing(t *testing.T) {
	s := open(t)
	if _, err := s.Send(t.Context(), home, gateway.Part{Text: "private words"}); err != nil {
		t.Fatal(err)
	}
	for _, route := range append(routes(t), "GET /nothing", "POST /nothing") {
		method, path, _ := strings.Cut(route, " ")
		r := s.request(t, method, path, nil)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		a := s.do(t, browser(t), r)
		free := strings.HasPrefix(path, "/in") || strings.HasPrefix(path, "/static/") || path == "/favicon.ico"
		if !free && a.code != http.StatusUnauthorized {
			t.Errorf("%s answers %d", route, a.code)
		}
		if strings.Contains(a.body, "private words") || strings.Contains(a.header.Get("Server")+a.header.Get("X-Powered-By"), "klawbot") {
			t.Errorf("%s tells something: %s", route, a.body)
		}
	}
}

// upload is a form with a file.
func (s *site) upload(t *testing.T, b *http.Client, key, name string, content []byte) answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("key", key)
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write(content)
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := s.request(t, http.MethodPost, "/chat/say", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return s.do(t, b, r)
}

// Files.
func TestFilesCannotHurt(t *testing.T) {
	s := open(t)
	b := s.signIn(t)
	for i, name := range []string{"../../etc/passwd", "a\x00b.html", `..\..\x.svg`, ".hidden", "page.html", "image.svg", strings.Repeat("ä", 300) + ".txt"} {
		a := s.upload(t, b, fmt.Sprintf("file-%04d", i), name, []byte("<script>alert(1)</script>"))
		if strings.Contains(name, "\x00") && a.code == http.StatusBadRequest {
			continue // such a header is none
		}
		if a.code != http.StatusSeeOther {
			t.Errorf("%q answers %d: %s", name, a.code, a.body)
			continue
		}
		came := s.came(t)
		m := came[len(came)-1]
		if n := m.Attachments[0].Name; strings.ContainsAny(n, "/\\\x00") || strings.HasPrefix(n, ".") || len([]rune(n)) > 100 {
			t.Errorf("%q is called %q", name, n)
		}
		h := s.get(t, b, fmt.Sprintf("/chat/file/%d", m.ID)).header
		if !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") || h.Get("Content-Type") != "application/octet-stream" ||
			h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%q comes with %v", name, h)
		}
	}
	before := len(s.came(t))
	if a := s.upload(t, b, "large-001", "large.bin", make([]byte, 1<<20+1)); a.code != http.StatusRequestEntityTooLarge {
		t.Errorf("a large file answers %d", a.code)
	}
	if len(s.came(t)) != before {
		t.Error("a large file came in")
	}
}

// Floods.
func TestBounds(t *testing.T) {
	s := open(t)
	b := s.signIn(t)
	if a := s.post(t, b, "/chat/say", "key", "abcdefgh", "text", strings.Repeat("a", 65<<10)); a.code != http.StatusRequestEntityTooLarge {
		t.Errorf("a long form answers %d", a.code)
	}
	var first *http.Response
	for i := range 21 {
		stream, err := b.Do(s.request(t, http.MethodGet, "/events", nil))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stream.Body.Close() }()
		line := make([]byte, 1)
		if _, err := stream.Body.Read(line); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = stream
		}
	}
	last := ""
	for lines := bufio.NewScanner(first.Body); lines.Scan(); {
		if lines.Text() != "" {
			last += lines.Text() + "\n"
		}
	}
	if !strings.Contains(last, "event: end") {
		t.Errorf("the oldest of 21 streams goes on: %s", last)
	}
}

// The public address.
func TestPublicAddress(t *testing.T) {
	public, err := url.Parse("https://bot.example.com")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, func(c *web.Config) {
		c.Public, c.Proxies = public, []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	if !strings.HasPrefix(s.Link(), "https://bot.example.com/in/") {
		t.Errorf("the link is %s", s.Link())
	}
	ask := func(proto string) answer {
		link := s.Link()
		r := s.request(t, http.MethodPost, "/in", strings.NewReader("code="+link[strings.LastIndex(link, "/")+1:]))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("X-Forwarded-Proto", proto)
		r.Host = "bot.example.com"
		return s.do(t, browser(t), r)
	}
	if a := ask("http"); a.code != http.StatusForbidden {
		t.Errorf("without https it answers %d", a.code)
	}
	a := ask("https")
	if c := a.header.Get("Set-Cookie"); a.code != http.StatusSeeOther || !strings.HasPrefix(c, "__Host-klawbot=") || !strings.Contains(c, "Secure") {
		t.Errorf("with https it answers %d, cookie %q", a.code, c)
	}
	far := open(t, func(c *web.Config) { c.Public, c.Proxies = public, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	r := far.request(t, http.MethodGet, "/chat", nil)
	r.Host = "bot.example.com"
	r.Header.Set("X-Forwarded-Proto", "https")
	if a := far.do(t, browser(t), r); a.code != http.StatusForbidden {
		t.Errorf("from elsewhere than the proxy it answers %d", a.code)
	}
}

// What no page and no model can show is left out, and nothing is cut in silence.
func TestOddForms(t *testing.T) {
	s := open(t)
	b := s.signIn(t)
	if a := s.post(t, b, "/chat/say", "key", "abcdefgh", "text", "a\x00b\xff\x1b[31m\r\nc\td"); a.code != http.StatusSeeOther {
		t.Fatalf("odd signs answer %d", a.code)
	}
	if got := s.desk.rows[0].Text; got != "ab\uFFFD[31m\nc\td" {
		t.Errorf("kept %q", got)
	}
	multipart := func(body string) int {
		t.Helper()
		r := s.request(t, http.MethodPost, "/chat/say", strings.NewReader(body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		answer, err := b.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		return answer.StatusCode
	}
	field := func(head, value string) string {
		return "--x\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + value + "\r\n"
	}
	key := field(`name="key"`, "abcdefgi")
	if code := multipart(key + field(`name="text"`, strings.Repeat("a", 65<<10)) + "--x--\r\n"); code != http.StatusRequestEntityTooLarge {
		t.Errorf("a long text in parts answers %d", code)
	}
	if code := multipart(key + `--x` + "\r\n" + `Content-Disposition: form-data; name="file"; filename="a.txt"` + "\r\n\r\nabc"); code != http.StatusBadRequest {
		t.Errorf("a cut file answers %d", code)
	}
	if code := multipart(key + field(`name="file"; filename="a.txt"`, "") + field(`name="file"; filename=""`, "") + "--x--\r\n"); code != http.StatusSeeOther {
		t.Errorf("an empty file answers %d", code)
	}
	if n := len(s.desk.rows); n != 2 || s.desk.rows[1].File == nil || s.desk.rows[1].File.Name != "a.txt" {
		t.Errorf("%d messages: %+v", n, s.desk.rows)
	}
}
