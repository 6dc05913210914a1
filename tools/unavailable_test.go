package tools_test

import (
	"context"
	"testing"

	"klawbot/tools"
)

// TestUnavailableToolsAreHidden takes the part away that a tool needs.
func TestUnavailableToolsAreHidden(t *testing.T) {
	why := ""
	radio := fakeTool("radio", func(context.Context, tools.Call) tools.Result { return tools.OK("music") })
	radio.spec.Unavailable = func() string { return why }
	e := executor(t, tools.ExecutorConfig{}, radio, order())
	for _, missing := range []string{"", "there is no radio; buy one", ""} {
		why = missing
		shown := len(e.Offered(tools.Call{}))
		listed := len(e.Registry().List("en"))
		r := call(t, e, "radio", "{}")
		if missing == "" && (shown != 2 || listed != 2 || r.Output != "music") {
			t.Errorf("%d shown, %d listed, %+v", shown, listed, r)
		}
		if missing != "" && (shown != 1 || listed != 1 || r.Output != "Error: "+missing) {
			t.Errorf("%d shown, %d listed, %+v", shown, listed, r)
		}
	}
}
