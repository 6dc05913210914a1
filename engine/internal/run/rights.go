package run

import (
	"regexp"
	"slices"
	"strings"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/workspace"
	"klawbot/gateway"
	"klawbot/tools"
	"klawbot/tools/rule"
)

// goneNote is the note in the run history when the job is gone.
func goneNote(j store.Job) string {
	if j.Kind == store.JobSpawn {
		return schedule.NoteCancelled
	}
	return lifecycle.ErrJobGone.Error()
}

// Workplace is the chat that a run works for: its target, or else its own chat. A job
// of the command line has an address of its own.
func Workplace(j store.Job) gateway.Address {
	switch {
	case j.Target.Chat.Channel != "":
		return j.Target
	case j.Home.Chat.Channel != "":
		return j.Home
	}
	return gateway.Address{Chat: gateway.ChatID{Channel: store.JobChannel, ID: int64(j.ID)}}
}

func originOf(j store.Job) tools.Origin {
	if j.Kind == store.JobSpawn {
		return tools.OriginSubagent
	}
	return tools.OriginSchedule
}

// kindName is what a job is called in texts for models.
func kindName(j store.Job) string {
	if j.Kind == store.JobSpawn {
		return "subagent"
	}
	return string(j.Kind)
}

// owned reports whether an owner created a job. A task of the heartbeat is never owned:
// several people may have written it.
func (rs *Runs) owned(j store.Job) bool {
	if j.Kind == store.JobHeartbeat {
		return false
	}
	if j.Home.Chat.Channel == "" {
		return j.Origin == "command" || j.Origin == schedule.OriginOthers || j.Origin == schedule.OriginOutside
	}
	return j.Home.Chat.Local() || rs.Settings().Owns(j.Home.Chat.Channel, j.Creator)
}

// direct is the call of an owner's job whose message is "/tool NAME JSON", which needs
// no model. It is nil for other jobs.
func (rs *Runs) direct(j store.Job) *llm.ToolCall {
	args, ok := strings.CutPrefix(j.Message, "/tool ")
	if !ok || j.Kind == store.JobSpawn || !rs.owned(j) {
		return nil
	}
	return schedule.ToolCall(args)
}

// Within limits the permissions of a run: those of its creator in the job's chat, without
// scheduling and subagents unless the policy for scheduled runs names them.
func (w *Work) Within(p tools.Policy) *tools.Scope {
	j := w.Job
	home := ""
	if j.Home.Chat.Channel != "" {
		home = j.Home.Chat.String()
	}
	target := Workplace(j).Chat.String()
	closed := tools.Policy{Autonomy: tools.Full, Scheduled: tools.Limits{Deny: closedToRuns(p.Scheduled, originOf(j))}}
	if slices.Contains(closed.Scheduled.Deny, "schedule_add") {
		closed.Rules = []rule.Rule{noHeartbeat}
	}
	scope := p.For(home, tools.OriginPerson).And(p.For(home, tools.OriginSchedule)).And(p.For(target, tools.OriginSchedule)).
		And(closed.For("", tools.OriginSchedule))
	return &scope
}

// noHeartbeat keeps a run from scheduling through the file. Some file systems ignore
// the case of names.
var noHeartbeat = func() rule.Rule {
	r, err := rule.New("heartbeat", []string{"file_write", "file_edit"}, nil, []string{`re:(?i)(^|/)` + regexp.QuoteMeta(workspace.HeartbeatFile) + `\s*$`})
	if err != nil {
		panic(err) // the rule is constant
	}
	return r
}()

// closedToRuns are the tools that runs do not have unless their policy names them.
func closedToRuns(scheduled tools.Limits, origin tools.Origin) []string {
	closed := []string{"schedule_add", "schedule_remove", "schedule_manage", "subagent_spawn", "subagent_manage",
		"file_undo"} // it could restore an old HEARTBEAT.md
	if origin == tools.OriginSubagent {
		closed = append(closed, "send_message", "send_file", "speak", "memory_core_update", "memory_core_delete")
	}
	var kept []string
	for _, name := range closed {
		if !slices.Contains(scheduled.Allow, name) {
			kept = append(kept, name)
		}
	}
	return kept
}
