package protocol_test

import (
	"encoding/json"
	"strings"
	"testing"

	"klawbot/engine/internal/llm/protocol"
)

func TestSchemaDialects(t *testing.T) {
	const own = `{"type":"object","properties":{"path":{"type":"string","description":"p"},"n":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}`
	for name, c := range map[string]struct {
		dialect    protocol.Dialect
		from, want string
	}{
		"ours stays to the byte":            {"", own, own},
		"75 Gemini additionalProperties":    {protocol.Gemini, own, `{"type":"object","properties":{"path":{"type":"string","description":"p"},"n":{"type":"integer","minimum":1}},"required":["path"]}`},
		"75 references":                     {"", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x","description":"d"}},"$defs":{"x":{"type":"integer"}}}`, `{"type":"object","properties":{"a":{"type":"integer","description":"d"}}}`},
		"75 a reference to itself":          {"", `{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"75 a reference elsewhere":          {"", `{"type":"object","properties":{"a":{"$ref":"http://x/y"}}}`, `{"type":"object","properties":{"a":{"type":"object"}}}`},
		"75 Gemini lists of types":          {protocol.Gemini, `{"type":"object","properties":{"a":{"type":["string","number"]}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"75 Gemini unions in items":         {protocol.Gemini, `{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":"null"},{"type":"integer"},{"type":"string"}]}}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}}}`},
		"75 items missing":                  {"", `{"type":"object","properties":{"a":{"type":"array"}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`},
		"75 Gemini constants":               {protocol.Gemini, `{"type":"object","properties":{"a":{"const":"x"}}}`, `{"type":"object","properties":{"a":{"type":"string","enum":["x"]}}}`},
		"76 a union at the top":             {"", `{"oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer"}}}]}`, `{"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"type":"object"}`},
		"76 an object without properties":   {"", `{"type":"object"}`, `{"type":"object","properties":{}}`},
		"76 allOf":                          {"", `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}]}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`},
		"77 patterns and bounds as grammar": {protocol.Grammar, `{"type":"object","properties":{"a":{"type":"string","pattern":"\\d","minLength":2,"format":"uri"},"b":{"type":"integer","maximum":9}}}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}`},
		"78 null among the types":           {"", `{"type":"object","properties":{"a":{"type":["null","array"],"items":{"type":"string"}}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`},
		"oneOf of several":                  {"", `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`},
		"a property without a type":         {"", `{"type":"object","properties":{"a":{"description":"d"},"b":true}}`, `{"type":"object","properties":{"a":{"type":"string","description":"d"},"b":{"type":"string"}}}`},
		"no object":                         {"", `[]`, string(protocol.NoParameters)},
		"no JSON":                           {"", `{`, string(protocol.NoParameters)},
	} {
		if got := string(protocol.Schema(json.RawMessage(c.from), c.dialect)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestSchemaOfNoParameters(t *testing.T) {
	if got := string(protocol.Schema(nil, protocol.Grammar)); got != string(protocol.NoParameters) {
		t.Errorf("no parameters are %s", got)
	}
}

// BenchmarkSchema is what a request costs for each tool.
func BenchmarkSchema(b *testing.B) {
	parameters := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","minLength":1},"lines":{"type":"array","items":{"type":"integer","minimum":1}},"mode":{"enum":["append","overwrite"]}},"required":["path"]}`)
	b.ReportAllocs()
	for b.Loop() {
		protocol.Schema(parameters, protocol.Grammar)
	}
}

func TestSchemaOfManyReferencesEnds(t *testing.T) {
	bomb := `{"type":"object","properties":{"z":{"type":"string"}`
	for _, name := range strings.Split("abcdefghij", "") {
		bomb += `,"` + name + `":{"$ref":"#"}`
	}
	bomb += `,"all":{"allOf":[{"$ref":"#"},{"$ref":"#"},{"allOf":[{"$ref":"#"},{"$ref":"#/properties/all"}]}]}}}`
	if clean := protocol.Schema(json.RawMessage(bomb), ""); len(clean) > 1<<20 {
		t.Errorf("%d bytes of schema", len(clean))
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}`)
	f.Add(`{"allOf":[{"$ref":"#"}],"anyOf":[{"$ref":"#"}]}`)
	f.Add(`{"properties":{"a":{"items":{"items":{"oneOf":[1,null]}}}}}`)
	f.Fuzz(func(t *testing.T, source string) {
		for _, d := range protocol.Dialects() {
			clean := protocol.Schema(json.RawMessage(source), d)
			var root struct {
				Type       string
				Properties map[string]any
			}
			if err := json.Unmarshal(clean, &root); err != nil || root.Type != "object" || root.Properties == nil {
				t.Fatalf("%s: %s (%v)", d, clean, err)
			}
			if again := protocol.Schema(clean, d); len(clean) < 1000 && string(again) != string(clean) {
				t.Fatalf("%s is not stable:\n%s\n%s", d, clean, again)
			}
		}
	})
}

// TestSchemaPerDialect asks for the same schema in each dialect, twice: what is kept of
// one must not be given for another.
func TestSchemaPerDialect(t *testing.T) {
	const from = `{"type":"object","properties":{"a":{"type":"string","pattern":"x","title":"t"}}}`
	want := map[protocol.Dialect]string{
		"":               from,
		protocol.Gemini:  `{"type":"object","properties":{"a":{"type":"string"}}}`,
		protocol.Grammar: `{"type":"object","properties":{"a":{"type":"string","title":"t"}}}`,
	}
	for range 2 {
		for d, w := range want {
			if got := string(protocol.Schema(json.RawMessage(from), d)); got != w {
				t.Errorf("dialect %q: %s, want %s", d, got, w)
			}
		}
	}
}

func TestSchemaKeepsNothingOfItsCaller(t *testing.T) {
	const plain = `{"type":"object","properties":{"kept":{"type":"string"}}}`
	b := json.RawMessage(plain)
	protocol.Schema(b, "")
	copy(b, `{"type":"OBJECT"`)
	if got := protocol.Schema(json.RawMessage(plain), ""); string(got) != plain {
		t.Errorf("got %s", got)
	}
}
