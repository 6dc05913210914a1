package run

import (
	"encoding/json"
	"strings"

	"klawbot/engine/internal/store"
	"klawbot/tools/job"
)

// report is what a run delivers.
type report struct {
	// text is delivered; empty when there is nothing to report.
	text    string
	nothing bool
	// reason is why.
	reason string
}

// reportOf is what a run delivers: the messages of schedule_deliver, or else its last
// answer. An answer that is a JSON object with "silent": true delivers nothing; an answer
// that cannot be read as one is delivered.
func reportOf(answer string, said []store.Message) report {
	if explicit := delivered(said); explicit != "" {
		return report{text: explicit}
	}
	if nothing, reason := nothingToReport(answer); nothing {
		return report{nothing: true, reason: reason}
	}
	return report{text: answer}
}

// nothingToReport reports whether an answer says that there is nothing to report.
func nothingToReport(answer string) (nothing bool, reason string) {
	var said struct {
		Silent bool   `json:"silent"`
		Reason string `json:"reason"`
	}
	text := withoutFence(answer)
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &said) != nil {
		return false, ""
	}
	return said.Silent, said.Reason
}

// withoutFence removes the code fence that models put around JSON.
func withoutFence(text string) string {
	text = strings.TrimSpace(text)
	inner, fenced := strings.CutPrefix(text, "```")
	if !fenced {
		return text
	}
	if inner, fenced = strings.CutSuffix(inner, "```"); !fenced {
		return text
	}
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(inner), "json"))
}

// delivered are the messages of the schedule_deliver calls that succeeded.
func delivered(said []store.Message) string {
	good := map[string]bool{}
	for _, m := range said {
		for _, b := range m.Body.Blocks {
			if b.Result != nil && b.Result.Name == job.DeliverName && !b.Result.Failed {
				good[b.Result.CallID] = true
			}
		}
	}
	var texts []string
	for _, m := range said {
		for _, c := range m.Body.Calls() {
			var args job.DeliverArgs
			if good[c.ID] && json.Unmarshal([]byte(c.Arguments), &args) == nil && args.Message != "" {
				texts = append(texts, args.Message)
			}
		}
	}
	return strings.Join(texts, "\n\n")
}
