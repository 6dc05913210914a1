package phrase_test

import (
	"errors"
	"testing"
	"time"

	"klawbot/engine/internal/phrase"
	"klawbot/engine/internal/times"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// FuzzReadRepeat reads anything: what it takes can be stored, read again, and is due in
// the future.
func FuzzReadRepeat(f *testing.F) {
	for _, seed := range []string{"every 2 weeks on Monday at 9", "RRULE:FREQ=WEEKLY;BYDAY=2MO;BYSETPOS=-1", "DTSTART:20261130T090000 RRULE:FREQ=YEARLY;BYWEEKNO=53;BYEASTER=1", "0 9 * * 1", "каждые 3 дня с 5 мая"} {
		f.Add(seed)
	}
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string) {
		r, there, err := phrase.ReadRepeat(text, saturday, berlin)
		if err != nil {
			return
		}
		again, err := times.ParseRepeat(r.String())
		if err != nil || again.String() != r.String() || again.Describe("ru") == "" {
			t.Fatalf("%q: %v is read again as %v, %v", text, r, again, err)
		}
		if at, ok := again.Next(saturday, there); ok && !at.After(saturday) {
			t.Errorf("%q: %v is due at %v", text, r, at)
		}
	})
}

// TestUnclearErrors: they say what to write instead.
func TestUnclearErrors(t *testing.T) {
	for text, want := range map[string]string{
		"an hour before the meeting": `"before the meeting" is not clear: write 2026-12-05T09:00, "in 20m" or "tomorrow at 9"`,
		"5/12 at 9":                  `"5/12" can be two dates: write 2026-12-05T09:00`,
		"tomorrow at 9 CST":          `"CST" is not a clear time zone: give tz, an IANA name such as Europe/Berlin`,
		"Thursday 4 December":        `2026-12-04 is a Friday: check the day`,
		"Monday and Thursday at 9":   "more than one time: make one schedule for each time",
		"biweekly at 9":              `the repetition is not clear: write a cron expression, or words such as "every 2 weeks on Monday at 9"`,
	} {
		w, err := phrase.ParseAt(text, saturday, time.UTC)
		if _, ok := errors.AsType[*phrase.UnclearError](err); !ok || err.Error() != want {
			t.Errorf("%s: %+v, %v", text, w, err)
		}
	}
	// Nothing else stands in the text, so a city is a zone.
	if w, err := phrase.ParseAt("tomorrow at 9am in Tokyo", saturday, time.UTC); err != nil || w.At.UTC().Format(time.DateTime) != "2026-11-29 00:00:00" {
		t.Errorf("%v, %v", w, err)
	}
	if w, err := phrase.ParseAt("every Monday at 9 Tokyo time", saturday, time.UTC); err != nil || w.Repeat == nil || w.Zone.String() != "Asia/Tokyo" {
		t.Errorf("%+v, %v", w, err)
	}
}
