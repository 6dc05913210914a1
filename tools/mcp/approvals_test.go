package mcp

import (
	"encoding/json"
	"testing"
)

func TestHash(t *testing.T) {
	d := Definition{Tool: "a", Description: "b", Schema: json.RawMessage(`{"type":"object"}`)}
	spaced := d
	spaced.Schema = json.RawMessage("{ \"type\" :\n\"object\" }")
	if d.Hash() != spaced.Hash() {
		t.Error("blanks count")
	}
	for _, o := range []Definition{{"ab", "", d.Schema}, {"a", "c", d.Schema}, {"a", "b", json.RawMessage(`{"type":"object","properties":{}}`)}} {
		if d.Hash() == o.Hash() {
			t.Errorf("%+v has the same hash", o)
		}
	}
}
