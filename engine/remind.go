package engine

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"klawbot/engine/internal/approval"
	"klawbot/engine/internal/jobs"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/times"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
	"klawbot/tools/job"
)

// plan builds what keeps and fires the jobs.
func (e *Engine) plan() {
	e.live.slots = model.NewSlots(func() int { return jobsTogether * max(e.settings().MaxConcurrentModelCalls, 1) })
	e.jobs = jobs.New(jobs.Config{
		Store: e.store, Log: e.log, Fire: e.startRun, LookEvery: e.lookEvery,
		Rules: func() jobs.Rules {
			s := e.settings().Scheduler
			return jobs.Rules{Threshold: s.MisfireThreshold, Grace: s.MisfireGrace}
		},
	})
	e.schedules = &schedules{
		open:    func() (*store.Store, error) { return e.store, nil },
		gateway: e.gateway, settings: e.settings, toCron: e.toCron,
	}
}

//go:embed cron.md
var cronPrompt string

// cronAnswer is how long the answer to cronPrompt may be, in tokens. Models that
// think need some.
const cronAnswer = 1000

// toCron asks the small model for the cron expression that words mean. Whoever
// gets the answer checks it.
func (e *Engine) toCron(ctx context.Context, c tools.Call, words string) (string, error) {
	m, ok := model.Small(e.settings())
	if !ok {
		return "", errNoModel
	}
	answer, err := e.models.AskFor(ctx, c, m, llm.Request{
		Model: m.Model.Name, System: strings.TrimSpace(cronPrompt), Messages: []llm.Message{llm.Text(llm.RoleUser, clip.Runes(words, maxCronWords))},
		MaxTokens: cronAnswer, Window: m.Model.ContextBudget, NoTools: true,
	})
	return strings.Trim(strings.TrimSpace(answer), "`"), err
}

// maxCronWords bounds the words that a model reads as a cron.
const maxCronWords = 300

// removed reports whether a job that runs was removed meanwhile.
func (e *Engine) removed(j store.Job) bool {
	err := e.store.Read(context.Background(), func(tx *store.Tx) (err error) {
		j, err = tx.Jobs().Job(j.ID)
		return err
	})
	return err == nil && j.State == store.JobRemoved
}

// planned are the schedules at the command line. A running bot notices by itself
// what changes.
func (d *Data) planned(c Config) *schedules {
	d.schedules = &schedules{
		open: func() (*store.Store, error) {
			if d.store == nil {
				if err := d.begin(context.Background()); err != nil {
					return nil, err
				}
			}
			return d.store, nil
		},
		gateway: d.gateway, settings: c.Settings,
	}
	return d.schedules
}

// Schedules are the tools' own view of what is planned, for the command line.
func (d *Data) Schedules() job.Schedules { return d.schedules }

// Schedules are the same of a running bot.
func (e *Engine) Schedules() job.Schedules { return e.schedules }

// Subagents are the tools' own view of the subagents.
func (e *Engine) Subagents() job.Subagents { return e.schedules }

// remind sets a reminder: the answer, and the change that goes with it.
func (e *Engine) remind(it item) (string, func(*store.Tx) error) {
	zone, language := e.settings().Zone(), e.settings().Language
	at, what, err := times.ParseReminder(it.msg.Args, it.msg.Time, zone)
	switch {
	case times.Recurs(it.msg.Args):
		return e.say(locale.RemindOnce, it.row.Address.Chat), nil
	case errors.Is(err, times.ErrNoTime), err == nil && what == "":
		return e.say(locale.RemindUsage), nil
	case err != nil:
		return e.say(locale.RemindBad, err), nil
	case !at.After(time.Now()):
		return e.say(locale.RemindPast, times.DescribeTime(at, zone, language)), nil
	}
	j := store.Job{
		Kind: store.JobReminder, Name: fmt.Sprintf("reminder-%d", it.row.ID), At: at, NextRun: at, Zone: zone.String(), Misfire: jobs.RunOnce,
		Message: clip.Runes(what, maxJobText), Home: it.row.Address, Creator: it.msg.Sender.ID, Target: it.row.Address, Origin: "person",
	}
	text := e.say(locale.RemindSet, times.DescribeTime(at, zone, language), zone, what)
	return text, func(tx *store.Tx) error {
		home, err := tx.Chats().Home(it.row.Address)
		if err != nil {
			return err
		}
		j.Home, j.Target = home, home
		_, err = tx.Jobs().AddJob(j)
		return err
	}
}

// The data of the buttons below the list of schedules: a mark, the job, a verb.
const jobMark = "job/"

// The verbs of /schedule and of its buttons.
const (
	verbRun    = "run"
	verbPause  = "pause"
	verbResume = "resume"
	verbSkip   = "skip"
	verbDelete = "delete"
	verbLogs   = "logs"
)

