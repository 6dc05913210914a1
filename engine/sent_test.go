package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/gateway"
	"klawbot/internal/modeltest"
)

// TestModelReadsWhenMessagesWereSent: "tomorrow" in a message that waited counts from
// when it was sent.
func TestModelReadsWhenMessagesWereSent(t *testing.T) {
	zone := time.FixedZone("UTC+5:45", 5*3600+45*60)
	for name, c := range map[string]struct {
		text string
		ago  time.Duration
	}{
		"late-message-time":   {"wake me tomorrow at nine", 10 * time.Hour},
		"a week late":         {"напомни завтра", 7 * 24 * time.Hour},
		"just now":            {"tomorrow", time.Second},
		"a clock that is off": {"tomorrow", -time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t)
			h.settings.Location = zone
			h.echo()
			h.start()
			sent := time.Now().Add(-c.ago)
			h.accept(h.next(gateway.Message{Address: private(alice), Sender: gateway.Sender{ID: alice}, Text: c.text, Time: sent}))
			h.shows(alice, "re: "+c.text)
			h.says(alice, "again")
			h.shows(alice, "re: "+c.text, "re: again")
			want := "(sent: " + sent.In(zone).Format("2006-01-02 15:04 Monday") + ")"
			for i, r := range h.model.Completions() {
				at := slices.IndexFunc(r.Messages, func(m modeltest.Message) bool { return m.Role == "user" })
				got := r.Messages[at].Text()
				if !strings.Contains(got, want) || i == 0 && !strings.Contains(got, "(now: ") || i == 1 && strings.Contains(got, "(now: ") {
					t.Errorf("request %d: the model reads %q, want %s", i, got, want)
				}
			}
		})
	}
}
