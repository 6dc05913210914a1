package web

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"klawbot/gateway"
	"klawbot/gateway/web/html"
)

var chatPages = []page{
	{pattern: "GET /{$}", serve: showChat},
	{pattern: "GET /chat", serve: showChat},
	{pattern: "GET /chat/before/{id}", serve: showChat},
	{pattern: "GET /chat/file/{id}", serve: showFile},
	{pattern: "GET /events", serve: events},
	{pattern: "POST /chat/say", serve: sayInChat, upload: true},
	{pattern: "POST /chat/stop", serve: stopInChat},
	{pattern: "POST /chat/new", serve: newChat},
	{pattern: "POST /chat/press", serve: pressInChat},
}

// shownAtOnce is how many messages a page shows.
const shownAtOnce = 50

func showChat(q *request) error {
	before := q.id("id")
	v := chatView{past: before > 0}
	if before <= 0 {
		before = math.MaxInt64
	}
	older, last, err := q.desk.Before(q.r.Context(), before, shownAtOnce+1)
	if err != nil {
		return err
	}
	if len(older) > shownAtOnce {
		older = older[:shownAtOnce]
		v.older = older[len(older)-1].ID
	}
	v.rev = last
	known := map[int64]bool{}
	for _, m := range slices.Backward(older) {
		known[m.ID] = true
		v.messages += q.message(m, false)
	}
	if !v.past {
		v.messages += q.growing(known)
	}
	return q.show("chat", "chat.title", q.chat(v))
}

// growing are the answers that grow, but for those that are kept already.
func (q *request) growing(known map[int64]bool) (all html.HTML) {
	parts, _, _ := q.site.hub.since(0)
	for _, id := range slices.Sorted(maps.Keys(parts)) {
		if !known[id] {
			all += q.message(ofPart(id, parts[id]), true)
		}
	}
	return all
}

func ofPart(id int64, p gateway.Part) Message {
	return Message{ID: id, Text: p.Text, ReplyTo: cmp.Or(p.ReplyTo, p.Answers), Buttons: p.Buttons, At: time.UnixMicro(id)}
}

// clientKey is what a browser may call a message.
var clientKey = regexp.MustCompile(`^[0-9A-Za-z-]{8,64}$`)

// spoken is what a form brings.
type spoken struct {
	key, text string
	voice     bool
	files     []File
}

func sayInChat(q *request) error {
	said, err := q.spoken()
	if err != nil {
		return err
	}
	if !clientKey.MatchString(said.key) {
		return errBad
	}
	said.text = strings.TrimSpace(readable(said.text))
	if said.text == "" && len(said.files) == 0 {
		return q.back("/chat")
	}
	if len(said.files) == 0 {
		_, err = q.site.say(q.r.Context(), q.desk, said.key, said.text, nil)
	}
	for i := range said.files {
		if err == nil {
			_, err = q.site.say(q.r.Context(), q.desk, nth(said.key, i), said.text, &said.files[i])
		}
		said.text = ""
	}
	if err != nil {
		q.site.config.Log.Error("web message not stored", "err", err)
		return q.sorry(http.StatusServiceUnavailable, "error.internal")
	}
	return q.back("/chat")
}

// readable is a text without what no page and no model can show.
func readable(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// nth is the key of the message for a file of a form: the first has that of the form.
func nth(key string, i int) string {
	if i == 0 {
		return key
	}
	return fmt.Sprintf("%s/%d", key, i)
}

// spoken reads the form, and keeps its files.
func (q *request) spoken() (s spoken, err error) {
	parts, err := q.r.MultipartReader()
	if err != nil { // a plain form
		q.r.Body = http.MaxBytesReader(q.w, q.r.Body, maxForm)
		if err := q.r.ParseForm(); err != nil {
			return s, cmp.Or(tooLong(err), errBad)
		}
		return spoken{key: q.r.PostForm.Get("key"), text: q.r.PostForm.Get("text")}, nil
	}
	for {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return s, cmp.Or(tooLong(err), errBad)
		}
		if p.FormName() == "file" && p.FileName() != "" {
			f, err := q.keep(p, cleanName(p.FileName()), s.voice)
			if err != nil {
				return s, err
			}
			s.files = append(s.files, f)
			continue
		}
		value, err := io.ReadAll(io.LimitReader(p, maxForm+1))
		if err != nil {
			return s, cmp.Or(tooLong(err), errBad)
		}
		if len(value) > maxForm {
			return s, &http.MaxBytesError{Limit: maxForm}
		}
		switch p.FormName() {
		case "key":
			s.key = string(value)
		case "text":
			s.text = string(value)
		case "voice":
			s.voice = string(value) == "1"
		}
	}
}

// tooLong is the error when it says that a body is too long, else nil.
func tooLong(err error) error {
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		return long
	}
	return nil
}

func (q *request) keep(from io.Reader, name string, voice bool) (File, error) {
	most := q.site.config.MaxUpload
	sum, size, err := q.desk.Keep(q.r.Context(), func(w io.Writer) error {
		n, err := io.Copy(w, io.LimitReader(from, most+1))
		if err == nil && n > most {
			err = &http.MaxBytesError{Limit: most}
		}
		if errors.Is(err, io.ErrUnexpectedEOF) { // the browser went away
			err = errBad
		}
		return err
	})
	return File{Sum: sum, Name: name, Size: size, Kind: kindOf(name, voice), Voice: voice}, err
}

func newChat(q *request) error {
	if _, err := q.site.say(q.r.Context(), q.desk, secret(16), "/new", nil); err != nil {
		return err
	}
	return q.back("/chat")
}

func stopInChat(q *request) error {
	if err := q.site.update(q.r.Context(), q.site.nextID(), kindStop, body{Text: "/stop", Time: time.Now()}); err != nil {
		return err
	}
	return q.back("/chat")
}

// pressInChat presses a button that the message has.
func pressInChat(q *request) error {
	id, err := strconv.ParseInt(q.r.PostFormValue("message"), 10, 64)
	if err != nil {
		return errBad
	}
	m, err := q.desk.Message(q.r.Context(), id)
	if err != nil {
		return err
	}
	data := q.r.PostFormValue("data")
	has := func(b gateway.Button) bool { return b.Data == data && data != "" }
	if m.Gone || !slices.ContainsFunc(slices.Concat(m.Buttons...), has) {
		return q.back("/chat") // it was pressed already
	}
	if err := q.site.update(q.r.Context(), q.site.nextID(), kindPress, body{Message: id, Data: data, Time: time.Now()}); err != nil {
		return err
	}
	return q.back("/chat")
}

// showFile gives a file of a message. Nothing in it can run here.
func showFile(q *request) error {
	m, err := q.desk.Message(q.r.Context(), q.id("id"))
	if err != nil {
		return err
	}
	if m.File == nil || m.Gone {
		return ErrNotFound
	}
	f, err := q.desk.Open(m.File.Sum)
	if errors.Is(err, ErrNotFound) {
		return q.sorry(http.StatusGone, "chat.gone")
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	q.patient()
	h := q.w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+strings.ReplaceAll(url.QueryEscape(m.File.Name), "+", "%20"))
	kind := "application/octet-stream"
	if m.File.Kind != "" {
		kind = typeOf(m.File.Name)
	}
	h.Set("Content-Type", kind)
	http.ServeContent(q.w, q.r, "", m.At, f)
	return nil
}
