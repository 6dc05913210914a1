package web

import (
	"sync"

	"klawbot/gateway"
)

// hub wakes the streams of open pages, and holds what is only shown: answers that grow,
// and what the bot is at.
type hub struct {
	mu       sync.Mutex
	streams  []*stream       // guarded by mu; the oldest first
	previews map[int64]shown // guarded by mu
	work     gateway.Work    // guarded by mu
	worked   int64           // guarded by mu; the step at which that began
	step     int64           // guarded by mu; counts what changed in memory
}

// shown is an answer that grows.
type shown struct {
	part gateway.Part
	step int64
}

// stream is an open page.
type stream struct {
	browser int64
	wake    chan struct{} // has room for one
	end     chan struct{} // closed when it has to end
	ended   bool          // guarded by hub.mu
}

// maxStreams bounds the open streams. The oldest one ends for the next.
const maxStreams = 20

func newHub() *hub { return &hub{previews: map[int64]shown{}} }

// open adds a stream.
func (h *hub) open(browser int64) *stream {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.streams) >= maxStreams {
		h.finish(h.streams[0])
	}
	s := &stream{browser: browser, wake: make(chan struct{}, 1), end: make(chan struct{})}
	h.streams = append(h.streams, s)
	return s
}

// finish ends a stream. h.mu is held.
func (h *hub) finish(s *stream) {
	for i, other := range h.streams {
		if other == s {
			h.streams = append(h.streams[:i:i], h.streams[i+1:]...)
		}
	}
	if !s.ended {
		s.ended = true
		close(s.end)
	}
}

func (h *hub) close(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.finish(s)
}

// signOut ends the streams of a browser.
func (h *hub) signOut(browser int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range append([]*stream(nil), h.streams...) {
		if s.browser == browser {
			h.finish(s)
		}
	}
}

// changed says that rows changed.
func (h *hub) changed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wake()
}

// wake wakes every stream. h.mu is held.
func (h *hub) wake() {
	for _, s := range h.streams {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// preview shows what a message will say.
func (h *hub) preview(id int64, p gateway.Part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.step++
	h.previews[id] = shown{p, h.step}
	h.wake()
}

// settle ends the preview of a message, which is kept now, or gone.
func (h *hub) settle(id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.previews, id)
	h.wake()
}

// at says what the bot is at.
func (h *hub) at(w gateway.Work) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.step++
	h.work, h.worked = w, h.step
	h.wake()
}

// doing is what the bot is at, and the step at which that began.
func (h *hub) doing() (w gateway.Work, step int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.work, h.worked
}

// since is what is shown beside the rows and changed after a step, and all ids that have
// a preview.
func (h *hub) since(step int64) (changed map[int64]gateway.Part, all map[int64]bool, now int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed, all = map[int64]gateway.Part{}, map[int64]bool{}
	for id, p := range h.previews {
		all[id] = true
		if p.step > step {
			changed[id] = p.part
		}
	}
	return changed, all, h.step
}
