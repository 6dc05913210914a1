package engine_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/store/storetest"
	"klawbot/gateway"
)

// asks is a house that asks its owners, Alice and Bob, about unknown senders.
func asks(t *testing.T) (h *house, allowed *[]gateway.ChatID) {
	h, allowed = build(t), new([]gateway.ChatID)
	h.settings.Owners = map[string][]int64{"telegram": {alice, bob}}
	h.allow = func(c gateway.ChatID) error {
		*allowed = append(*allowed, c)
		return nil
	}
	return h, allowed
}

func (h *house) knock(chats ...int64) {
	for _, c := range chats {
		h.engine.Knocked(h.t.Context(), []gateway.Knock{{Chat: private(c).Chat, Name: fmt.Sprintf("Carol `%d` [x](http://y.z) https://a.b @c", c), Times: 2}})
	}
}

// older moves the memory of unknown senders into the past.
func (h *house) older(by time.Duration) {
	h.t.Helper()
	h.end()
	n := by.Milliseconds()
	storetest.Raw(h.t, filepath.Join(h.dir, "klawbot.db"), fmt.Sprintf("UPDATE strangers SET asked_at = max(0, asked_at - %d), last_at = last_at - %d, first_at = first_at - %[1]d", n, n))
	h.start()
}

func (h *house) knocked() (names []string) {
	s, err := h.engine.Status(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, k := range s.Knocked {
		names = append(names, fmt.Sprintf("%d:%d", k.ID, k.Times))
	}
	return names
}

// knocking is the newest message in an owner's chat.
func (h *house) knocking(owner int64) shown {
	h.t.Helper()
	h.see(owner, "🚪")
	h.messenger.mu.Lock()
	defer h.messenger.mu.Unlock()
	for _, s := range slices.Backward(h.messenger.shown) {
		if s.to == private(owner) {
			return s
		}
	}
	return shown{}
}

func TestOwnersAllowStranger(t *testing.T) {
	h, allowed := asks(t)
	h.start()
	h.knock(carol)
	q := h.knocking(alice)
	other := h.knocking(bob)
	if want := "🚪 `Carol '33' x(http://y.z) https://a.b @c` (id 33) wrote to me. I said nothing."; q.text != want {
		t.Errorf("asked %q, want %q", q.text, want)
	}
	if len(h.messenger.texts(carol)) > 0 {
		t.Errorf("the unknown sender reads %q", h.messenger.texts(carol))
	}
	h.told(h.press(bob, gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}}, q.id, q.part.Buttons[0][0].Data), "This button has expired.")
	h.told(h.tap(alice, q, 0), "✅ Allowed")
	h.until("both messages say so", func() bool {
		return strings.Contains(strings.Join(h.messenger.texts(alice), ""), "✅ Allowed, ") && strings.Contains(strings.Join(h.messenger.texts(bob), ""), "Undo: klawbot deny 33")
	})
	h.told(h.tap(bob, other, 1), "This is already decided.")
	if len(*allowed) != 1 || (*allowed)[0] != private(carol).Chat {
		t.Errorf("allowed %v", *allowed)
	}
	if left := h.knocked(); len(left) > 0 {
		t.Errorf("listed are %q", left)
	}
}

func TestStrangerIsIgnoredForGood(t *testing.T) {
	h, allowed := asks(t)
	h.settings.Language = "ru"
	h.start()
	h.knock(carol)
	q := h.knocking(alice)
	if !strings.HasSuffix(q.text, "(id 33) пишет мне. Я не отвечаю.") || q.part.Buttons[0][1].Text != "🚫 Не замечать" {
		t.Errorf("asked %q with %v", q.text, q.part.Buttons)
	}
	h.told(h.tap(alice, q, 1), "🚫 Больше не спрошу")
	h.older(100 * 24 * time.Hour)
	h.knock(carol)
	if n := len(h.messenger.texts(alice)); n != 1 || len(*allowed) > 0 {
		t.Errorf("%d messages; allowed %v", n, *allowed)
	}
}

// The bounds hold across restarts: one message a day about a person, five an hour about all.
func TestBoundsOfQuestionsAboutStrangers(t *testing.T) {
	h, _ := asks(t)
	h.start()
	count := func(want int) {
		t.Helper()
		h.until(fmt.Sprint(want, " messages"), func() bool { return len(h.messenger.texts(alice)) >= want })
		asked := len(h.messenger.texts(bob))
		h.says(bob, "/status") // behind it nothing else comes
		h.until("status", func() bool { return len(h.messenger.texts(bob)) > asked })
		if got := len(h.messenger.texts(alice)); got != want {
			t.Errorf("%d messages, want %d", got, want)
		}
	}
	h.knock(33, 33, 33)
	count(1)
	h.restart()
	h.knock(33)
	count(1)
	h.knock(41, 42, 43, 44, 45, 46, 47)
	count(5)
	h.restart()
	h.knock(48)
	count(5)
	h.older(61 * time.Minute)
	h.knock(33, 48)
	count(6)
	h.older(24 * time.Hour)
	h.knock(33)
	count(7)
	if got := h.knocked(); got[0] != "33:12" {
		t.Errorf("listed are %q", got)
	}
	// A flood of people costs a row each, up to a bound, and forgets nobody who was asked about today.
	var flood []gateway.Knock
	for i := range int64(3000) {
		flood = append(flood, gateway.Knock{Chat: private(1000 + i).Chat, Name: "x", Times: 1})
	}
	h.engine.Knocked(t.Context(), flood)
	if got := h.knocked(); len(got) != 1000 || !slices.Contains(got, "33:12") {
		t.Errorf("%d are listed after a flood", len(got))
	}
	count(11)
}

func TestButtonAboutStrangerExpires(t *testing.T) {
	h, allowed := asks(t)
	h.start()
	h.knock(carol)
	q := h.knocking(alice)
	h.older(7*24*time.Hour + time.Minute)
	h.told(h.tap(alice, q, 0), "This button has expired.")
	if len(*allowed) > 0 {
		t.Errorf("allowed %v", *allowed)
	}
}

// Where the file cannot be written, the owner is told the command, and the buttons stay.
func TestStrangerThatCannotBeAllowed(t *testing.T) {
	h, _ := asks(t)
	fails := true
	h.allow = func(gateway.ChatID) error {
		if fails {
			return errors.New("read-only file system")
		}
		return nil
	}
	h.start()
	h.knock(carol)
	q := h.knocking(alice)
	h.told(h.tap(alice, q, 0), "✗ config.yaml cannot be written → klawbot allow 33")
	h.until("the message says so", func() bool { return strings.Contains(h.messenger.texts(alice)[0], "→ klawbot allow 33") })
	if q = h.knocking(alice); len(q.part.Buttons) == 0 {
		t.Fatal("the buttons are gone")
	}
	fails = false
	h.told(h.tap(alice, q, 0), "✅ Allowed")
}

// Off, nothing is kept; without an owner, unknown senders are only listed.
func TestNobodyIsAskedAboutStrangers(t *testing.T) {
	h, _ := asks(t)
	h.settings.Owners = nil
	h.start()
	h.knock(carol)
	if got := h.knocked(); len(got) != 1 {
		t.Errorf("without an owner listed are %q", got)
	}
	h, _ = asks(t)
	h.allow = nil
	h.start()
	h.knock(carol)
	if got := h.knocked(); len(got) != 0 || len(h.messenger.texts(alice)) > 0 {
		t.Errorf("off, listed are %q", got)
	}
}
