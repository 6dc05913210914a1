package params

import (
	"encoding/json"
	"testing"
)

// TestGiven: what equals its default says nothing, everything else stays.
func TestGiven(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"background":{"type":"boolean","default":false},
		"timeout":{"type":"integer","default":30},"mode":{"type":"string","default":"overwrite"},"env":{"type":"object"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{"background":false,"command":"ls","mode":"overwrite","timeout":30}`: `{"command":"ls","mode":"overwrite"}`,
		`{"background":true,"command":"ls","timeout":31}`:                     `{"background":true,"command":"ls","timeout":31}`,
		`{"background":"false","command":"","env":{},"timeout":30.5}`:         `{"background":"false","command":"","env":{},"timeout":30.5}`,
		`{"background":false,"extra":false}`:                                  `{"extra":false}`,
		`{"background":false}`:                                                `{"background":false}`,
		`{"command":`:                                                         `{"command":`,
	} {
		if got := string(s.Given(json.RawMessage(arguments))); got != want {
			t.Errorf("%s: %s, want %s", arguments, got, want)
		}
	}
}
