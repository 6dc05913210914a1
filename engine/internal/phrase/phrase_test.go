package phrase_test

import (
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"klawbot/engine/internal/phrase"
	"klawbot/engine/internal/times"
)

// It is Saturday, 28 November 2026, 10:15:30 in Berlin.
var saturday = time.Date(2026, 11, 28, 9, 15, 30, 0, time.UTC)

func TestReminders(t *testing.T) {
	for _, c := range []struct{ text, at, rest string }{
		{"tomorrow at 9 call mom", "2026-11-29 09:00:00", "call mom"},
		{"remind me tomorrow at 9 to call mom", "2026-11-29 09:00:00", "call mom"},
		{"call mom tomorrow at 9", "2026-11-29 09:00:00", "call mom"},
		{"Tomorrow at 9am, call Mom!", "2026-11-29 09:00:00", "call Mom!"},
		{"in one minute look", "2026-11-28 10:16:30", "look"},
		{"in 20 minutes tea", "2026-11-28 10:35:30", "tea"},
		{"in 20m tea", "2026-11-28 10:35:30", "tea"},
		{"20m tea", "2026-11-28 10:35:30", "tea"},
		{"10 minutes tea", "2026-11-28 10:25:30", "tea"},
		{"1h30m tea", "2026-11-28 11:45:30", "tea"},
		{"in 1 hour and 30 minutes tea", "2026-11-28 11:45:30", "tea"},
		{"in an hour and a half tea", "2026-11-28 11:45:30", "tea"},
		{"in half an hour tea", "2026-11-28 10:45:30", "tea"},
		{"tea in 90 seconds", "2026-11-28 10:17:00", "tea"},
		{"in 2 days pay", "2026-11-30 10:15:30", "pay"},
		{"in 2 days at 8:30 pay", "2026-11-30 08:30:00", "pay"},
		{"in a week pay", "2026-12-05 10:15:30", "pay"},
		{"in 3 months pay", "2027-02-28 10:15:30", "pay"},
		{"at 9 stand up", "2026-11-29 09:00:00", "stand up"},
		{"at 11 stand up", "2026-11-28 11:00:00", "stand up"},
		{"at 9 pm stand up", "2026-11-28 21:00:00", "stand up"},
		{"at 9:30 p.m. stand up", "2026-11-28 21:30:00", "stand up"},
		{"at 12 am sleep", "2026-11-29 00:00:00", "sleep"},
		{"at 12pm eat", "2026-11-28 12:00:00", "eat"},
		{"at noon eat", "2026-11-28 12:00:00", "eat"},
		{"at midnight sleep", "2026-11-29 00:00:00", "sleep"},
		{"today at 24:00 sleep", "2026-11-29 00:00:00", "sleep"},
		{"23:15 sleep", "2026-11-28 23:15:00", "sleep"},
		{"today at 18:00 run", "2026-11-28 18:00:00", "run"},
		{"tonight at 8 movie", "2026-11-28 20:00:00", "movie"},
		{"tonight movie", "2026-11-28 19:00:00", "movie"},
		{"this evening movie", "2026-11-28 19:00:00", "movie"},
		{"tomorrow morning run", "2026-11-29 09:00:00", "run"},
		{"tomorrow at 7 in the evening run", "2026-11-29 19:00:00", "run"},
		{"tomorrow run", "2026-11-29 09:00:00", "run"},
		{"the day after tomorrow at 10 o'clock run", "2026-11-30 10:00:00", "run"},
		{"on Monday at 9 report", "2026-11-30 09:00:00", "report"},
		{"monday 9:00 report", "2026-11-30 09:00:00", "report"},
		{"on Saturday at 9 report", "2026-12-05 09:00:00", "report"},
		{"on Saturday at 11 report", "2026-11-28 11:00:00", "report"},
		{"next Saturday at 11 report", "2026-12-05 11:00:00", "report"},
		{"at 9 on Friday report", "2026-12-04 09:00:00", "report"},
		{"on 5 May at 9 party", "2027-05-05 09:00:00", "party"},
		{"on May 5th party", "2027-05-05 09:00:00", "party"},
		{"2026-12-05T18:30 party", "2026-12-05 18:30:00", "party"},
		{"remind me 2026-12-05T18:30:15 to party", "2026-12-05 18:30:15", "party"},
		{"2026-12-05T18:30Z party", "2026-12-05 19:30:00", "party"},
		{"party on 2026-12-05T18:30+03:00", "2026-12-05 16:30:00", "party"},
		{"2026-12-05T24:00 party", "2026-12-06 00:00:00", "party"},
		{"December 24 2027 at 18:00 party", "2027-12-24 18:00:00", "party"},
		{"5.12 at 9 party", "2026-12-05 09:00:00", "party"},
		{"29 February party", "2028-02-29 09:00:00", "party"},
		{"2026-12-05 at 9 party", "2026-12-05 09:00:00", "party"},
		{"buy milk at 18:30", "2026-11-28 18:30:00", "buy milk"},

		{"завтра в 9 позвонить маме", "2026-11-29 09:00:00", "позвонить маме"},
		{"напомни мне завтра в 9, что надо позвонить маме", "2026-11-29 09:00:00", "надо позвонить маме"},
		{"позвонить маме завтра в 9", "2026-11-29 09:00:00", "позвонить маме"},
		{"через 20 минут чай", "2026-11-28 10:35:30", "чай"},
		{"через минуту чай", "2026-11-28 10:16:30", "чай"},
		{"чай через час", "2026-11-28 11:15:30", "чай"},
		{"через полчаса чай", "2026-11-28 10:45:30", "чай"},
		{"через полтора часа чай", "2026-11-28 11:45:30", "чай"},
		{"через 2 часа и 15 минут чай", "2026-11-28 12:30:30", "чай"},
		{"через неделю оплатить", "2026-12-05 10:15:30", "оплатить"},
		{"через месяц оплатить", "2026-12-28 10:15:30", "оплатить"},
		{"через 3 дня в 8 оплатить", "2026-12-01 08:00:00", "оплатить"},
		{"20мин чай", "2026-11-28 10:35:30", "чай"},
		{"в 9 зарядка", "2026-11-29 09:00:00", "зарядка"},
		{"в 9 вечера кино", "2026-11-28 21:00:00", "кино"},
		{"в 9 утра зарядка", "2026-11-29 09:00:00", "зарядка"},
		{"в 3 часа дня обед", "2026-11-28 15:00:00", "обед"},
		{"в 3 ночи поезд", "2026-11-29 03:00:00", "поезд"},
		{"в 12 ночи спать", "2026-11-29 00:00:00", "спать"},
		{"в 12 дня обед", "2026-11-28 12:00:00", "обед"},
		{"в час дня обед", "2026-11-28 13:00:00", "обед"},
		{"в полдень обед", "2026-11-28 12:00:00", "обед"},
		{"в полночь спать", "2026-11-29 00:00:00", "спать"},
		{"в 9.30 зарядка", "2026-11-29 09:30:00", "зарядка"},
		{"в 21 час 30 минут кино", "2026-11-28 21:30:00", "кино"},
		{"завтра утром зарядка", "2026-11-29 09:00:00", "зарядка"},
		{"вечером кино", "2026-11-28 19:00:00", "кино"},
		{"сегодня вечером кино", "2026-11-28 19:00:00", "кино"},
		{"послезавтра отчёт", "2026-11-30 09:00:00", "отчёт"},
		{"в понедельник в 10:00 отчёт", "2026-11-30 10:00:00", "отчёт"},
		{"во вторник отчёт", "2026-12-01 09:00:00", "отчёт"},
		{"в следующую субботу в 11 баня", "2026-12-05 11:00:00", "баня"},
		{"5 мая в 9 праздник", "2027-05-05 09:00:00", "праздник"},
		{"31 декабря 2027 года в 23:59 праздник", "2027-12-31 23:59:00", "праздник"},
	} {
		w, err := phrase.ParseWish(c.text, saturday, zone(t, "Europe/Berlin"))
		if got := w.At.In(zone(t, "Europe/Berlin")).Format(time.DateTime); err != nil || got != c.at || w.Text != c.rest || w.Repeat != nil {
			t.Errorf("%s: %s, %q, %v, %v\nwant %s, %q", c.text, got, w.Text, w.Repeat, err, c.at, c.rest)
		}
	}
}

