package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"klawbot/gateway"
)

const (
	// pingEvery shows both sides that the other is there.
	pingEvery = 15 * time.Second
	// restFor is between two looks of a stream.
	restFor = 40 * time.Millisecond
	// rowsAtOnce is how many rows a look takes.
	rowsAtOnce = 100
)

// feed is what an open page was sent.
type feed struct {
	q       *request
	control *http.ResponseController
	rev     int64 // of the newest row
	step    int64 // of the newest preview
	working int64 // the step of the work
	growing map[int64]bool
}

// events streams what changes to an open page: rows of the chat, whose id is their rev, so
// that a page that comes back misses nothing; answers that grow; what the bot is at.
func events(q *request) error {
	rev, err := strconv.ParseInt(q.r.Header.Get("Last-Event-ID"), 10, 64)
	if err != nil {
		rev, _ = strconv.ParseInt(q.r.URL.Query().Get("after"), 10, 64)
	}
	f := &feed{q: q, control: http.NewResponseController(q.w), rev: rev, working: -1, growing: map[int64]bool{}}
	_ = f.control.SetReadDeadline(time.Time{}) // the stream has no end
	s := q.site.hub.open(q.browser.ID)
	defer q.site.hub.close(s)
	q.w.Header().Set("Content-Type", "text/event-stream")
	q.w.Header().Set("X-Accel-Buffering", "no")
	if f.write(": klawbot\nretry: 1000\n\n") != nil {
		return nil
	}
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		if err := f.look(); err != nil {
			q.site.config.Log.Debug("stream ended", "err", err)
			return nil
		}
		select {
		case <-q.r.Context().Done():
			return nil
		case <-s.end:
			_ = f.write("event: end\ndata: {}\n\n") // the page may be gone
			return nil
		case <-ping.C:
			if _, err := q.site.browser(q.r, q.desk); err != nil || f.write(": ping\n\n") != nil {
				return nil
			}
		case <-s.wake:
			select {
			case <-q.r.Context().Done():
				return nil
			case <-time.After(restFor):
			}
		}
	}
}

// write writes through to the page.
func (f *feed) write(text string) error {
	if err := f.control.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	if _, err := f.q.w.Write([]byte(text)); err != nil {
		return err
	}
	return f.control.Flush()
}

func (f *feed) event(name string, rev int64, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	id := ""
	if rev > 0 {
		id = fmt.Sprintf("id: %d\n", rev)
	}
	return f.write(fmt.Sprintf("event: %s\n%sdata: %s\n\n", name, id, text))
}

// piece is a message as a page takes it: "" in the place of one that is gone.
type piece struct {
	ID   int64  `json:"id"`
	HTML string `json:"html"`
	// Key is what the browser called it.
	Key string `json:"key,omitempty"`
	// Said is as in Message; Growing says that it is not at its end.
	Said    bool `json:"said,omitempty"`
	Growing bool `json:"growing,omitempty"`
}

// look sends what is new. What grows is read first: a message that does not grow any more
// is among the rows then, and one that is among the rows does not grow.
func (f *feed) look() error {
	changed, all, now := f.q.site.hub.since(f.step)
	for {
		rows, _, err := f.q.desk.After(f.q.r.Context(), f.rev, rowsAtOnce)
		if err != nil {
			return err
		}
		for _, m := range rows {
			delete(changed, m.ID)
			if err := f.row(m); err != nil {
				return err
			}
		}
		if len(rows) < rowsAtOnce {
			break
		}
	}
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		if err := f.show("grow", 0, ofPart(id, changed[id]), true); err != nil {
			return err
		}
		f.growing[id] = true
	}
	for id := range f.growing {
		if !all[id] {
			delete(f.growing, id)
			if err := f.event("gone", 0, piece{ID: id}); err != nil {
				return err
			}
		}
	}
	f.step = now
	if w, step := f.q.site.hub.doing(); step != f.working {
		f.working = step
		return f.event("work", 0, f.q.doing(w))
	}
	return nil
}

func (f *feed) row(m Message) error {
	f.rev = m.Rev
	if m.Gone {
		return f.event("row", m.Rev, piece{ID: m.ID})
	}
	delete(f.growing, m.ID)
	return f.show("row", m.Rev, m, false)
}

func (f *feed) show(name string, rev int64, m Message, growing bool) error {
	p := piece{ID: m.ID, HTML: string(f.q.message(m, growing)), Said: m.Said, Growing: growing}
	if m.Said {
		p.Key = m.pending()
	}
	return f.event(name, rev, p)
}

// workShown is what the bot is at, for people.
type workShown struct {
	Text string `json:"text"`
	// Ago is how long it has been at it, in milliseconds.
	Ago int64 `json:"ago"`
}

func (q *request) doing(w gateway.Work) workShown {
	if w.Kind == "" || w.Kind == gateway.WorkIdle {
		return workShown{}
	}
	text := q.t("work." + string(w.Kind))
	if w.Kind == gateway.WorkTool {
		text += " " + w.Tool
		if w.Detail != "" {
			text += ": " + w.Detail
		}
	}
	return workShown{text, time.Since(w.Since).Milliseconds()}
}
