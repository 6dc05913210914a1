package main

import (
	"os"
	"slices"
	"testing"
	"time"

	"klawbot/internal/telegramtest"
)

// toYear2038 takes a clock of 2000 behind the end of 32 bits.
const toYear2038 = 38*366*24*time.Hour + 30*24*time.Hour

// TestClockJumps stops the bot with an answer that waits and an update that
// Telegram does not know to be taken, and starts it under another clock.
func TestClockJumps(t *testing.T) {
	jumps := map[string]time.Duration{
		"none": 0, "an hour on": time.Hour, "an hour back": -time.Hour, "a day on": 24 * time.Hour, "a day back": -24 * time.Hour,
		"on to 2038": toYear2038, "back from 2038": -toYear2038,
	}
	for _, name := range edges([]string{"an hour back", "a day on", "back from 2038"}, "none", "an hour on", "a day back", "on to 2038") {
		jump := jumps[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := &clockJump{dir: t.TempDir(), patience: 6 * time.Minute}
			if jump < 0 {
				j.patience += time.Hour // the bound of a wait that was stored
			}
			// Each bubble begins on the same day. Only the bot's clock jumps.
			inBubbleWith(t, j.dir, j.clock(max(0, -jump)), j.before)
			inBubbleWith(t, j.dir, j.clock(max(0, jump)), j.after)
		})
	}
}

// clockJump is one bot under two clocks.
type clockJump struct {
	dir      string
	ahead    time.Duration // of the bot's clock
	passed   time.Duration // before this start of the bot
	patience time.Duration // with the answer that waits
	taken    []byte        // Telegram, as it has not heard yet what the bot has taken
}

// clock is a Telegram whose own clock is right while the bot's is ahead.
func (j *clockJump) clock(ahead time.Duration) telegramtest.Config {
	j.ahead = ahead
	return telegramtest.Config{Now: func() time.Time { return time.Now().Add(-ahead) }}
}

func (j *clockJump) settings(b *bubble) {
	b.settings.Backup.Every, b.settings.Backup.Keep = time.Hour, 2
	b.settings.Models.Budget.PerDayTokens = 1_000_000
	<-time.After(j.ahead + j.passed)
}

func (j *clockJump) before(t *testing.T, b *bubble) {
	j.settings(b)
	b.telegram.Fault(telegramtest.Fault{Method: "sendMessage", Chat: bruno, Times: -1, Kind: telegramtest.FaultError, RetryAfter: 300})
	b.telegram.User(anna).Send("one")
	b.telegram.User(bruno).Send("waits")
	j.taken = b.telegram.Save()
	b.start()
	b.until("an answer", b.says(anna, "re: one"))
	j.passed = 3 * time.Hour // for backups
	<-time.After(j.passed)
	if len(b.shows(bruno)) > 0 {
		t.Errorf("bruno has an answer: %q", b.shows(bruno))
	}
}

func (j *clockJump) after(t *testing.T, b *bubble) {
	j.settings(b)
	if err := b.telegram.Restore(j.taken); err != nil {
		t.Fatal(err)
	}
	b.start()
	began := time.Now()
	b.until("the answer that waited", b.says(bruno, "re: waits"))
	if took := time.Since(began); took > j.patience {
		t.Errorf("the answer that waited came after %v", took)
	}
	b.telegram.User(anna).Send("two")
	began = time.Now()
	b.until("an answer", b.says(anna, "re: two"))
	if took := time.Since(began); took > time.Minute {
		t.Errorf("an answer came after %v", took)
	}
	if slices.Contains(b.shows(anna), "re: one") {
		t.Errorf("a message was answered twice: %q", b.shows(anna))
	}
	<-time.After(3 * time.Hour)
	s, err := b.engine.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if age := time.Since(s.Backup.At); s.Backup.Fault != "" || age < 0 || age > 4*time.Hour {
		t.Errorf("the last backup is of %v, %v ago: %s", s.Backup.At, age, s.Backup.Fault)
	}
	if _, err := os.Stat(s.Backup.Path); err != nil {
		t.Errorf("the last backup was deleted: %v", err)
	}
	if n := len(b.shows(bruno)); n != 1 {
		t.Errorf("bruno got %q", b.shows(bruno))
	}
	if !b.idle() {
		t.Error("something is left")
	}
}
