package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"klawbot/tools"
)

type schedules struct {
	Schedules
	clock func(time.Time) string
}

type noArgs struct{}

func (s schedules) list(ctx context.Context, c tools.Call, _ noArgs) tools.Result {
	all, err := s.List(ctx, c)
	switch {
	case err != nil:
		return tools.Failed(err)
	case len(all) == 0:
		return tools.OK("No scheduled tasks.")
	}
	blocks := make([]string, len(all))
	for i, one := range all {
		blocks[i] = one.block()
	}
	r := tools.OK(strings.Join(blocks, "\n")).With(all)
	r.Others = slices.ContainsFunc(all, func(one Schedule) bool { return one.Chat != c.Chat || strings.Contains(c.Chat, "_-") })
	return r
}

type addArgs struct {
	Name       string `json:"name"`
	Cron       string `json:"cron,omitempty"`
	At         string `json:"at,omitempty"`
	Message    string `json:"message"`
	Model      string `json:"model,omitempty"`
	InjectInto string `json:"injectInto,omitempty"`
	TZ         string `json:"tz,omitempty"`
	Misfire    string `json:"misfire,omitempty" enum:"run_once,skip"`
}

func (s schedules) add(ctx context.Context, c tools.Call, a addArgs) tools.Result {
	one, err := s.Add(ctx, c, New(a))
	if err != nil {
		return tools.Failed(err)
	}
	return tools.OK(fmt.Sprintf("OK: '%s' scheduled %s\n%s", one.Name, one.how(), one.echo())).With(one)
}

type nameArgs struct {
	Name string `json:"name"`
}

func (s schedules) remove(ctx context.Context, c tools.Call, a nameArgs) tools.Result {
	if err := s.Remove(ctx, c, a.Name); err != nil {
		return tools.Failed(err)
	}
	return tools.OK(fmt.Sprintf("OK: '%s' removed", strings.TrimSpace(a.Name)))
}

type manageArgs struct {
	Action     string `json:"action" enum:"enable,disable,run,logs,edit"`
	Name       string `json:"name"`
	Limit      int    `json:"limit,omitempty" default:"5" min:"1" max:"50"`
	Cron       string `json:"cron,omitempty"`
	At         string `json:"at,omitempty"`
	Message    string `json:"message,omitempty"`
	Model      string `json:"model,omitempty"`
	InjectInto string `json:"injectInto,omitempty"`
	TZ         string `json:"tz,omitempty"`
	Misfire    string `json:"misfire,omitempty" enum:"run_once,skip"`
}

func (s schedules) manage(ctx context.Context, c tools.Call, a manageArgs) tools.Result {
	switch a.Action {
	case "enable", "disable":
		one, err := s.Switch(ctx, c, a.Name, a.Action == "enable")
		if err != nil {
			return tools.Failed(err)
		}
		if a.Action == "disable" {
			return tools.OK(fmt.Sprintf("OK: '%s' disabled", one.Name)).With(one)
		}
		return tools.OK(fmt.Sprintf("OK: '%s' enabled\n%s", one.Name, one.echo())).With(one)
	case "run":
		if err := s.Run(ctx, c, a.Name); err != nil {
			return tools.Failed(err)
		}
		return tools.OK(fmt.Sprintf("OK: '%s' runs now", strings.TrimSpace(a.Name)))
	case "edit":
		one, err := s.Edit(ctx, c, a.Name, New{
			Cron: a.Cron, At: a.At, Message: a.Message, Model: a.Model, InjectInto: a.InjectInto, TZ: a.TZ, Misfire: a.Misfire,
		})
		if err != nil {
			return tools.Failed(err)
		}
		return tools.OK(fmt.Sprintf("OK: '%s' changed, scheduled %s\n%s", one.Name, one.how(), one.echo())).With(one)
	}
	return s.logs(ctx, c, a)
}

func (s schedules) logs(ctx context.Context, c tools.Call, a manageArgs) tools.Result {
	runs, err := s.Logs(ctx, c, a.Name, a.Limit)
	switch {
	case err != nil:
		return tools.Failed(err)
	case len(runs) == 0:
		return tools.OK(fmt.Sprintf("'%s' has not run yet.", strings.TrimSpace(a.Name)))
	}
	lines := make([]string, len(runs))
	for i, r := range runs {
		lines[i] = r.line(s.clock)
	}
	r := tools.OK(strings.Join(lines, "\n")).With(runs)
	r.Others = true // like the report of a run
	return r
}
