package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"klawbot/engine/internal/jobs"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/phrase"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/times"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
)

// Remind answers /remind: the text, and the change to commit with it, which may return
// buttons.
func (s *Editor) Remind(m gateway.Message, home gateway.Address, id store.InboxID) (string, func(*store.Tx) ([][]gateway.Button, error)) {
	zone, language := s.Settings().Zone(), s.Settings().Language
	w, err := phrase.ParseWish(m.Args, m.Time, zone)
	switch unclear, ok := errors.AsType[*phrase.UnclearError](err); {
	case ok:
		return s.ask(unclear), nil
	case strings.TrimSpace(m.Args) == "":
		return s.say(locale.RemindUsage), nil
	case errors.Is(err, phrase.ErrNoTime):
		return s.say(locale.RemindNoTime, clip.Line(m.Args, maxQuoted)), nil
	case err == nil && w.Text == "":
		return s.say(locale.RemindNoText, clip.Line(m.Args, maxQuoted)), nil
	case err != nil:
		return s.say(locale.RemindBad, err), nil
	case w.Repeat == nil && !w.At.After(sentAt(m)):
		return s.say(locale.RemindPast, times.DescribeTime(w.At, zone, language)), nil
	}
	at := w.At
	if now := time.Now(); w.Repeat == nil && at.Before(now) {
		at = now // it came due while the message waited
	}
	j := store.Job{
		Kind: store.JobReminder, Name: fmt.Sprintf("reminder-%d", id), At: at, NextRun: at, Zone: zone.String(), Misfire: jobs.RunOnce,
		Message: clip.Runes(w.Text, maxJobText), Home: home, Creator: m.Sender.ID, Target: home, Origin: "person",
	}
	if w.Repeat != nil {
		return s.offer(j, w)
	}
	text := s.say(locale.RemindSet, times.DescribeTime(w.At, zone, language), zone, w.Text)
	return text, func(tx *store.Tx) ([][]gateway.Button, error) {
		_, err := addReminder(tx, j)
		return nil, err
	}
}

// sentAt is when a message was sent. A clock that is ahead, or no time at all, counts as
// now.
func sentAt(m gateway.Message) time.Time {
	now := time.Now()
	if m.Time.Unix() <= 0 || m.Time.After(now) {
		return now
	}
	return m.Time
}

// addReminder adds a job of a chat, which may have moved.
func addReminder(tx *store.Tx, j store.Job) (store.JobID, error) {
	home, err := tx.Chats().Home(j.Home)
	if err != nil {
		return 0, err
	}
	j.Home, j.Target = home, home
	return tx.Jobs().AddJob(j)
}

// offer asks whether a reminder repeats as it was understood. Until then it is paused.
func (s *Editor) offer(j store.Job, w phrase.Wish) (string, func(*store.Tx) ([][]gateway.Button, error)) {
	language := s.Settings().Language
	err := again(&j, w.Repeat, time.Now(), w.Zone, max(s.Settings().Scheduler.MinInterval, lineInterval))
	if refused, ok := errors.AsType[*tools.Refusal](err); ok {
		return s.say(locale.RemindBad, refused.Text), nil
	}
	var next []string
	for _, at := range times.NextTimes(w.Repeat, time.Now(), w.Zone, 3) {
		next = append(next, times.DescribeTime(at, w.Zone, language))
	}
	text := s.say(locale.RemindOffer, w.Repeat.Describe(language), j.Zone, w.Text, strings.Join(next, "; "))
	if !s.Gateway.Buttons(j.Home.Chat) {
		text += "\n" + s.say(locale.RemindOfferWords, j.Name)
	}
	j.State, j.Note = store.JobPaused, s.say(locale.RemindUnconfirmed)
	return text, func(tx *store.Tx) ([][]gateway.Button, error) {
		if err := withdraw(tx, j); err != nil {
			return nil, err
		}
		id, err := addReminder(tx, j)
		return [][]gateway.Button{{
			{Text: s.say(locale.ButtonRepeat), Data: button(id, verbAccept)}, {Text: s.say(locale.ButtonNotRepeat), Data: button(id, verbDecline)},
		}}, err
	}
}

// withdraw removes the chat's unanswered offers of the same reminder, which the new one
// corrects.
func withdraw(tx *store.Tx, offered store.Job) error {
	all, err := tx.Jobs().Jobs(false)
	for _, j := range all {
		if err == nil && j.Kind == store.JobReminder && j.State == store.JobPaused && j.Note == offered.Note && j.Message == offered.Message && j.Home.Chat == offered.Home.Chat {
			removeJob(&j)
			err = tx.Jobs().UpdateJob(j)
		}
	}
	return err
}

// ask says what is not clear about a time, and what to write instead.
func (s *Editor) ask(e *phrase.UnclearError) string {
	switch e.Why {
	case phrase.DoubtSeveral:
		return s.say(locale.RemindSeveral)
	case phrase.DoubtDate:
		return s.say(locale.RemindDate, e.Words)
	case phrase.DoubtZone:
		return s.say(locale.RemindZone, e.Words)
	case phrase.DoubtWeekday:
		return s.say(locale.RemindWeekday, e.Words, e.Weekday(s.Settings().Language))
	case phrase.DoubtRepeat:
		return s.say(locale.RemindRepeat)
	case phrase.DoubtHour:
		return s.say(locale.RemindHour, e.Words, e.Number, e.Number+12)
	case phrase.DoubtDay:
		return s.say(locale.RemindNoDay, e.Number, e.Month(s.Settings().Language))
	}
	return s.say(locale.RemindUnclear, e.Words)
}

// maxQuoted bounds what an answer repeats of what was written, in characters.
const maxQuoted = 80