func jobButton(id store.JobID, verb string) string { return fmt.Sprintf("%s%d/%s", jobMark, id, verb) }

func readJobButton(data string) (id store.JobID, verb string, ok bool) {
	rest, ok := strings.CutPrefix(data, jobMark)
	number, verb, found := strings.Cut(rest, "/")
	n, err := strconv.ParseInt(number, 10, 64)
	return store.JobID(n), verb, ok && found && err == nil
}

// listShown is how many schedules the list in a chat shows.
const listShown = 10

// obeySchedule answers /schedule: the list with its buttons, or what a verb did.
func (e *Engine) obeySchedule(ctx context.Context, it item) {
	who := e.schedules.whoIn(it.msg.Address, it.msg.Sender.ID)
	verb, name, _ := strings.Cut(strings.TrimSpace(it.msg.Args), " ")
	to := it.row.Address
	var a scheduleAnswer
	e.life.Eventually(ctx, it.row.Address, func(tx *store.Tx) (err error) {
		if a, err = e.onSchedule(tx, who, verb, strings.TrimSpace(name)); err != nil {
			return err
		}
		parts := e.gateway.Render(to.Chat.Channel, label(e.settings(), a.text))
		if len(parts) > 0 {
			parts[len(parts)-1].Buttons = a.buttons
		}
		if err := tx.Chats().ReviveChat(it.row.Address.Chat.Channel, it.row.Address.Chat.ID, it.row.ReceivedAt); err != nil {
			return err
		}
		if err := tx.Inbox().EndUpdates(store.InboxDone, "", it.row.ID); err != nil {
			return err
		}
		return outbox.Add(tx, outbox.Rows(to, parts, fmt.Sprintf("inbox/%d", it.row.ID), it.row.Message))
	}, func(err error) {
		if err != nil {
			e.log.Error("reply not stored", "chat", to.String(), "err", err)
			return
		}
		if verb == verbDelete {
			e.live.stop(errJobGone, func(j store.Job) bool { return j.ID == a.job && e.removed(j) })
		}
	})
}

// scheduleAnswer is what /schedule says, and the job that it is about, 0 for none.
type scheduleAnswer struct {
	text    string
	buttons [][]gateway.Button
	job     store.JobID
}

// onSchedule does what /schedule asks for.
func (e *Engine) onSchedule(tx *store.Tx, who planner, verb, name string) (a scheduleAnswer, err error) {
	switch verb {
	case "", "list":
		a.text, a.buttons, err = e.scheduleList(tx, who)
		return a, err
	case verbRun, verbPause, verbResume, verbSkip, verbDelete, verbLogs:
		if name != "" {
			return e.onJobNamed(tx, who, verb, name)
		}
	}
	return scheduleAnswer{text: e.say(locale.ScheduleUsage)}, nil
}

// onJobNamed does what a verb says to the job with a name; the runs of one that is
// gone can still be read.
func (e *Engine) onJobNamed(tx *store.Tx, who planner, verb, name string) (a scheduleAnswer, err error) {
	find := tx.Jobs().JobNamed
	if verb == verbLogs {
		find = tx.Jobs().JobEver
	}
	j, err := find(name)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && !who.sees(j):
		return scheduleAnswer{text: e.say(locale.ScheduleGone, clip.Runes(name, maxJobName))}, nil
	case err != nil:
		return a, err
	}
	a.job = j.ID
	a.text, err = e.actOn(tx, j, verb)
	return a, err
}

