package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"klawbot/gateway/web/control"
	"klawbot/gateway/web/html"
)

//go:embed static/*
var files embed.FS

// page answers requests. All but open ones need a browser that is signed in.
type page struct {
	pattern string
	serve   func(*request) error
	open    bool
	// upload lets the body be as long as a file.
	upload bool
}

// pages are all of them; each file has its own.
var pages = slices.Concat(chatPages, doorPages, controlPages(), assetPages)

// controlPages are the pages beside the chat.
func controlPages() (all []page) {
	for _, p := range control.Pages() {
		all = append(all, page{pattern: p.Pattern, serve: func(q *request) error {
			return p.Serve(&control.Request{HTTP: q.r, Desk: q.desk, Language: q.lang, Show: q.showAs, Back: q.back, Markdown: q.markdown})
		}})
	}
	return all
}

// site is the handler: Host, headers, origin, browser, page, in this order.
type site struct {
	*Channel
	handler http.Handler
}

// request is one request to a page.
type request struct {
	site    *site
	w       http.ResponseWriter
	r       *http.Request
	desk    Desk
	browser Browser // zero when nobody is signed in
	lang    string
}

func newSite(c *Channel) *site {
	s := &site{Channel: c}
	mux := http.NewServeMux()
	for _, p := range pages {
		mux.HandleFunc(p.pattern, s.serve(p))
	}
	mux.HandleFunc("/", s.serve(page{serve: func(q *request) error { return ErrNotFound }}))
	cross := http.NewCrossOriginProtection()
	if c.config.Public != nil {
		_ = cross.AddTrustedOrigin(c.config.Public.Scheme + "://" + c.config.Public.Host) // the configuration is checked
	}
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.anonymous(w, r).fail(http.StatusForbidden, "error.origin")
	}))
	s.handler = cross.Handler(mux)
	return s
}

// policy is what pages may load and do: only what comes from here, and no script in them.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types klawbot"

// ServeHTTP answers requests.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Permissions-Policy", "microphone=(self), camera=(), geolocation=()")
	h.Set("Cache-Control", "no-store")
	if code := s.admitted(r); code != 0 {
		http.Error(w, http.StatusText(code), code)
		return
	}
	s.handler.ServeHTTP(w, r)
}

func (s *site) anonymous(w http.ResponseWriter, r *http.Request) *request {
	q := &request{site: s, w: w, r: r, desk: s.config.Desk(), lang: "en"}
	if q.desk != nil {
		q.lang = q.desk.Language()
	}
	return q
}

// serve is a page with what comes before each of them.
func (s *site) serve(p page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := s.anonymous(w, r)
		if q.desk == nil {
			w.Header().Set("Retry-After", "1")
			q.fail(http.StatusServiceUnavailable, "error.starting")
			return
		}
		if !p.open {
			b, err := s.browser(r, q.desk)
			switch {
			case errors.Is(err, ErrNotFound):
				q.fail(http.StatusUnauthorized, "error.out")
				return
			case err != nil:
				s.failed(q, err)
				return
			}
			q.browser = b
			if b.Language != "" {
				q.lang = b.Language
			}
		}
		most := int64(maxForm)
		if p.upload {
			most += s.config.MaxUpload
			q.patient()
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		if err := p.serve(q); err != nil && r.Context().Err() == nil {
			s.failed(q, err)
		}
	}
}

// patient gives a request the time that a file takes.
func (q *request) patient() {
	control, until := http.NewResponseController(q.w), time.Now().Add(fileWithin)
	_ = control.SetReadDeadline(until) // else it ends earlier
	_ = control.SetWriteDeadline(until)
}

var errBad = control.ErrForm

func (s *site) failed(q *request, err error) {
	var tooLong *http.MaxBytesError
	switch {
	case errors.Is(err, ErrNotFound):
		q.fail(http.StatusNotFound, "error.none")
	case errors.As(err, &tooLong):
		q.fail(http.StatusRequestEntityTooLarge, "error.long")
	case errors.Is(err, errBad):
		q.fail(http.StatusBadRequest, "error.bad")
	case errors.Is(err, context.Canceled):
	default:
		s.config.Log.Error("web page failed", "path", q.r.URL.Path, "err", err)
		q.fail(http.StatusInternalServerError, "error.internal")
	}
}

