package tools_test

import (
	"encoding/json"
	"testing"

	"klawbot/tools"
)

func TestLoopCountsTheSameCallWithTheSameResult(t *testing.T) {
	var l tools.Loop
	note := func(name, arguments, output string) int {
		return l.Note(name, json.RawMessage(arguments), tools.OK(output))
	}
	for want := 1; want <= tools.LoopEnd; want++ {
		if got := note("file_read", `{"path":"a","maxLines":3}`, "x"); got != want {
			t.Errorf("note %d is counted as %d", want, got)
		}
	}
	for name, got := range map[string]int{
		"another result":   note("file_read", `{"path":"a","maxLines":3}`, "y"),
		"another argument": note("file_read", `{"path":"b","maxLines":3}`, "x"),
		"another tool":     note("file_list", `{"path":"a","maxLines":3}`, "x"),
		"broken arguments": note("file_read", `{`, "x"),
	} {
		if got != 1 {
			t.Errorf("%s is counted as %d", name, got)
		}
	}
	if got := note("file_read", ` {"maxLines": 3, "path": "a"} `, "x"); got != tools.LoopEnd+1 {
		t.Errorf("the same arguments in another spelling are counted as %d", got)
	}
}
