package bot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine/health"
	"klawbot/gateway"
)

// Checked is a report with what it says of each part, and the worst of it.
func Checked(r Report) Report {
	r.OK, r.State = true, health.StateOff
	if waits := r.Standby != nil && r.Standby.Waiting; !r.Up && !waits {
		return r
	}
	for _, fault := range r.Faults {
		r.Checks = append(r.Checks, health.Broken("unhealthy", "klawbot doctor", errors.New(fault)))
	}
	if !r.Up {
		r.OK = r.Healthy
		return r
	}
	for _, h := range r.Channels {
		f := channelRow(h)
		f.Text = channelText(h)
		r.Checks = append(r.Checks, f)
	}
	for _, place := range r.Muted {
		r.Checks = append(r.Checks, health.Limited("chat", "let the bot write there", "may not write in "+place))
	}
	model := health.Off("model", "klawbot model", "none: commands, notes and reminders work")
	if r.Model != "" {
		model = health.OK("model", "%s", r.Model)
	}
	r.Checks = append(r.Checks, model)
	for _, l := range r.Local {
		f := health.OK("model on this machine", "%s, %s", l.Provider, terminal.Joined(l.State, cmp.Or(l.Fault, l.Note)))
		if l.Fault != "" {
			f = health.Broken(f.Name, "klawbot doctor", errors.New(f.Text))
		}
		r.Checks = append(r.Checks, f)
	}
	database := health.OK("database", "%s, %.1f MB", terminal.Joined(r.Database.State, r.Database.Fault), float64(r.Database.Bytes)/1e6)
	if r.Database.State != "ok" {
		database = health.Broken(database.Name, "klawbot doctor", errors.New(database.Text))
	}
	backup := health.OK("last backup", "%s", backupText(r.Backup))
	if r.Backup.Fault != "" {
		backup = health.Limited(backup.Name, "klawbot doctor", backup.Text)
	}
	r.Checks = append(r.Checks, database, backup)
	if r.Config.Fault != "" {
		r.Checks = append(r.Checks, health.Broken("config", "fix it; the bot applies it within a second", fmt.Errorf("config.yaml is invalid; using the last valid one: %s", r.Config.Fault)))
	}
	r.State = worst(r.Checks)
	r.OK = r.State != health.StateBroken
	return r
}

// worst is the state of the whole. A part that is off takes nothing from it.
func worst(all []health.Finding) health.State {
	for _, state := range []health.State{health.StateBroken, health.StateLimited} {
		if slices.ContainsFunc(all, func(f health.Finding) bool { return f.State == state }) {
			return state
		}
	}
	return health.StateOK
}

func channelText(h gateway.Health) string {
	text := strings.TrimSpace(h.State + " " + h.Name)
	if !h.LastPoll.IsZero() {
		text += ", last contact " + Ago(h.LastPoll)
	}
	return terminal.Joined(text, h.Fault)
}

func backupText(b health.Backup) string {
	text := "none yet"
	if !b.At.IsZero() {
		text = fmt.Sprintf("%s, %s", Ago(b.At), b.Path)
	}
	return terminal.Joined(text, b.Fault)
}

// Ago says how long a time is past.
func Ago(t time.Time) string {
	return max(time.Since(t), 0).Round(time.Second).String() + " ago"
}