// fail says in one sentence why there is no page.
func (q *request) fail(code int, key string) {
	if err := q.sorry(code, key); err != nil {
		q.site.config.Log.Error("web page failed", "path", q.r.URL.Path, "err", err)
	}
}

func (q *request) sorry(code int, key string) error {
	next := "error.again"
	switch code {
	case http.StatusNotFound, http.StatusGone:
		next = "error.chat"
	}
	out := q.browser.ID == 0 && (code == http.StatusGone || code == http.StatusUnauthorized || code == http.StatusTooManyRequests) // nothing here helps
	return q.showAs(code, control.Shown{Name: "sorry", Title: q.t("error.title"), Body: html.F(`<div class="card narrow"><h1>%s</h1><p>%s</p>%s</div>`,
		q.t("error.title"), q.t(key), html.If(!out, `<p><a class="button" href="/">%s</a></p>`, q.t(next)))})
}

// id is a number in the path, 0 when it is none.
func (q *request) id(name string) int64 {
	n, _ := strconv.ParseInt(q.r.PathValue(name), 10, 64)
	return n
}

// back answers a form: the browser loads the page again. A script gets no page.
func (q *request) back(to string) error {
	if q.r.Header.Get("X-Klawbot") != "" {
		q.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(q.w, q.r, to, http.StatusSeeOther)
	return nil
}

// local is a path of this page; anything else is the chat.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, `\`) {
		return "/chat"
	}
	return u.RequestURI()
}

// t is a text in the language of the browser.
func (q *request) t(key string, args ...any) string { return say(q.lang, key, args...) }

// show answers with a page.
func (q *request) show(name, title string, body html.HTML) error {
	return q.showAs(http.StatusOK, control.Shown{Name: name, Title: q.t(title), Body: body})
}

func (q *request) showAs(code int, p control.Shown) error {
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	return q.packed(code, []byte(q.layout(p)))
}

// path is where a change of the language leads back to.
func (q *request) path() string {
	if q.r.Method != http.MethodGet {
		return "/chat"
	}
	return q.r.URL.RequestURI()
}

// packers are kept for the next page: each has tables of its own.
var packers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// minPacked is from which length on packing a page is worth it.
const minPacked = 2000

// packed writes a body, in gzip if the browser takes that.
func (q *request) packed(code int, body []byte) error {
	h := q.w.Header()
	h.Set("Vary", "Accept-Encoding")
	if len(body) >= minPacked && strings.Contains(q.r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		to := packers.Get().(*gzip.Writer)
		defer packers.Put(to)
		to.Reset(&b)
		_, err := to.Write(body)
		if err = errors.Join(err, to.Close()); err != nil {
			return err
		}
		h.Set("Content-Encoding", "gzip")
		body = b.Bytes()
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	q.w.WriteHeader(code)
	_, _ = q.w.Write(body) // who asked may be gone
	return nil
}

// assetPages are the style and the script. They are the same for everyone.
var assetPages = []page{
	{pattern: "GET /static/{version}/{name}", serve: showAsset, open: true},
	{pattern: "GET /favicon.ico", serve: func(q *request) error { q.w.WriteHeader(http.StatusNoContent); return nil }, open: true},
}

// assetVersion changes with the style and the script, so that browsers may keep them.
var assetVersion = sync.OnceValue(func() string {
	var all []string
	for _, name := range []string{"app.js", "style.css"} {
		text, _ := fs.ReadFile(files, "static/"+name) // it is embedded
		all = append(all, string(text))
	}
	return hashOf(strings.Join(all, ""))[:12]
})

func showAsset(q *request) error {
	name := q.r.PathValue("name")
	kind := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}[path.Ext(name)]
	text, err := files.ReadFile("static/" + path.Base(name))
	if err != nil || kind == "" {
		return ErrNotFound
	}
	q.w.Header().Set("Content-Type", kind)
	if q.r.PathValue("version") == assetVersion() {
		q.w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	return q.packed(http.StatusOK, text)
}
