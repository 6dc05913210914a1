package schedule

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"

	"klawbot/engine/internal/jobs"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/phrase"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/times"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
	"klawbot/tools/job"
)

// change checks n and sets what is not empty in it.
func (s *Editor) change(ctx context.Context, j *store.Job, n job.New, c tools.Call, who planner) error {
	settings := s.Settings()
	if n.Message = strings.TrimSpace(n.Message); n.Message != "" {
		if len([]rune(n.Message)) > maxJobText {
			return tools.Refuse(tools.Validation, "the message has more than %d characters; put the details into a file and name it", maxJobText)
		}
		if args, direct := strings.CutPrefix(n.Message, "/tool"); direct && who.all && !callable(args) {
			return tools.Refuse(tools.Validation, "usage: /tool NAME JSON, such as /tool current_time {}")
		}
		j.Message = n.Message
	}
	if n.Model != "" {
		if _, ok := settings.Models.Entries[n.Model]; !ok && len(settings.Models.Entries) == 0 {
			return tools.Refuse(tools.Validation, "Unknown model '%s'. No model is set up; klawbot init does that", clip.Runes(n.Model, maxJobName))
		} else if !ok {
			return tools.Refuse(tools.Validation, "Unknown model '%s'. Available: %s", clip.Runes(n.Model, maxJobName), strings.Join(settings.Models.Names(), ", "))
		}
		j.Model = n.Model
	}
	switch n.Misfire {
	case "", jobs.RunOnce, jobs.Skip:
		j.Misfire = cmp.Or(n.Misfire, j.Misfire)
	default:
		return tools.Refuse(tools.Validation, "misfire must be run_once or skip")
	}
	if n.InjectInto != "" {
		target, err := s.target(n.InjectInto, c)
		if err != nil {
			return err
		}
		j.Target = target
	}
	return s.plan(ctx, j, n, c, who)
}

// callable reports whether the text after /tool is a name with an object or nothing.
func callable(args string) bool {
	if args != "" && !unicode.IsSpace(rune(args[0])) {
		return true // another word that begins so
	}
	call := ToolCall(args)
	if call == nil {
		return false
	}
	var object map[string]any
	return json.Unmarshal([]byte(call.Arguments), &object) == nil
}

// target is the chat that gets the results. It must be on the allow list.
func (s *Editor) target(chat string, c tools.Call) (gateway.Address, error) {
	id, err := gateway.ParseChatID(strings.TrimSpace(chat))
	if err != nil {
		return gateway.Address{}, tools.Refuse(tools.Validation, "injectInto: %v", err)
	}
	if err := s.Gateway.Reachable(id); err != nil {
		return gateway.Address{}, tools.Refuse(tools.PolicyDenied, "%v", err)
	}
	a := gateway.Address{Chat: gateway.ChatID{Channel: id.Channel, ID: id.ID}}
	if id.String() == c.Chat {
		a.Thread = c.Thread
	}
	return a, nil
}

// plan sets the times of a job.
func (s *Editor) plan(ctx context.Context, j *store.Job, n job.New, c tools.Call, who planner) error {
	if n.Cron == "" && n.At == "" && n.TZ == "" {
		return nil
	}
	if n.Cron != "" && n.At != "" {
		return tools.Refuse(tools.Validation, "give cron (again and again) or at (once), one of the two")
	}
	usual := s.Settings().Zone()
	zone, err := times.ParseZone(cmp.Or(n.TZ, j.Zone), usual)
	if err != nil {
		return tools.Refuse(tools.Validation, "%v", err)
	}
	now := time.Now()
	j.Zone = zone.String()
	least := lineInterval
	if !who.line {
		least = max(s.Settings().Scheduler.MinInterval, lineInterval)
	}
	if n.At != "" {
		w, err := phrase.ParseAt(n.At, now, zone)
		if err != nil {
			return tools.Refuse(tools.Validation, "%v", err)
		}
		if w.Repeat != nil {
			return again(j, w.Repeat, now, w.Zone, least)
		}
		j.Cron, j.At, j.NextRun = "", w.At, w.At
		return nil
	}
	if n.Cron == "" && j.Cron == "" {
		return nil // the zone of a single time only changes how it is shown
	}
	repeat, zone, err := s.repeat(ctx, c, cmp.Or(n.Cron, j.Cron), now, zone)
	if err != nil {
		return err
	}
	return again(j, repeat, now, zone, least)
}

// again makes a job repeat, but not more often than least.
func again(j *store.Job, repeat times.Repeat, now time.Time, zone *time.Location, least time.Duration) error {
	next, ok := repeat.Next(now, zone)
	if !ok {
		return tools.Refuse(tools.Validation, "cron '%s' is never due", repeat)
	}
	if gap := repeat.Gap(now, zone); gap < least {
		return tools.Refuse(tools.Validation, "cron '%s' is due every %v; %v is the shortest", repeat, gap, least)
	}
	j.Cron, j.Zone, j.At, j.NextRun = repeat.String(), zone.String(), time.Time{}, next
	return nil
}

// repeat reads an expression, a recurrence rule, or words. A model translates words that
// are not understood.
func (s *Editor) repeat(ctx context.Context, c tools.Call, text string, now time.Time, zone *time.Location) (times.Repeat, *time.Location, error) {
	repeat, there, err := phrase.ReadRepeat(text, now, zone)
	if !errors.Is(err, times.ErrNotCron) {
		if err != nil {
			err = tools.Refuse(tools.Validation, "bad cron: %v", err)
		}
		return repeat, there, err
	}
	notCron := tools.Refuse(tools.Validation, `%v; examples: "0 9 * * 1-5", "every Monday at 9"`, times.ErrNotCron)
	if s.ToCron == nil || strings.TrimSpace(text) == "" {
		return nil, zone, notCron
	}
	answer, err := s.ToCron(ctx, c, text)
	switch {
	case errors.Is(err, ErrNoModel):
		return nil, zone, notCron
	case err != nil:
		return nil, zone, tools.Refuse(tools.Execution, "not a cron expression, and the model that could read it failed: %v", err)
	}
	if repeat, err = times.ReadExpression(answer, now, zone); err != nil {
		return nil, zone, notCron
	}
	return repeat, zone, nil
}

// ToolCall reads the call of a tool that is written as "NAME JSON", nil when there is
// no name.
func ToolCall(args string) *llm.ToolCall {
	args = strings.TrimSpace(args)
	name, arguments := args, ""
	if i := strings.IndexFunc(args, unicode.IsSpace); i >= 0 {
		name, arguments = args[:i], args[i:]
	}
	if name == "" {
		return nil
	}
	return &llm.ToolCall{Name: name, Arguments: cmp.Or(strings.TrimSpace(arguments), "{}")}
}
