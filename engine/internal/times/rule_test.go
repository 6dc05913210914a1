package times_test

import (
	"slices"
	"testing"
	"time"

	"klawbot/engine/internal/times"
)

// It is Saturday, 28 November 2026, 10:15:30 in Berlin.
var saturday = time.Date(2026, 11, 28, 9, 15, 30, 0, time.UTC)

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
		// Berlin's 9:00 is 8:00 in UTC.
		{"DTSTART:20261129T090000 RRULE:FREQ=DAILY;UNTIL=20261130T080000Z", "DTSTART:20261129T090000 RRULE:FREQ=DAILY;UNTIL=20261130T090000",
			"every day at 09:00 until 2026-11-30", "каждый день в 09:00 до 2026-11-30", []string{"2026-11-29 09:00", "2026-11-30 09:00"}},
		{"RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SU", "DTSTART:20261129T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SU",
			"every 2 weeks on Sunday at 09:00", "каждые 2 недели по воскресеньям в 09:00", []string{"2026-11-29 09:00", "2026-12-13 09:00", "2026-12-27 09:00"}},
		{"DTSTART:20261120T003000 RRULE:FREQ=MINUTELY;INTERVAL=90", "DTSTART:20261120T003000 RRULE:FREQ=MINUTELY;INTERVAL=90",
			"every 90 minutes", "каждые 90 минут", []string{"2026-11-28 11:00", "2026-11-28 12:30", "2026-11-28 14:00"}},
		// The clocks are set forward on 28 March 2027, and back on 31 October.
		{"DTSTART:20270321T023000 RRULE:FREQ=WEEKLY", "DTSTART:20270321T023000 RRULE:FREQ=WEEKLY",
			"every week at 02:30", "каждую неделю в 02:30", []string{"2027-03-21 02:30", "2027-03-28 03:00", "2027-04-04 02:30"}},
		{"DTSTART:20271024T023000 RRULE:FREQ=WEEKLY", "DTSTART:20271024T023000 RRULE:FREQ=WEEKLY",
			"every week at 02:30", "каждую неделю в 02:30", []string{"2027-10-24 02:30", "2027-10-31 02:30", "2027-11-07 02:30"}},
	} {
		r, err := times.ReadExpression(c.text, saturday, berlin)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if again, err := times.ParseRepeat(r.String()); err != nil || again.String() != c.stored {
			t.Errorf("%s is stored as %v, %v", c.text, again, err)
		}
		var next []string
		for _, at := range times.NextTimes(r, saturday, berlin, 3) {
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
		if r, err := times.ReadExpression(text, saturday, time.UTC); err == nil || err.Error() != want {
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
