package schedule

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/times"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
)

// The data of the buttons below the list of schedules: a mark, the job, a verb.
const jobMark = "job/"

// The verbs of /schedule and of its buttons.
const (
	verbRun    = "run"
	verbPause  = "pause"
	verbResume = "resume"
	verbSkip   = "skip"
	verbDelete = "delete"
	verbRemove = "remove" // the same
	verbLogs   = "logs"
	// The verbs of the buttons below an offer to repeat a reminder.
	verbAccept  = "accept"
	verbDecline = "decline"
)

func button(id store.JobID, verb string) string { return fmt.Sprintf("%s%d/%s", jobMark, id, verb) }

// IsButton reports whether the data of a button is that of one below the list.
func IsButton(data string) bool {
	_, _, ok := readButton(data)
	return ok
}

func readButton(data string) (id store.JobID, verb string, ok bool) {
	rest, ok := strings.CutPrefix(data, jobMark)
	number, verb, found := strings.Cut(rest, "/")
	n, err := strconv.ParseInt(number, 10, 64)
	return store.JobID(n), verb, ok && found && err == nil
}

// listShown is how many schedules the list in a chat shows.
const listShown = 10

// Answer is an answer about schedules, with its buttons.
type Answer struct {
	Text    string
	Buttons [][]gateway.Button
}

// Command answers /schedule.
func (s *Editor) Command(tx *store.Tx, m gateway.Message) (Answer, error) {
	who := s.whoIn(m.Address, m.Sender.ID)
	verb, name, _ := strings.Cut(strings.TrimSpace(m.Args), " ")
	name = strings.TrimSpace(name)
	switch verb {
	case "", "list":
		return s.listText(tx, who)
	case verbRun, verbPause, verbResume, verbSkip, verbDelete, verbRemove, verbLogs:
		if name != "" {
			return s.onNamed(tx, who, verb, name)
		}
	}
	return Answer{Text: s.say(locale.ScheduleUsage)}, nil
}

// onNamed applies a verb to the job with a name. The runs of a deleted job can still be
// read.
func (s *Editor) onNamed(tx *store.Tx, who planner, verb, name string) (a Answer, err error) {
	find := tx.Jobs().JobNamed
	if verb == verbLogs {
		find = tx.Jobs().JobEver
	}
	j, err := find(name)
	if n, bad := strconv.Atoi(name); errors.Is(err, store.ErrNotFound) && bad == nil {
		j, err = s.numbered(tx, who, n)
	}
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && !who.sees(j):
		return Answer{Text: s.say(locale.ScheduleGone, clip.Runes(name, maxJobName))}, nil
	case err != nil:
		return a, err
	}
	a.Text, err = s.actOn(tx, j, verb)
	return a, err
}

// numbered is the job with a number in the list that a planner sees.
func (s *Editor) numbered(tx *store.Tx, who planner, n int) (store.Job, error) {
	list, err := seenBy(tx, who)
	if err == nil && (n < 1 || n > len(list)) {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Job{}, err
	}
	return list[n-1], nil
}

// seenBy are the jobs that a planner may see, by their next time; those that are paused
// come last.
func seenBy(tx *store.Tx, who planner) ([]store.Job, error) {
	all, err := tx.Jobs().Jobs(false)
	all = slices.DeleteFunc(all, func(j store.Job) bool { return !who.sees(j) })
	slices.SortStableFunc(all, func(a, b store.Job) int {
		if a.State == store.JobPaused || b.State == store.JobPaused {
			return cmp.Compare(paused(a), paused(b))
		}
		return a.NextRun.Compare(b.NextRun)
	})
	return all, err
}

// paused puts jobs that are paused behind the others.
func paused(j store.Job) int {
	if j.State == store.JobPaused {
		return 1
	}
	return 0
}

// actOn applies a verb to a job and returns the answer.
func (s *Editor) actOn(tx *store.Tx, j store.Job, verb string) (string, error) {
	before := j
	text := ""
	var err error
	switch verb {
	case verbRun:
		text, err = s.say(locale.ScheduleRuns, j.Name), runByHand(tx, j)
	case verbPause:
		err = switchJob(tx, &j, false)
		text = fmt.Sprintf("⏸ %q: %s.", j.Name, s.say(locale.ScheduleOff))
	case verbResume:
		if err = switchJob(tx, &j, true); err == nil {
			text = s.say(locale.ScheduleOn, j.Name, s.nextText(j))
		}
	case verbAccept:
		if err = switchJob(tx, &j, true); err == nil {
			text = s.say(locale.RemindRepeats, whenInWords(j, s.Settings().Language), j.Message, s.nextText(j))
		}
	case verbDecline:
		if text = s.say(locale.RemindDeclined); j.State == store.JobPaused {
			removeJob(&j)
		}
	case verbSkip:
		if err = skipNext(tx, &j); err == nil {
			text = s.say(locale.ScheduleSkipped, j.Name, s.nextText(j))
		}
	case verbDelete, verbRemove:
		if err = inFile(j); err != nil {
			break
		}
		removeJob(&j)
		text = s.say(locale.ScheduleRemoved, j.Name)
		if j.Kind == store.JobReminder {
			text += "\n" + shortText(j)
		}
	case verbLogs:
		return s.logText(tx, j)
	default:
		return s.say(locale.Expired), nil
	}
	if refused, ok := errors.AsType[*tools.Refusal](err); ok {
		return refused.Text, nil
	}
	if err == nil && j != before {
		err = tx.Jobs().UpdateJob(j)
	}
	return text, err
}

