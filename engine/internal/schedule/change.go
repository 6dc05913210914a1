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
	if n.At != "" {
		at, err := times.ParseAt(n.At, now, zone)
		if err != nil {
			return tools.Refuse(tools.Validation, "%v", err)
		}
		j.Cron, j.At, j.NextRun = "", at, at
		return nil
	}
	if n.Cron == "" && j.Cron == "" {
		return nil // the zone of a single time only changes how it is shown
	}
	cron, err := s.cron(ctx, c, cmp.Or(n.Cron, j.Cron))
	if err != nil {
		return err
	}
	least := lineInterval
	if !who.line {
		least = max(s.Settings().Scheduler.MinInterval, lineInterval)
	}
	return again(j, cron, now, zone, least)
}

// again makes a job repeat, but not more often than least.
func again(j *store.Job, cron times.Cron, now time.Time, zone *time.Location, least time.Duration) error {
	next, ok := cron.Next(now, zone)
	if !ok {
		return tools.Refuse(tools.Validation, "cron '%s' is never due", cron)
	}
	if gap := cron.Gap(now, zone); gap < least {
		return tools.Refuse(tools.Validation, "cron '%s' is due every %v; %v is the shortest", cron, gap, least)
	}
	j.Cron, j.At, j.NextRun = cron.String(), time.Time{}, next
	return nil
}

// cron reads an expression. A model translates other text into one.
func (s *Editor) cron(ctx context.Context, c tools.Call, text string) (times.Cron, error) {
	cron, err := times.ParseCron(text)
	if !errors.Is(err, times.ErrNotCron) {
		if err != nil {
			err = tools.Refuse(tools.Validation, "bad cron: %v", err)
		}
		return cron, err
	}
	notCron := tools.Refuse(tools.Validation, "%v", times.ErrNotCron)
	if s.ToCron == nil || strings.TrimSpace(text) == "" {
		return cron, notCron
	}
	answer, err := s.ToCron(ctx, c, text)
	switch {
	case errors.Is(err, ErrNoModel):
		return cron, notCron
	case err != nil:
		return cron, tools.Refuse(tools.Execution, "not a cron expression, and the model that could read it failed: %v", err)
	}
	if cron, err = times.ParseCron(answer); err != nil {
		return cron, notCron
	}
	return cron, nil
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