func TestReminderWithoutTime(t *testing.T) {
	for _, text := range []string{"", "call mom", "buy 2 tickets", "in the end all is well", "at home", "the sat nav", "позвонить маме", "в магазин", "at 25 nothing", "at 9:75 nothing", "may I?", "read 1984"} {
		if w, err := phrase.ParseWish(text, saturday, time.UTC); !errors.Is(err, phrase.ErrNoTime) {
			t.Errorf("%q: %+v, %v", text, w, err)
		}
	}
	if _, err := phrase.ParseWish("30 February party", saturday, time.UTC); err == nil || errors.Is(err, phrase.ErrNoTime) {
		t.Errorf("30 February: %v", err)
	}
}

func TestAt(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for text, want := range map[string]string{
		"2026-12-05T09:00":          "2026-12-05 09:00:00 +0100",
		"2026-12-05 09:00:30":       "2026-12-05 09:00:30 +0100",
		"2026-12-05T09:00Z":         "2026-12-05 10:00:00 +0100",
		"2026-12-05T09:00:00-05:00": "2026-12-05 15:00:00 +0100",
		"2026-12-05T09:00:00+0530":  "2026-12-05 04:30:00 +0100",
		"2026-12-05T24:00":          "2026-12-06 00:00:00 +0100",
		"2026-12-31T24:00:00":       "2027-01-01 00:00:00 +0100",
		"2027-03-28T02:30":          "2027-03-28 03:00:00 +0200", // the clocks are set forward
		"2027-10-31T02:30":          "2027-10-31 02:30:00 +0200", // and back: the first time
		"2028-02-29T09:00":          "2028-02-29 09:00:00 +0100",
		"2038-01-19T03:14:08Z":      "2038-01-19 04:14:08 +0100",
		"in 20m":                    "2026-11-28 10:35:30 +0100",
		"90s":                       "2026-11-28 10:17:00 +0100",
		"tomorrow at 9":             "2026-11-29 09:00:00 +0100",
		"завтра в 9":                "2026-11-29 09:00:00 +0100",
		"2026-11-28T10:15:31":       "2026-11-28 10:15:31 +0100",
	} {
		w, err := phrase.ParseAt(text, saturday, berlin)
		if got := w.At.In(berlin).Format("2006-01-02 15:04:05 -0700"); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"2026-11-28T10:15:30":  "the time is in the past: 2026-11-28 10:15:30 +01:00",
		"2026-11-27T09:00":     "the time is in the past: 2026-11-27 09:00:00 +01:00",
		"today at 9":           "the time is in the past: 2026-11-28 09:00:00 +01:00",
		"2027-02-29T09:00":     "2027-02-29T09:00 is not a valid time",
		"2026-12-05T24:01":     "2026-12-05T24:01 is not a valid time",
		"2026-13-05T09:00":     "2026-13-05T09:00 is not a valid time",
		"9999-12-05T09:00":     "the year 9999 is too far away",
		"soon":                 `not a time: write 2026-12-05T09:00, "in 20m" or "tomorrow at 9"`,
		"tomorrow at 9 and so": `"and so" is not clear: write 2026-12-05T09:00, "in 20m" or "tomorrow at 9"`,
		"":                     `not a time: write 2026-12-05T09:00, "in 20m" or "tomorrow at 9"`,
	} {
		if at, err := phrase.ParseAt(text, saturday, berlin); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v", text, at, err)
		}
	}
}

// FuzzReminder reads anything: what it finds lies in the future but for a day
// that is named, and the rest is part of the text.
func FuzzReminder(f *testing.F) {
	for _, seed := range []string{"tomorrow at 9 call mom", "через полтора часа чай", "at 9.30 pm on 5 May 2027 x", "in 99999 weeks", "24:00", "a.m. p.m. half a half", "in 1h and in 2h", "завтра завтра в 9 в 10", "1e9 minutes x"} {
		f.Add(seed, int64(1_790_000_000))
	}
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string, now int64) {
		w, err := phrase.ParseWish(text, time.Unix(((now%1e10)+1e10)%1e10, 0), berlin)
		if err == nil && w.At.IsZero() || len(w.Text) > len(text) || utf8.ValidString(text) && !utf8.ValidString(w.Text) {
			t.Errorf("%q: %+v, %v", text, w, err)
		}
		if err == nil && w.Repeat != nil {
			if again, err := times.ParseRepeat(w.Repeat.String()); err != nil || again.String() != w.Repeat.String() {
				t.Errorf("%q: %v is read again as %v, %v", text, w.Repeat, again, err)
			}
		}
	})
}