// actOn does what a verb says to a job, and returns what came of it.
func (e *Engine) actOn(tx *store.Tx, j store.Job, verb string) (string, error) {
	before := j
	text := ""
	var err error
	switch verb {
	case verbRun:
		text, err = e.say(locale.ScheduleRuns, j.Name), runByHand(tx, j)
	case verbPause:
		err = switchJob(tx, &j, false)
		text = fmt.Sprintf("⏸ %q: %s.", j.Name, e.say(locale.ScheduleOff))
	case verbResume:
		if err = switchJob(tx, &j, true); err == nil {
			text = e.say(locale.ScheduleOn, j.Name, e.nextText(j))
		}
	case verbSkip:
		if err = skipNext(tx, &j); err == nil {
			text = e.say(locale.ScheduleSkipped, j.Name, e.nextText(j))
		}
	case verbDelete:
		if err = inFile(j); err != nil {
			break
		}
		removeJob(&j)
		text = e.say(locale.ScheduleRemoved, j.Name)
	case verbLogs:
		return e.logText(tx, j)
	default:
		return e.say(locale.Expired), nil
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
func (e *Engine) nextText(j store.Job) string {
	next := comingTimes(j, 1)
	if len(next) == 0 {
		return "–"
	}
	zone, err := times.ParseZone(j.Zone, e.settings().Zone())
	if err != nil {
		zone = time.UTC
	}
	return times.DescribeTime(next[0], zone, e.settings().Language)
}

// logText are the latest runs of a job.
func (e *Engine) logText(tx *store.Tx, j store.Job) (string, error) {
	const latest = 5
	runs, err := tx.Runs().Runs(j.ID, latest)
	if err != nil {
		return "", err
	}
	if len(runs) == 0 {
		return e.say(locale.ScheduleNoRuns, j.Name), nil
	}
	zone := e.settings().Zone()
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

// scheduleList is the list of schedules that somebody may see, with its buttons.
func (e *Engine) scheduleList(tx *store.Tx, who planner) (string, [][]gateway.Button, error) {
	all, err := tx.Jobs().Jobs(false)
	if err != nil {
		return "", nil, err
	}
	var lines []string
	var buttons [][]gateway.Button
	count := 0
	for _, j := range all {
		if !who.sees(j) {
			continue
		}
		if count++; count > listShown {
			continue
		}
		lines = append(lines, e.listLine(count, j))
		buttons = append(buttons, listButtons(count, j))
	}
	if count == 0 {
		return e.say(locale.ScheduleNone), nil, nil
	}
	text := e.say(locale.ScheduleHead) + "\n\n" + strings.Join(lines, "\n")
	if count > listShown {
		text += "\n" + e.say(locale.ScheduleMore, count-listShown)
	}
	return text, buttons, nil
}

func (e *Engine) listLine(n int, j store.Job) string {
	language := e.settings().Language
	state := e.say(locale.ScheduleNext, e.nextText(j))
	if j.State == store.JobPaused {
		state = e.say(locale.ScheduleOff)
		if j.Note != "" {
			state += ": " + j.Note
		}
	}
	line := fmt.Sprintf("%d. `%s` — %s; %s", n, strings.ReplaceAll(j.Name, "`", "'"), whenInWords(j, language), state)
	if j.Kind == store.JobReminder {
		line += "\n   " + clip.Runes(strings.Join(strings.Fields(j.Message), " "), 80)
	}
	return line
}

// listButtons are the buttons of a job in the list.
func listButtons(n int, j store.Job) []gateway.Button {
	name := strconv.Itoa(n)
	toggle := gateway.Button{Text: "⏸ " + name, Data: jobButton(j.ID, verbPause)}
	if j.State == store.JobPaused {
		toggle = gateway.Button{Text: "⏵ " + name, Data: jobButton(j.ID, verbResume)}
	}
	row := []gateway.Button{{Text: "▶ " + name, Data: jobButton(j.ID, verbRun)}, toggle}
	if !once(j) {
		row = append(row, gateway.Button{Text: "⏭ " + name, Data: jobButton(j.ID, verbSkip)})
	}
	return append(row, gateway.Button{Text: "🗑 " + name, Data: jobButton(j.ID, verbDelete)})
}

// pressedJob acts on a button below the list and shows the list as it is then.
func (e *Engine) pressedJob(tx *store.Tx, it item, id store.JobID, verb string) (approval.Pressed, error) {
	who := e.schedules.whoIn(it.msg.Address, it.msg.Sender.ID)
	j, err := tx.Jobs().Job(id)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && (j.State == store.JobDone || j.State == store.JobRemoved):
		return e.refreshed(tx, it, who, e.say(locale.Expired))
	case err != nil:
		return approval.Pressed{}, err
	case !who.sees(j):
		return approval.Pressed{Say: e.say(locale.NotYours)}, nil
	}
	text, err := e.actOn(tx, j, verb)
	if err != nil {
		return approval.Pressed{}, err
	}
	if verb == verbDelete && j.Kind != store.JobHeartbeat {
		e.live.stop(errJobGone, func(l store.Job) bool { return l.ID == id })
	}
	return e.refreshed(tx, it, who, text)
}

// refreshed tells the person a text, and gives the message of the list its new text
// and buttons.
func (e *Engine) refreshed(tx *store.Tx, it item, who planner, say string) (approval.Pressed, error) {
	p := approval.Pressed{Say: say}
	if may, err := e.mayReplace(tx, it); !may {
		return p, err
	}
	text, buttons, err := e.scheduleList(tx, who)
	if err != nil {
		return p, err
	}
	parts := e.gateway.Render(it.row.Address.Chat.Channel, label(e.settings(), text))
	if p.Outs = outbox.Replacement(it.row.Address, it.msg.Press.Message, parts, pressKey(it)); len(p.Outs) > 0 {
		part := parts[0]
		part.Buttons = buttons
		p.Outs[0].Body = outbox.Encode(part)
	}
	return p, nil
}

// jobsChanged has the scheduler look at the jobs, and ends the runs of those that are
// removed.
func (e *Engine) jobsChanged() {
	e.jobs.Changed()
	e.live.stop(errJobGone, e.removed)
}
