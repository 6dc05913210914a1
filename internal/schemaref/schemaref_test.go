package schemaref_test

import (
	"encoding/json"
	"testing"

	"klawbot/internal/schemaref"
)

const root = `{
	"type": "object",
	"$defs": {
		"a": {"type": "string"}, "to a": {"$ref": "#/$defs/a", "title": "A"}, "b/c~d": {"type": "number"},
		"loop": {"$ref": "#/$defs/loop"}, "no schema": 1, "no reference": {"$ref": 1, "type": "null"}
	}
}`

func TestInline(t *testing.T) {
	for _, c := range []struct {
		part, want string
		found      bool
	}{
		{`{"type": "string"}`, `{"type":"string"}`, false},
		{`null`, `{}`, false},
		{`{"$ref": "#/$defs/a", "title": "own"}`, `{"title":"own","type":"string"}`, true},
		{`{"$ref": "#/$defs/to a"}`, `{"title":"A","type":"string"}`, true},
		{`{"$ref": "#/$defs/b~1c~0d"}`, `{"type":"number"}`, true},
		{`{"$ref": "#/$defs/loop"}`, `{}`, true},
		{`{"$ref": "#/$defs/missing", "type": "string"}`, `{"type":"string"}`, true},
		{`{"$ref": "#/$defs/no schema"}`, `{}`, true},
		{`{"$ref": "https://example.org/schema"}`, `{}`, true},
		{`{"$ref": "#/$defs/no reference"}`, `{"type":"null"}`, true},
		{`{"$ref": 1, "type": "string"}`, `{"type":"string"}`, true},
	} {
		whole, part := decode(t, root), decode(t, c.part)
		got, found := schemaref.Inline(whole, part, add)
		if encode(t, got) != c.want || found != c.found {
			t.Errorf("%s: got %s, %t; want %s, %t", c.part, encode(t, got), found, c.want, c.found)
		}
		if encode(t, whole) != encode(t, decode(t, root)) || encode(t, part) != encode(t, decode(t, c.part)) {
			t.Errorf("%s: an argument was changed", c.part)
		}
	}
}

func TestInlineOfTheWholeSchema(t *testing.T) {
	whole := decode(t, root)
	got, _ := schemaref.Inline(whole, map[string]any{"$ref": "#"}, add)
	if encode(t, got) != encode(t, whole) {
		t.Errorf("got %s", encode(t, got))
	}
}

func TestInlineStopsWhenTold(t *testing.T) {
	calls := 0
	got, found := schemaref.Inline(decode(t, root), map[string]any{"$ref": "#/$defs/to a"}, func(into map[string]any, ref string, target map[string]any) bool {
		calls++
		return add(into, ref, target) && false
	})
	if calls != 1 || !found || encode(t, got) != `{"title":"A"}` {
		t.Errorf("%d calls, %t, %s", calls, found, encode(t, got))
	}
}

// add is the plainest way to put the target in.
func add(into map[string]any, _ string, target map[string]any) bool {
	for name, v := range target {
		if _, own := into[name]; !own {
			into[name] = v
		}
	}
	return true
}

func decode(t *testing.T, text string) (schema map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

func encode(t *testing.T, schema map[string]any) string {
	t.Helper()
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
