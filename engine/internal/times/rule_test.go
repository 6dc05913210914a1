package times_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"klawbot/engine/internal/times"
)

// TestRules reads recurrence rules as models and people write them.
func TestRules(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct {
		text, stored, en, ru string
		next                 []string
	}{
		{"RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0", "DTSTART:20261130T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0",
			"every 2 weeks on Monday at 09:00", "каждые 2 недели по понедельникам в 09:00", []string{"2026-11-30 09:00", "2026-12-14 09:00", "2026-12-28 09:00"}},
		{"freq=weekly;interval=2;byday=mo,th", "DTSTART:20261130T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH",
			"every 2 weeks on Monday and Thursday at 09:00", "каждые 2 недели по понедельникам и четвергам в 09:00", []string{"2026-11-30 09:00", "2026-12-03 09:00", "2026-12-14 09:00"}},
		{"DTSTART:20261207T083000\nRRULE:FREQ=DAILY;INTERVAL=10", "DTSTART:20261207T083000 RRULE:FREQ=DAILY;INTERVAL=10",
			"every 10 days at 08:30", "каждые 10 дней в 08:30", []string{"2026-12-07 08:30", "2026-12-17 08:30", "2026-12-27 08:30"}},
		{"DTSTART:20200101T090000 RRULE:FREQ=MONTHLY;INTERVAL=3;BYDAY=-1FR", "DTSTART:20200101T090000 RRULE:FREQ=MONTHLY;INTERVAL=3;BYDAY=-1FR",
			"every 3 months on the last Friday of the month at 09:00", "каждые 3 месяца в последнюю пятницу месяца в 09:00", []string{"2027-01-29 09:00", "2027-04-30 09:00", "2027-07-30 09:00"}},
		{"RRULE:FREQ=DAILY;COUNT=2;BYHOUR=9", "DTSTART:20261129T090000 RRULE:FREQ=DAILY;COUNT=2;BYHOUR=9",
			"DTSTART:20261129T090000 RRULE:FREQ=DAILY;COUNT=2;BYHOUR=9", "DTSTART:20261129T090000 RRULE:FREQ=DAILY;COUNT=2;BYHOUR=9", []string{"2026-11-29 09:00", "2026-11-30 09:00"}},
		{"RRULE:FREQ=DAILY;UNTIL=20261130", "DTSTART:20261129T090000 RRULE:FREQ=DAILY;UNTIL=20261130T235959",
			"every day at 09:00 until 2026-11-30", "каждый день в 09:00 до 2026-11-30", []string{"2026-11-29 09:00", "2026-11-30 09:00"}},
		{"DTSTART:20261120T003000 RRULE:FREQ=MINUTELY;INTERVAL=90", "DTSTART:20261120T003000 RRULE:FREQ=MINUTELY;INTERVAL=90",
			"every 90 minutes", "каждые 90 минут", []string{"2026-11-28 11:00", "2026-11-28 12:30", "2026-11-28 14:00"}},
		// The clocks are set forward on 28 March 2027, and back on 31 October.
		{"DTSTART:20270321T023000 RRULE:FREQ=WEEKLY", "DTSTART:20270321T023000 RRULE:FREQ=WEEKLY",
			"every week at 02:30", "каждую неделю в 02:30", []string{"2027-03-21 02:30", "2027-03-28 03:00", "2027-04-04 02:30"}},
		{"DTSTART:20271024T023000 RRULE:FREQ=WEEKLY", "DTSTART:20271024T023000 RRULE:FREQ=WEEKLY",
			"every week at 02:30", "каждую неделю в 02:30", []string{"2027-10-24 02:30", "2027-10-31 02:30", "2027-11-07 02:30"}},
	} {
		r, there, err := times.ReadRepeat(c.text, saturday, berlin)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if again, err := times.ParseRepeat(r.String()); err != nil || again.String() != c.stored {
			t.Errorf("%s is stored as %v, %v", c.text, again, err)
		}
		var next []string
		for _, at := range times.NextTimes(r, saturday, there, 3) {
			next = append(next, at.In(berlin).Format("2006-01-02 15:04"))
		}
		if en, ru := r.Describe("en"), r.Describe("ru"); en != c.en || ru != c.ru || !slices.Equal(next, c.next) {
			t.Errorf("%s: %q, %q, %v", c.text, en, ru, next)
		}
	}
}

