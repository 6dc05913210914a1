package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"klawbot/gateway/web/control"
	"klawbot/gateway/web/html"
	"klawbot/internal/clip"
)

const (
	// codeWithin is how long a link works.
	codeWithin = 5 * time.Minute
	// maxWrong is how many wrong codes a minute are answered as such.
	maxWrong = 5
	// seenEvery is how often it is noted that a browser was seen.
	seenEvery = time.Minute
)

// codes holds the one code that signs in: its hash, and until when.
type codes struct {
	mu    sync.Mutex
	hash  string      // guarded by mu; "" for none
	until time.Time   // guarded by mu
	wrong []time.Time // guarded by mu; of the last minute
}

// secret is a random text of so many bytes.
func secret(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func (c *codes) make() string {
	code := secret(16)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hash, c.until = hashOf(code), time.Now().Add(codeWithin)
	return code
}

// try compares a code, and takes it when it is right. tooMany says that wrong ones come
// too fast.
func (c *codes) try(code string, take bool) (right, tooMany bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.hash != "" && now.Before(c.until) && subtle.ConstantTimeCompare([]byte(hashOf(code)), []byte(c.hash)) == 1 {
		if take {
			c.hash = ""
		}
		return true, false
	}
	for len(c.wrong) > 0 && now.Sub(c.wrong[0]) > time.Minute {
		c.wrong = c.wrong[1:]
	}
	if len(c.wrong) >= maxWrong {
		return false, true
	}
	c.wrong = append(c.wrong, now)
	return false, false
}

// public reports whether a request came through the reverse proxy, to the public address.
func (s *site) public(r *http.Request) bool {
	return s.config.Public != nil && strings.EqualFold(r.Host, s.config.Public.Host)
}

// admitted checks what the browser calls the page, before anything else: a name that an
// attacker chose is not ours. The code is 0 when it may pass.
func (s *site) admitted(r *http.Request) (code int) {
	from := remote(r)
	if s.public(r) {
		if !s.trusted(from) || r.Header.Get("X-Forwarded-Proto") != "https" {
			return http.StatusForbidden
		}
		return 0
	}
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, port = r.Host, "80"
	}
	_, ours, _ := net.SplitHostPort(s.config.Listen)
	if port != s.port(r, ours) || !localName(host) {
		return http.StatusMisdirectedRequest
	}
	if !from.IsLoopback() {
		return http.StatusForbidden
	}
	return 0
}

// port is where the request arrived: the configured one, or that of the listener when
// that is 0.
func (s *site) port(r *http.Request, configured string) string {
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && configured == "0" {
		_, configured, _ = net.SplitHostPort(a.String())
	}
	return configured
}

func localName(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}

func remote(r *http.Request) netip.Addr {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr().Unmap()
}

