package web_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/gateway"
	"klawbot/gateway/web"
	"klawbot/gateway/web/control"
	"klawbot/internal/redact"
)

// desk keeps everything in memory.
type desk struct {
	control.Desk // the pages beside the chat have tests of their own, in engine/internal/desk
	mu           sync.Mutex
	rows         []web.Message
	rev          int64
	browsers     map[string]web.Browser
	files        map[string][]byte
	language     string
	hears        bool
	// kept is called once a message was changed, and read once rows were read.
	kept, read func()
}

func newDesk() *desk {
	return &desk{browsers: map[string]web.Browser{}, files: map[string][]byte{}, language: "en"}
}

func (d *desk) at(id int64) int {
	return slices.IndexFunc(d.rows, func(m web.Message) bool { return m.ID == id })
}

func (d *desk) Add(_ context.Context, m web.Message) (web.Message, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, old := range d.rows {
		if old.Key == m.Key {
			return old, nil
		}
	}
	d.rev++
	m.Rev = d.rev
	d.rows = append(d.rows, m)
	return m, nil
}

func (d *desk) Put(_ context.Context, m web.Message) error {
	d.mu.Lock()
	defer d.happened(&d.kept)
	defer d.mu.Unlock()
	d.rev++
	m.Rev = d.rev
	if i := d.at(m.ID); i >= 0 {
		m.Key, m.At = d.rows[i].Key, d.rows[i].At
		d.rows[i] = m
		return nil
	}
	m.Key = fmt.Sprint("message/", m.ID)
	d.rows = append(d.rows, m)
	return nil
}

func (d *desk) Remove(_ context.Context, id int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := d.at(id); i >= 0 {
		d.rev++
		d.rows[i] = web.Message{ID: id, Key: d.rows[i].Key, Gone: true, Rev: d.rev}
	}
	return nil
}

func (d *desk) Message(_ context.Context, id int64) (web.Message, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := d.at(id); i >= 0 {
		return d.rows[i], nil
	}
	return web.Message{}, web.ErrNotFound
}

// hook sets what a hook calls next.
func (d *desk) hook(hook *func(), call func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*hook = call
}

// happened calls a hook, once.
func (d *desk) happened(hook *func()) {
	d.mu.Lock()
	call := *hook
	*hook = nil
	d.mu.Unlock()
	if call != nil {
		call()
	}
}

func (d *desk) After(_ context.Context, rev int64, limit int) (all []web.Message, last int64, err error) {
	d.mu.Lock()
	defer d.happened(&d.read)
	defer d.mu.Unlock()
	for _, m := range d.rows {
		if m.Rev > rev {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b web.Message) int { return int(a.Rev - b.Rev) })
	return all[:min(limit, len(all))], d.rev, nil
}

func (d *desk) Before(_ context.Context, id int64, limit int) (all []web.Message, last int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.rows {
		if m.ID < id && !m.Gone {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b web.Message) int { return int(b.ID - a.ID) })
	return all[:min(limit, len(all))], d.rev, nil
}

func (d *desk) SaidSince(context.Context, time.Time) (all []web.Message, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.rows {
		if m.Said {
			all = append(all, m)
		}
	}
	return all, nil
}

func (d *desk) Keep(_ context.Context, fill func(io.Writer) error) (string, int64, error) {
	var b bytes.Buffer
	if err := fill(&b); err != nil {
		return "", 0, err
	}
	sum := sha256.Sum256(b.Bytes())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[hex.EncodeToString(sum[:])] = b.Bytes()
	return hex.EncodeToString(sum[:]), int64(b.Len()), nil
}

type openFile struct{ *bytes.Reader }

func (openFile) Close() error { return nil }

func (d *desk) Open(sum string) (io.ReadSeekCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b, ok := d.files[sum]; ok {
		return openFile{bytes.NewReader(b)}, nil
	}
	return nil, web.ErrNotFound
}

func (d *desk) SignIn(_ context.Context, hash, agent string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.browsers[hash] = web.Browser{ID: int64(len(d.browsers) + 1), Agent: agent, At: time.Now(), SeenAt: time.Now()}
	return nil
}

func (d *desk) Browser(_ context.Context, hash string) (web.Browser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b, ok := d.browsers[hash]; ok {
		return b, nil
	}
	return web.Browser{}, web.ErrNotFound
}

func (d *desk) Browsers(context.Context) (all []web.Browser, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.browsers {
		all = append(all, b)
	}
	return all, nil
}

func (d *desk) Seen(_ context.Context, id int64, language string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for hash, b := range d.browsers {
		if b.ID == id {
			b.Language, b.SeenAt = language, time.Now()
			d.browsers[hash] = b
		}
	}
	return nil
}

func (d *desk) End(_ context.Context, id int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for hash, b := range d.browsers {
		if b.ID == id {
			delete(d.browsers, hash)
		}
	}
	return nil
}

func (d *desk) Language() string     { return d.language }
func (d *desk) Zone() *time.Location { return time.UTC }
func (d *desk) Secrets() *redact.Set { return &redact.Set{} }
func (d *desk) Hears() bool          { return d.hears }

// site is a page that listens, with what was handed to the bot.
type site struct {
	*web.Channel
	desk    *desk
	base    string
	mu      sync.Mutex
	updates []gateway.Update // guarded by mu
}

func open(t *testing.T, change ...func(*web.Config)) *site {
	t.Helper()
	s := &site{desk: newDesk()}
	ln, err := net.Listen("tcp", "127.0.0.1:0") // finds a port that is free
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	c := web.Config{
		Desk: func() web.Desk { return s.desk }, Listen: address, SignIn: time.Hour, MaxUpload: 1 << 20, Idle: time.Hour,
		Log: slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&c)
	}
	s.Channel, s.base = web.New(c), "http://"+c.Listen
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, s.accept) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	for {
		r, err := http.Get(s.base + "/favicon.ico")
		if err == nil {
			_ = r.Body.Close()
			return s
		}
	}
}

func (s *site) accept(_ context.Context, updates []gateway.Update) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range updates {
		if !slices.ContainsFunc(s.updates, func(o gateway.Update) bool { return o.ID == u.ID }) {
			s.updates = append(s.updates, u)
		}
	}
	return nil
}

// came are the messages that were handed over.
func (s *site) came(t *testing.T) (all []gateway.Message) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.updates {
		m, err := s.Decode(u)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// browser is a browser, not signed in.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// signIn is a browser that is signed in.
func (s *site) signIn(t *testing.T) *http.Client {
	t.Helper()
	b := browser(t)
	link := s.Link()
	if a := s.post(t, b, "/in", "code", link[strings.LastIndex(link, "/")+1:]); a.code != http.StatusSeeOther {
		t.Fatalf("sign-in answers %d: %s", a.code, a.body)
	}
	return b
}

type answer struct {
	code   int
	header http.Header
	body   string
}

func (s *site) do(t *testing.T, b *http.Client, r *http.Request) answer {
	t.Helper()
	resp, err := b.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

func (s *site) get(t *testing.T, b *http.Client, path string) answer {
	t.Helper()
	return s.do(t, b, s.request(t, http.MethodGet, path, nil))
}

func (s *site) request(t *testing.T, method, path string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.base+path, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (s *site) post(t *testing.T, b *http.Client, path string, fields ...string) answer {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r := s.request(t, http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return s.do(t, b, r)
}
