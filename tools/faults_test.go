package tools_test

import (
	"encoding/json"
	"testing"

	"klawbot/tools"
)

func TestBoundsAreWrittenAsDecimals(t *testing.T) {
	f := fakeTool("heat", sunny)
	f.spec.Texts[tools.English] = tools.Text{Parameters: json.RawMessage(
		`{"type":"object","properties":{"celsius":{"type":"number","minimum":-273.15,"maximum":1000}}}`)}
	e := withSources(t, t.Output(), &shifting{tools: []tools.Tool{f}})
	for arguments, want := range map[string]string{
		`{"celsius":-300}`: "parameter 'celsius' must be at least -273.15", `{"celsius":1e4}`: "parameter 'celsius' must be at most 1000",
	} {
		r, err := e.Execute(t.Context(), tools.Call{ID: "1", Name: "heat", Arguments: json.RawMessage(arguments)}, nil)
		if err != nil || r.Error != want {
			t.Errorf("%s: %q, %v", arguments, r.Error, err)
		}
	}
}