func (s *site) trusted(a netip.Addr) bool {
	for _, p := range s.config.Proxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// cookie is the name of the cookie. Ports share cookies, so it has the port; behind a
// proxy no other host can set it.
func (s *site) cookie(r *http.Request) string {
	if s.public(r) {
		return "__Host-klawbot"
	}
	_, port, _ := net.SplitHostPort(s.config.Listen)
	return "klawbot-" + s.port(r, port)
}

// browser is the browser that a request comes from, ErrNotFound when it is not signed in.
func (s *site) browser(r *http.Request, d Desk) (Browser, error) {
	c, err := r.Cookie(s.cookie(r))
	if err != nil || len(c.Value) != 64 {
		return Browser{}, ErrNotFound
	}
	b, err := d.Browser(r.Context(), hashOf(c.Value))
	if err != nil {
		return b, err
	}
	now := time.Now()
	idle := s.public(r) && now.Sub(b.SeenAt) > s.config.Idle
	if now.Sub(b.At) > s.config.SignIn || idle {
		return Browser{}, errors.Join(ErrNotFound, d.End(r.Context(), b.ID))
	}
	if now.Sub(b.SeenAt) > seenEvery {
		err = d.Seen(r.Context(), b.ID, b.Language)
	}
	return b, err
}

func (s *site) setCookie(q *request, value string, seconds int) {
	http.SetCookie(q.w, &http.Cookie{
		Name: s.cookie(q.r), Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.public(q.r),
	})
}

// doorPages need no browser that is signed in, but for the list.
var doorPages = []page{
	{pattern: "GET /in/{code}", serve: showSignIn, open: true},
	{pattern: "POST /in", serve: signIn, open: true},
	{pattern: "POST /out", serve: signOut},
	{pattern: "GET /browsers", serve: showBrowsers},
	{pattern: "POST /browsers/{id}/end", serve: endBrowser},
	{pattern: "POST /language", serve: setLanguage},
}

// showSignIn shows a button. What looks at links before a person does uses nothing up.
func showSignIn(q *request) error {
	q.w.Header().Set("Referrer-Policy", "no-referrer")
	code := q.r.PathValue("code")
	right, tooMany := q.site.codes.try(code, false)
	if tooMany || !right {
		return q.closed(tooMany)
	}
	return q.show("in", "in.title", html.F(`<div class="card narrow"><h1>%s</h1><p>%s</p><form method="post" action="/in"><input type="hidden" name="code" value="%s"><button class="main" autofocus>%s</button></form></div>`,
		q.t("in.title"), q.t("in.text"), code, q.t("in.open")))
}

func (q *request) closed(tooMany bool) error {
	if b, err := q.site.browser(q.r, q.desk); err == nil { // it needs no link
		if q.browser = b; b.Language != "" {
			q.lang = b.Language
		}
	}
	if tooMany {
		return q.sorry(http.StatusTooManyRequests, "in.many")
	}
	return q.sorry(http.StatusGone, "in.old")
}

func signIn(q *request) error {
	right, tooMany := q.site.codes.try(q.r.PostFormValue("code"), true)
	if !right {
		return q.closed(tooMany)
	}
	token := secret(32)
	if err := q.desk.SignIn(q.r.Context(), hashOf(token), clip.Line(q.r.UserAgent(), 200)); err != nil {
		return err
	}
	q.site.setCookie(q, token, int(q.site.config.SignIn.Seconds()))
	q.site.config.Log.Info("browser signed in", "from", q.r.RemoteAddr)
	return q.back("/chat")
}

func signOut(q *request) error {
	q.site.setCookie(q, "", -1)
	q.site.hub.signOut(q.browser.ID)
	if err := q.desk.End(q.r.Context(), q.browser.ID); err != nil {
		return err
	}
	return q.gone()
}

// gone says that this browser is signed out.
func (q *request) gone() error {
	q.browser = Browser{}
	return q.show("sorry", "out.title", html.F(`<div class="card narrow"><h1>%s</h1><p>%s</p></div>`, q.t("out.title"), q.t("out.done")))
}

func showBrowsers(q *request) error {
	all, err := q.desk.Browsers(q.r.Context())
	if err != nil {
		return err
	}
	rows := html.Each(all, func(b Browser) html.HTML {
		name := agentName(b.Agent)
		return html.F(`<li class="card row"><div><strong>%s</strong>%s<p class="quiet">%s: %s · %s: %s</p></div>
<form method="post" action="/browsers/%s/end"><button aria-label="%s: %s">%s</button></form></li>`,
			name, html.If(b.ID == q.browser.ID, ` <span class="tag">%s</span>`, q.t("browsers.this")), q.t("browsers.since"), control.When(q.lang, b.At.In(q.zone())),
			q.t("browsers.seen"), control.When(q.lang, b.SeenAt.In(q.zone())), b.ID, q.t("browsers.end"), name, q.t("browsers.end"))
	})
	return q.show("browsers", "browsers.title", html.F(`<h1>%s</h1><p class="lead">%s</p><ul class="cards">%s</ul>`, q.t("browsers.title"), q.t("browsers.text"), rows))
}

// agentName is what people call a browser.
func agentName(agent string) string {
	find := func(names ...[2]string) string {
		for _, n := range names {
			if strings.Contains(agent, n[0]) {
				return n[1]
			}
		}
		return ""
	}
	name := find([2]string{"Edg/", "Edge"}, [2]string{"OPR/", "Opera"}, [2]string{"Firefox/", "Firefox"}, [2]string{"Chrome/", "Chrome"}, [2]string{"Safari/", "Safari"}, [2]string{"curl/", "curl"})
	system := find([2]string{"Android", "Android"}, [2]string{"iPhone", "iPhone"}, [2]string{"iPad", "iPad"}, [2]string{"Windows", "Windows"}, [2]string{"Mac OS", "macOS"}, [2]string{"Linux", "Linux"})
	switch {
	case name == "":
		return clip.Line(agent, 40)
	case system == "":
		return name
	}
	return name + ", " + system
}

func endBrowser(q *request) error {
	id := q.id("id")
	q.site.hub.signOut(id)
	if err := q.desk.End(q.r.Context(), id); err != nil {
		return err
	}
	q.site.hub.signOut(id) // a stream that opened after the look
	if id == q.browser.ID {
		q.site.setCookie(q, "", -1)
		return q.gone()
	}
	return q.back("/browsers")
}

func setLanguage(q *request) error {
	language := q.r.PostFormValue("language")
	if language != "en" && language != "ru" {
		return errBad
	}
	if err := q.desk.Seen(q.r.Context(), q.browser.ID, language); err != nil {
		return err
	}
	return q.back(local(q.r.PostFormValue("back")))
}