// TestInvalidRules names what is wrong, and takes no time over it.
func TestInvalidRules(t *testing.T) {
	began := time.Now()
	for text, want := range map[string]string{
		"RRULE:FREQ=DAILY;BYHOUR=25":                      "recurrence rule: byhour must be between 0 and 23",
		"RRULE:FREQ=OFTEN":                                "recurrence rule: undefined frequency: OFTEN",
		"RRULE:FREQ=SECONDLY":                             "recurrence rule: write the seconds and the positions as a cron expression",
		"RRULE:FREQ=DAILY;COUNT=5000":                     "recurrence rule: COUNT must be from 1 to 1000",
		"RRULE:FREQ=DAILY;INTERVAL=99999":                 "recurrence rule: INTERVAL is too large",
		"DTSTART:tomorrow RRULE:FREQ=DAILY":               "write DTSTART:20261130T090000, in local time, before RRULE; the zone is tz",
		"DTSTART;TZID=X:20261130T090000 RRULE:FREQ=DAILY": "write DTSTART:20261130T090000, in local time, before RRULE; the zone is tz",
		"RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30":       "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=3… is never due",
		"RRULE:FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30":     "RRULE:FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY… is never due",
		"RRULE:FREQ=DAILY;UNTIL=20200101":                 "RRULE:FREQ=DAILY;UNTIL=20200101 is never due",
		"RRULE:FREQ=DAILY EXDATE:20261130":                "a recurrence rule is DTSTART and one RRULE that begins with FREQ=",
	} {
		if r, _, err := times.ReadRepeat(text, saturday, time.UTC); err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v", text, r, err)
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("that took %v", took)
	}
	if _, err := times.ParseRepeat("RRULE:FREQ=DAILY"); err == nil {
		t.Error("a rule without a beginning is stored")
	}
}

// TestOldRulesAreFast counts the missed times of a rule that began long ago.
func TestOldRulesAreFast(t *testing.T) {
	r, err := times.ParseRepeat("DTSTART:20000101T000000 RRULE:FREQ=MINUTELY;INTERVAL=7")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if all := times.NextTimes(r, saturday, time.UTC, 10_000); len(all) != 10_000 || all[1].Sub(all[0]) != 7*time.Minute {
		t.Error(len(all))
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("that took %v", took)
	}
}

// FuzzReadRepeat reads anything: what it takes can be stored, read again, and is due in
// the future.
func FuzzReadRepeat(f *testing.F) {
	for _, seed := range []string{"every 2 weeks on Monday at 9", "RRULE:FREQ=WEEKLY;BYDAY=2MO;BYSETPOS=-1", "DTSTART:20261130T090000 RRULE:FREQ=YEARLY;BYWEEKNO=53;BYEASTER=1", "0 9 * * 1", "каждые 3 дня с 5 мая"} {
		f.Add(seed)
	}
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string) {
		r, there, err := times.ReadRepeat(text, saturday, berlin)
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
		w, err := times.ParseAt(text, saturday, time.UTC)
		if _, ok := errors.AsType[*times.UnclearError](err); !ok || err.Error() != want {
			t.Errorf("%s: %+v, %v", text, w, err)
		}
	}
	// Nothing else stands in the text, so a city is a zone.
	if w, err := times.ParseAt("tomorrow at 9am in Tokyo", saturday, time.UTC); err != nil || w.At.UTC().Format(time.DateTime) != "2026-11-29 00:00:00" {
		t.Errorf("%v, %v", w, err)
	}
	if w, err := times.ParseAt("every Monday at 9 Tokyo time", saturday, time.UTC); err != nil || w.Repeat == nil || w.Zone.String() != "Asia/Tokyo" {
		t.Errorf("%+v, %v", w, err)
	}
}
