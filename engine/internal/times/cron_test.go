package times_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

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

func cron(t testing.TB, text string) times.Cron {
	t.Helper()
	c, err := times.ParseCron(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

// TestCronTimes compares with times that cron-times.py has found by looking at
// every second, minute or day of some years, without any of our code.
func TestCronTimes(t *testing.T) {
	text, err := os.ReadFile("testdata/cron-times.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Cron, Zone, After string
		Next              []string
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 60 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(strings.Join([]string{c.Cron, c.Zone, c.After}, " "), func(t *testing.T) {
			after, err := time.Parse(time.RFC3339, c.After)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, next := range times.NextTimes(cron(t, c.Cron), after, zone(t, c.Zone), len(c.Next)) {
				got = append(got, next.Format(time.RFC3339))
			}
			if !slices.Equal(got, c.Next) {
				t.Errorf("got  %v\nwant %v", got, c.Next)
			}
		})
	}
}

func TestCronErrors(t *testing.T) {
	for text, want := range map[string]string{
		"60 * * * *":            `minute "60": must be from 0 to 59`,
		"0 24 * * *":            `hour "24": must be from 0 to 23`,
		"0 0 0 * *":             `day of month "0": must be from 1 to 31`,
		"0 0 1 13 *":            `month "13": must be from 1 to 12`,
		"0 0 * * 8":             `day of week "8": must be from 0 to 7`,
		"0 0 L * *":             `day of month "L": must be from 1 to 31`,
		"0 9-8 * * *":           `hour "9-8": the range ends before it begins`,
		"*/0 * * * *":           `minute "*/0": the step must be a number from 1 to 59`,
		"*/x * * * *":           ``,
		"1,,2 * * * *":          `minute "": must be from 0 to 59`,
		"+1 * * * *":            ``,
		"0 0 24 * * ?":          `hour "24": must be from 0 to 23`,
		"0 0 9 ? * 0":           `day of week "0": must be from 1 to 7`,
		"0 0 9 ? * 8":           `day of week "8": must be from 1 to 7`,
		"0 0 9 15 * MON":        `day of month "15" and day of week "MON": one of the two must be ?`,
		"0 0 9 32W * ?":         `day of month "32": must be from 1 to 31`,
		"0 0 9 L-31 * ?":        `day of month "L-31": a month has no such day`,
		"0 0 9 ? * MON#6":       `day of week "MON#6": must be from 1 to 7`,
		"0 0 9 ? * XYZ#2":       `day of week "XYZ": must be from 1 to 7`,
		"0 0 9 ? * * 1969":      `year "1969": must be from 1970 to 2199`,
		"0 0 9 1,L * ?":         `day of month "L": must be from 1 to 31`,
		"1 2 3 4":               `a cron expression has 5 fields (minute hour day month weekday), or 6 or 7 with seconds first and a year last; this one has 4`,
		"1 2 3 4 5 6 7 8":       `a cron expression has 5 fields (minute hour day month weekday), or 6 or 7 with seconds first and a year last; this one has 8`,
		"@fortnightly":          `@fortnightly is not known; there are @hourly, @daily, @weekly, @monthly and @yearly`,
		"every day at nine":     ``,
		"каждый день в девять":  ``,
		"":                      ``,
		strings.Repeat("1 ", 9): `a cron expression has 5 fields (minute hour day month weekday), or 6 or 7 with seconds first and a year last; this one has 9`,
	} {
		_, err := times.ParseCron(text)
		switch {
		case err == nil:
			t.Errorf("%q is accepted", text)
		case want == "" && !errors.Is(err, times.ErrNotCron), want != "" && err.Error() != want:
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

func TestCronNeverDue(t *testing.T) {
	now := time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)
	for _, text := range []string{"0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 9 ? 2 MON#5 2027", "0 0 9 L-30 2 ?", "0 0 9 1 1 ? 2025", "0 0 9 29 2 ? 2027"} {
		if next, ok := cron(t, text).Next(now, time.UTC); ok {
			t.Errorf("%s comes at %v", text, next)
		}
	}
	// It repeats for centuries, on the rarest of days too.
	next, ok := cron(t, "0 0 29 2 *").Next(time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), time.UTC)
	if !ok || next.Year() != 2104 {
		t.Errorf("after 2096 the next leap day is %v, %v", next, ok)
	}
}

func TestCronGap(t *testing.T) {
	now := time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"* * * * *": time.Minute, "*/5 * * * *": 5 * time.Minute, "0 9 * * *": 24 * time.Hour, "59,0 9-10 * * *": time.Minute,
		"* * * * * ?": time.Second, "*/10 * * * * ?": 10 * time.Second, "0,5 0 0 1 1 ?": 5 * time.Second, "55,0 * * * * ?": 5 * time.Second,
	} {
		if got := cron(t, text).Gap(now, time.UTC); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// FuzzCron reads anything; what it accepts has times that grow, and that match.
func FuzzCron(f *testing.F) {
	for _, seed := range []string{"0 9 * * 1-5", "*/7 0-23/2 1,15 JAN-MAR SUN", "0 15 10 ? * 6L 2027-2030", "0 0 12 LW * ?", "0 0 0 15W * ?", "@daily", "0 0 9 ? * FRI#2", "в 9", "1 2 3 4 5 6 7"} {
		f.Add(seed, int64(1_790_000_000), 1)
	}
	zones := []*time.Location{time.UTC, zone(f, "Europe/Berlin"), zone(f, "America/St_Johns"), zone(f, "Australia/Lord_Howe"), zone(f, "Pacific/Apia"), zone(f, "Africa/Casablanca")}
	f.Fuzz(func(t *testing.T, text string, after int64, in int) {
		c, err := times.ParseCron(text)
		if err != nil {
			return
		}
		at := time.Unix(((after%1e10)+1e10)%1e10, 0)
		loc := zones[((in%len(zones))+len(zones))%len(zones)]
		seen := map[string]bool{}
		for _, next := range times.NextTimes(c, at, loc, 5) {
			local := next.Format("2006-01-02 15:04:05")
			if !next.After(at) || seen[local] || next.Nanosecond() != 0 {
				t.Fatalf("%q after %v in %v: %v", text, at, loc, next)
			}
			at, seen[local] = next, true
		}
		if c.Describe("en") == "" || c.Describe("ru") == "" {
			t.Errorf("%q has no words", text)
		}
	})
}
