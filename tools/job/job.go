// Package job holds the tools for schedules, and for subagents, which run at once.
//
// Schedules and Subagents keep the jobs and decide which of them a call may see.
package job

import (
	"context"
	"embed"
	"encoding/json"
	"time"

	"klawbot/tools"
)

//go:embed *.md
var texts embed.FS

// Schedules keeps schedules. Its errors are for the model: a *Refusal has a kind of its
// own, others count as execution errors.
type Schedules interface {
	// List returns what the caller may see, by name.
	List(ctx context.Context, c tools.Call) ([]Schedule, error)
	// Add creates a schedule and returns it as it was understood.
	Add(ctx context.Context, c tools.Call, n New) (Schedule, error)
	// Remove deletes a schedule.
	Remove(ctx context.Context, c tools.Call, name string) error
	// Switch turns a schedule on or off.
	Switch(ctx context.Context, c tools.Call, name string, on bool) (Schedule, error)
	// Run runs a schedule now, beside its times.
	Run(ctx context.Context, c tools.Call, name string) error
	// Edit changes what is not empty in ch.
	Edit(ctx context.Context, c tools.Call, name string, ch New) (Schedule, error)
	// Logs returns the latest runs of a schedule, the latest first.
	Logs(ctx context.Context, c tools.Call, name string, limit int) ([]Run, error)
}

// New is a schedule to create; either Cron or At is set.
type New struct {
	Name, Cron, At, Message, Model string
	// InjectInto is the chat that gets the result of a run; empty: it is only logged.
	InjectInto  string
	TZ, Misfire string
}

// Schedule is a schedule or reminder. Its JSON form is stable.
type Schedule struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Cron string `json:"cron,omitempty"`
	// At is the one time of a schedule without a cron.
	At time.Time `json:"at,omitzero"`
	TZ string    `json:"tz"`
	// When describes the times in the bot's language.
	When string `json:"when"`
	// Next are the next times, at most three.
	Next []time.Time `json:"next"`
	// Prev and PrevState are the latest run.
	Prev       time.Time `json:"prev,omitzero"`
	PrevState  string    `json:"prev_state,omitempty"`
	State      string    `json:"state"`
	Note       string    `json:"note,omitempty"`
	Message    string    `json:"message"`
	Model      string    `json:"model,omitempty"`
	InjectInto string    `json:"inject_into,omitempty"`
	Misfire    string    `json:"misfire"`
	Chat       string    `json:"chat,omitempty"`
	// CostUSD is the cost of the runs that are kept.
	CostUSD float64 `json:"cost_usd"`
}

// Run is one run of a schedule. Its JSON form is stable.
type Run struct {
	ScheduledAt  time.Time `json:"scheduled_at"`
	StartedAt    time.Time `json:"started_at,omitzero"`
	EndedAt      time.Time `json:"ended_at,omitzero"`
	State        string    `json:"state"`
	Cause        string    `json:"cause,omitempty"`
	Attempts     int       `json:"attempts"`
	Missed       int       `json:"missed,omitempty"`
	InputTokens  int       `json:"input_tokens"`
	OutputTokens int       `json:"output_tokens"`
	CostUSD      float64   `json:"cost_usd"`
	// Delivered is the chat that got the result, Delivery how that went.
	Delivered string `json:"delivered,omitempty"`
	Delivery  string `json:"delivery,omitempty"`
	Result    string `json:"result,omitempty"`
	Note      string `json:"note,omitempty"`
}

// Config is what New needs.
type Config struct {
	// Schedules and Subagents are required.
	Schedules Schedules
	Subagents Subagents
	// Location is the zone of the times in lists. Default: UTC.
	Location func() *time.Location
}

// clock is a time in lists.
func (c Config) clock(t time.Time) string {
	zone := time.UTC
	if c.Location != nil {
		zone = c.Location()
	}
	return t.In(zone).Format(time.DateTime)
}

// Tools returns schedule_list, schedule_add, schedule_remove, schedule_manage,
// schedule_deliver, subagent_spawn and subagent_manage.
func Tools(c Config) []tools.Tool {
	s, sub := schedules{c.Schedules, c.clock}, subagents{c.Subagents, c.clock}
	routine := []tools.Alias{{Name: "routine", Route: route}}
	renamed := map[string]string{"schedule": "cron"}
	return []tools.Tool{
		tools.New(tools.Spec{Name: "schedule_list", Group: tools.GroupSystem, Aliases: routine}, texts, s.list),
		tools.New(tools.Spec{
			Name: "schedule_add", Group: tools.GroupSystem, Changes: true, Aliases: routine, Arguments: renamed, Keeps: []string{"message", "name"}, Timeout: time.Minute,
		}, texts, s.add),
		tools.New(tools.Spec{Name: "schedule_remove", Group: tools.GroupSystem, Changes: true, Aliases: routine}, texts, s.remove),
		tools.New(tools.Spec{
			Name: "schedule_manage", Group: tools.GroupSystem, Changes: true, ChangesWhen: manages, Aliases: routine, Arguments: renamed,
			Keeps: []string{"message"}, Timeout: time.Minute,
		}, texts, s.manage),
		tools.New(tools.Spec{Name: DeliverName, Group: tools.GroupMessage, PreValidate: onlyInRuns}, texts, deliver),
		tools.New(tools.Spec{
			Name: "subagent_spawn", Group: tools.GroupSystem, Changes: true, Aliases: []tools.Alias{{Name: "delegate_task"}},
			Arguments: map[string]string{"task": "message"}, Keeps: []string{"message", "name"}, PreValidate: notInside,
		}, texts, sub.spawn),
		tools.New(tools.Spec{Name: "subagent_manage", Group: tools.GroupSystem, Changes: true, ChangesWhen: cancels}, texts, sub.manage),
	}
}

// route is the tool for a call of the alias routine, by its action.
func route(c tools.Call, args map[string]any) string {
	action, _ := args["action"].(string)
	delete(args, "channel") // results go to the chat that asks
	switch action {
	case "", "list":
		clear(args)
		return "schedule_list"
	case "add", "create":
		delete(args, "action")
		delete(args, "limit")
		if _, given := args["injectInto"]; !given && c.Chat != "" {
			args["injectInto"] = c.Chat
		}
		return "schedule_add"
	case "delete", "remove":
		name := args["name"]
		clear(args)
		if name != nil {
			args["name"] = name
		}
		return "schedule_remove"
	}
	return "schedule_manage"
}

// manages reports whether a call of schedule_manage modifies data.
func manages(arguments json.RawMessage) bool {
	var a manageArgs
	return json.Unmarshal(arguments, &a) != nil || a.Action != "logs"
}
