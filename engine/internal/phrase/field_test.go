package phrase_test

import (
	"errors"
	"testing"
	"time"

	"klawbot/engine/internal/phrase"
)

// TestFieldReports reads what other programs got wrong, by the reports of their users.
func TestFieldReports(t *testing.T) {
	for _, c := range []struct {
		source, text, zone, now string
		at, repeat, rest        string // at "ask": a question
	}{
		{"matrix-reminder-bot#51", "every month on the 20th at 9 report", "UTC", "2026-11-28T10:00:00Z", "2026-12-20 09:00", "0 9 20 * *", "report"},
		{"matrix-reminder-bot#51", "every 2 weeks on Monday at 14:00 call", "UTC", "2026-11-28T10:00:00Z", "2026-11-30 14:00", "DTSTART:20261130T140000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=14;BYMINUTE=0;BYSECOND=0", "call"},
		{"matrix-reminder-bot#45", "every year on January 15 at noon party", "UTC", "2026-11-28T10:00:00Z", "2027-01-15 12:00", "0 12 15 1 *", "party"},
		{"keybase-reminder-bot#48", "remind me to stretch at 9 every weekday", "UTC", "2026-11-28T10:00:00Z", "2026-11-30 09:00", "0 9 * * 1,2,3,4,5", "stretch"},
		{"keybase-reminder-bot#54", "every 3rd Friday at 9 pay", "UTC", "2026-11-28T10:00:00Z", "ask", "", ""},
		{"mattermost-plugin-remind#29", "test every monday, tuesday at 2pm", "UTC", "2026-11-28T10:00:00Z", "2026-11-30 14:00", "0 14 * * 1,2", "test"},
		{"mattermost-plugin-remind#23", "every 1/30 and 9/30 at noon birthdays", "UTC", "2026-11-28T10:00:00Z", "ask", "", ""},
		{"reminder-bot#23", "at 10:00 on monday send Hello World every monday", "UTC", "2026-11-28T10:00:00Z", "ask", "", ""},
		{"chrono#360", "in 1 hour get eggs and milk", "UTC", "2026-11-28T10:00:00Z", "2026-11-28 11:00", "", "get eggs and milk"},
		{"chrono#360", "in 1 hour wet clothes into dryer", "UTC", "2026-11-28T10:00:00Z", "2026-11-28 11:00", "", "wet clothes into dryer"},
		{"chrono#360", "at 11:00 eat dinner with john", "UTC", "2026-11-28T10:00:00Z", "2026-11-28 11:00", "", "eat dinner with john"},
		{"chrono#117", "Sunday night 6th December 2026 party", "UTC", "2026-11-28T10:00:00Z", "2026-12-06 22:00", "", "party"},
		{"chrono#77", "next Monday at 9 call", "UTC", "2026-12-29T10:00:00Z", "2027-01-04 09:00", "", "call"},
		{"dateparser#927", "7:30 pm call", "America/Los_Angeles", "2021-05-23T01:00:00Z", "2021-05-22 19:30", "", "call"},
		{"dateparser#501", "tomorrow 08:30 UTC-6 call", "Europe/Berlin", "2019-02-06T17:42:00Z", "2019-02-07 15:30", "", "call"},
		{"sisyphsu/dateparser#3", "2026-12-05T09:00+5:30 call", "UTC", "2026-11-28T10:00:00Z", "2026-12-05 03:30", "", "call"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		w, err := phrase.ParseWish(c.text, now, zone(t, c.zone))
		at, repeat := w.At.In(zone(t, c.zone)).Format("2006-01-02 15:04"), ""
		if _, ok := errors.AsType[*phrase.UnclearError](err); ok {
			at, w, err = "ask", phrase.Wish{}, nil
		}
		if w.Repeat != nil {
			repeat = w.Repeat.String()
		}
		if err != nil || at != c.at || repeat != c.repeat || w.Text != c.rest {
			t.Errorf("%s: %s: %s, %q, %q, %v", c.source, c.text, at, repeat, w.Text, err)
		}
	}
}
