package control

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var blank = regexp.MustCompile(`%[a-z]`)

func TestTextsAreCompleteInBothLanguages(t *testing.T) {
	for key, both := range Texts {
		if strings.TrimSpace(both[0]) == "" || strings.TrimSpace(both[1]) == "" {
			t.Errorf("%s is missing in a language: %q", key, both)
		}
		if en, ru := blank.FindAllString(both[0], -1), blank.FindAllString(both[1], -1); !slices.Equal(en, ru) {
			t.Errorf("%s has the blanks %v in English and %v in Russian", key, en, ru)
		}
	}
	for _, key := range []string{
		"mark.ok", "mark.off", "mark.limited", "mark.broken", "verdict.allow", "verdict.ask", "verdict.deny", "level.info", "level.warn", "level.error",
		"job.on", "job.paused", "job.done", "run.claimed", "run.running", "run.retry", "run.done", "run.silent", "run.failed", "run.missed", "run.skipped",
		"run.stopped", "run.lost", "core.user", "core.agent", "core.people", "core.chats", "role.tool", "role.system",
	} {
		if !known(key) {
			t.Errorf("there is no text %s", key)
		}
	}
}

func TestTimesAndNumbersAreForPeople(t *testing.T) {
	now := time.Now()
	noon := time.Date(now.Year(), now.Month(), now.Day(), 12, 0, 0, 0, time.Local)
	for got, want := range map[string]string{
		When("en", time.Time{}): "–", When("en", noon): "today 12:00", When("ru", noon.AddDate(0, 0, 1)): "завтра 12:00",
		When("en", noon.AddDate(0, 0, -1)): "yesterday 12:00", When("en", time.Date(2020, 1, 2, 3, 4, 0, 0, time.Local)): "2020-01-02 03:04",
		took("en", 90*time.Second): "1 min", took("ru", 3*time.Hour): "3 ч", took("en", 800*time.Millisecond): "800 ms", took("en", 72*time.Hour): "3 days",
		usd(0.0001): "$0.0001", usd(12): "$12.00", number(999): "999", number(1234567): "1\u202f234\u202f567", number(1234): "1234",
		brief("One. Two."): "One.", brief("one"): "one", brief(strings.Repeat("ä", 200)): strings.Repeat("ä", mostBrief) + "…",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
