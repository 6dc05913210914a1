package job

import (
	"fmt"
	"strings"
	"time"

	"klawbot/internal/clip"
)

// how is how it is scheduled: "with cron '0 9 * * *'".
func (s Schedule) how() string {
	if strings.HasPrefix(s.Cron, "DTSTART") {
		return "with rule '" + s.Cron + "'"
	}
	if s.Cron != "" {
		return "with cron '" + s.Cron + "'"
	}
	return "once"
}

// echo is what was understood, with the next times.
func (s Schedule) echo() string {
	text := fmt.Sprintf("When: %s (%s)\nNext: %s", s.When, s.TZ, s.times())
	if s.InjectInto == "" {
		text += "\nResults: only in the log (no injectInto)"
	}
	return text
}

// times are the next times, in the schedule's zone.
func (s Schedule) times() string {
	if len(s.Next) == 0 {
		return "never"
	}
	texts := make([]string, len(s.Next))
	for i, t := range s.Next {
		texts[i] = s.clock(t)
	}
	return strings.Join(texts, "; ")
}

func (s Schedule) clock(t time.Time) string {
	if zone, err := time.LoadLocation(s.TZ); err == nil {
		t = t.In(zone)
	}
	if t.Second() != 0 {
		return t.Format("Mon 2006-01-02 15:04:05")
	}
	return t.Format("Mon 2006-01-02 15:04")
}

// block is the schedule in the list.
func (s Schedule) block() string {
	var b strings.Builder
	b.WriteString("- " + s.Name)
	line := func(name, value string) {
		if value != "" {
			b.WriteString("\n  " + name + ": " + value)
		}
	}
	line("Cron", s.Cron)
	line("When", s.When+" ("+s.TZ+")")
	line("Message", shortened(s.Message))
	line("Model", s.Model)
	line("InjectInto", s.InjectInto)
	next := ""
	if len(s.Next) > 0 {
		next = s.clock(s.Next[0])
	}
	line("Next", next)
	if !s.Prev.IsZero() {
		line("Prev", s.clock(s.Prev)+" ("+s.PrevState+")")
	}
	state := s.State
	if s.Note != "" {
		state += ": " + s.Note
	}
	line("State", state)
	return b.String()
}

// line is the run in the log.
func (r Run) line(clock func(time.Time) string) string {
	text := clock(r.ScheduledAt) + "  " + r.State
	if r.Missed > 1 {
		text += fmt.Sprintf(" (%d times)", r.Missed)
	}
	if r.Cause != "" && r.Cause != "due" {
		text += ", " + r.Cause
	}
	if r.Attempts > 1 {
		text += fmt.Sprintf(", %d attempts", r.Attempts)
	}
	if n := r.InputTokens + r.OutputTokens; n > 0 {
		text += fmt.Sprintf(", %d tokens", n)
	}
	if r.CostUSD > 0 {
		text += fmt.Sprintf(", $%.4f", r.CostUSD)
	}
	if r.Delivered != "" {
		text += ", to " + r.Delivered
		if r.Delivery != "" {
			text += " (" + r.Delivery + ")"
		}
	}
	if r.Note != "" {
		text += ": " + r.Note
	}
	if r.Result != "" {
		text += "\n  " + shortened(r.Result)
	}
	return text
}

// shortened is a text as one line that is not too long.
func shortened(text string) string {
	return clip.Runes(strings.Join(strings.Fields(text), " "), 200)
}
