package job

import (
	"context"

	"klawbot/tools"
)

// DeliverName is the tool with which a run sets what is delivered. The end of the run
// reads it from the calls.
const DeliverName = "schedule_deliver"

// DeliverArgs are its arguments.
type DeliverArgs struct {
	Message string `json:"message"`
}

// onlyInRuns refuses schedule_deliver in a conversation, where answers are sent anyway.
func onlyInRuns(c tools.Call, _ tools.Autonomy) *tools.Result {
	if c.Origin == tools.OriginSchedule || c.Origin == tools.OriginSubagent {
		return nil
	}
	return tools.Refused(tools.Validation, DeliverName+" works only inside scheduled runs and subagents; just answer")
}

func deliver(_ context.Context, _ tools.Call, a DeliverArgs) tools.Result {
	if a.Message == "" {
		return tools.Fail(tools.Validation, "there is no message to deliver")
	}
	return tools.OK("OK: this message is delivered when the run ends; your last answer is then only logged")
}