// nextText is when a job is due next, in words.
func (s *Editor) nextText(j store.Job) string {
	next := comingTimes(j, 1)
	if len(next) == 0 {
		return "–"
	}
	zone, err := times.ParseZone(j.Zone, s.Settings().Zone())
	if err != nil {
		zone = time.UTC
	}
	return times.DescribeTime(next[0], zone, s.Settings().Language)
}

// logText are the latest runs of a job.
func (s *Editor) logText(tx *store.Tx, j store.Job) (string, error) {
	const latest = 5
	runs, err := tx.Runs().Runs(j.ID, latest)
	if err != nil {
		return "", err
	}
	if len(runs) == 0 {
		return s.say(locale.ScheduleNoRuns, j.Name), nil
	}
	zone := s.Settings().Zone()
	var lines []string
	for _, r := range runs {
		line := r.ScheduledAt.In(zone).Format("2006-01-02 15:04") + "  " + string(r.State)
		if r.Note != "" {
			line += ": " + r.Note
		}
		lines = append(lines, line)
	}
	return locale.CodeBlock(strings.Join(lines, "\n")), nil
}

// listText is the list of schedules that the planner may see, with its buttons.
func (s *Editor) listText(tx *store.Tx, who planner) (a Answer, err error) {
	list, err := seenBy(tx, who)
	if err != nil {
		return a, err
	}
	if len(list) == 0 {
		return Answer{Text: s.say(locale.ScheduleNone)}, nil
	}
	var lines []string
	for i, j := range list[:min(len(list), listShown)] {
		lines = append(lines, s.listLine(i+1, j))
		a.Buttons = append(a.Buttons, listButtons(i+1, j))
	}
	a.Text = s.say(locale.ScheduleHead) + "\n\n" + strings.Join(lines, "\n")
	if more := len(list) - listShown; more > 0 {
		a.Text += "\n" + s.say(locale.ScheduleMore, more)
	}
	return a, nil
}

func (s *Editor) listLine(n int, j store.Job) string {
	language := s.Settings().Language
	state := s.say(locale.ScheduleNext, s.nextText(j))
	if j.State == store.JobPaused {
		state = s.say(locale.ScheduleOff)
		if j.Note != "" {
			state += ": " + j.Note
		}
	}
	line := fmt.Sprintf("%d. `%s` — %s", n, strings.ReplaceAll(j.Name, "`", "'"), whenInWords(j, language))
	if !once(j) || j.State == store.JobPaused || !j.NextRun.Equal(j.At) { // else it is said already
		line += "; " + state
	}
	if j.Kind == store.JobReminder {
		line += "\n   " + shortText(j)
	}
	return line
}

// shortText is what a job says, on one short line.
func shortText(j store.Job) string {
	return clip.Runes(strings.Join(strings.Fields(j.Message), " "), 80)
}

// listButtons are the buttons of a job in the list.
func listButtons(n int, j store.Job) []gateway.Button {
	name := strconv.Itoa(n)
	toggle := gateway.Button{Text: "⏸ " + name, Data: button(j.ID, verbPause)}
	if j.State == store.JobPaused {
		toggle = gateway.Button{Text: "⏵ " + name, Data: button(j.ID, verbResume)}
	}
	row := []gateway.Button{{Text: "▶ " + name, Data: button(j.ID, verbRun)}, toggle}
	if !once(j) {
		row = append(row, gateway.Button{Text: "⏭ " + name, Data: button(j.ID, verbSkip)})
	}
	return append(row, gateway.Button{Text: "🗑 " + name, Data: button(j.ID, verbDelete)})
}

// Button handles a button below the list. say answers the button press; list replaces
// the message, nil for a user who may not see the job.
func (s *Editor) Button(tx *store.Tx, m gateway.Message) (say string, list *Answer, err error) {
	id, verb, _ := readButton(m.Callback.Data)
	who := s.whoIn(m.Address, m.Sender.ID)
	j, err := tx.Jobs().Job(id)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && (j.State == store.JobDone || j.State == store.JobRemoved):
		say = s.say(locale.Expired)
	case err != nil:
		return "", nil, err
	case !who.sees(j):
		return s.say(locale.NotYours), nil, nil
	default:
		if say, err = s.actOn(tx, j, verb); err != nil {
			return "", nil, err
		}
	}
	if verb == verbAccept || verb == verbDecline {
		return say, &Answer{Text: say}, nil
	}
	now, err := s.listText(tx, who)
	return say, &now, err
}

// say is one of the bot's sentences in its language.
func (s *Editor) say(p locale.Phrase, args ...any) string {
	return locale.Say(s.Settings().Language, p, args...)
}
