package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"klawbot/tools/params"
)

func TestParameters(t *testing.T) {
	const anything = `["string","number","boolean","object","array","null"]`
	for name, c := range map[string]struct{ schema, want string }{
		"nothing":              {``, noParameters},
		"no object":            {`{"type":"string"}`, noParameters},
		"no properties":        {`{"type":"object"}`, noParameters},
		"a reference":          {`{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"integer","description":"how many"}}}`, `{"properties":{"a":{"description":"how many","type":"integer"}},"type":"object"}`},
		"old definitions":      {`{"properties":{"a":{"$ref":"#/definitions/A"}},"definitions":{"A":{"enum":["x","y"]}}}`, `{"properties":{"a":{"description":"a","enum":["x","y"],"type":"string"}},"type":"object"}`},
		"elsewhere":            {`{"properties":{"a":{"$ref":"https://evil.example/schema"}}}`, `{"properties":{"a":{"description":"a","type":` + anything + `}},"type":"object"}`},
		"a title":              {`{"properties":{"a":{"type":"string","title":"The name"}}}`, `{"properties":{"a":{"description":"The name","title":"The name","type":"string"}},"type":"object"}`},
		"a union":              {`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"description":"a","type":["string","null"]}},"type":"object"}`},
		"true says anything":   {`{"properties":{"user_id":true}}`, `{"properties":{"user_id":{"description":"user id","type":` + anything + `}},"type":"object"}`},
		"an odd pattern":       {`{"properties":{"a":{"type":"string","pattern":"(?!x)"}},"required":["a"]}`, `{"properties":{"a":{"description":"a","type":` + anything + `}},"type":"object"}`},
		"hidden text":          {"{\"properties\":{\"a\":{\"type\":\"string\",\"description\":\"a\u202eb\"}}}", `{"properties":{"a":{"description":"a\\u202Eb","type":"string"}},"type":"object"}`},
		"required stays":       {`{"type":"object","properties":{"a":{"type":"string","description":"b","minLength":2}},"required":["a"],"additionalProperties":false}`, `{"additionalProperties":false,"properties":{"a":{"description":"b","minLength":2,"type":"string"}},"required":["a"],"type":"object"}`},
		"properties of values": {`{"properties":{"a":{"items":{"$ref":"#/$defs/B"}}},"$defs":{"B":{"type":"boolean"}}}`, `{"properties":{"a":{"description":"a","items":{"type":"boolean"},"type":"array"}},"type":"object"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(Clean(json.RawMessage(c.schema))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestParametersThatGrow: what refers to itself many times stays small.
func TestParametersThatGrow(t *testing.T) {
	tree := `{"properties":{"root":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"l":{"$ref":"#/$defs/N"},"m":{"$ref":"#/$defs/N"},"r":{"$ref":"#/$defs/N"}}}}}`
	loop := `{"properties":{"a":{"$ref":"#/properties/a"}}}`
	twice := `{"properties":{"r":{"$ref":"#/$defs/a0"}},"$defs":{"a30":{"type":"string"}`
	for i := range 30 {
		twice += fmt.Sprintf(`,"a%d":{"type":"object","properties":{"x":{"$ref":"#/$defs/a%[2]d"},"y":{"$ref":"#/$defs/a%[2]d"}}}`, i, i+1)
	}
	for _, schema := range []string{tree, loop, twice + "}}"} {
		got := Clean(json.RawMessage(schema))
		if len(got) > maxWritten || params.Check(got) != nil || !strings.Contains(string(got), `"properties":{"`) {
			t.Errorf("%d bytes: %.200s", len(got), got)
		}
	}
	if got := Clean(json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","description":"` + strings.Repeat("x", maxSchemaBytes) + `"}}}`)); string(got) != noParameters {
		t.Errorf("%.200s", got)
	}
}

// TestParametersThatCostALot: what is long and repeated in a schema by
// reference is written out within a budget.
func TestParametersThatCostALot(t *testing.T) {
	const half = maxSchemaBytes / 2
	refs := func(ref string) string {
		var b strings.Builder
		for i := range min(2000, half/(len(ref)+16)) {
			fmt.Fprintf(&b, `"p%d":{"$ref":"%s"},`, i, ref)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	deep := strings.Repeat("/a", half/2)
	keys := strings.Builder{}
	for i := range half / 9 {
		fmt.Fprintf(&keys, `"k%d":1,`, i)
	}
	for name, schema := range map[string]string{
		"a long text":       `{"properties":{` + refs("#/x") + `},"x":{"description":"` + strings.Repeat("x", half) + `"}}`,
		"a long enum":       `{"properties":{` + refs("#/x") + `},"x":{"enum":[` + strings.Repeat("1,", half/2) + `1]}}`,
		"a long value":      `{"properties":{` + refs("#/x") + `},"x":{"default":"` + strings.Repeat("x", half) + `"}}`,
		"many keywords":     `{"properties":{` + refs("#/x") + `},"x":{` + keys.String() + `"k":1}}`,
		"a long reference":  `{"properties":{` + refs("#/x") + `},"x":{"properties":{` + strings.Repeat(`"a":{"$ref":"#`+deep[:200]+`"},`, 200) + `"b":{"$ref":"#` + deep[:half/2] + `"}}}}`,
		"each other":        `{"properties":{"a":{"$ref":"#/a"}},"a":{"allOf":[{"$ref":"#/b"},{"$ref":"#/b"}]},"b":{"anyOf":[{"$ref":"#/a"},{"$ref":"#/a"}]}}`,
		"patterns":          `{"properties":{` + refs("#/x") + `},"x":{"type":"string","pattern":"(a{500}b{500})|c{900}"}}`,
		"where few look":    `{"dependentSchemas":{"a":{"$ref":"#"}},"properties":{"a":{"type":"string"}}}`,
		"unions of unions":  `{"properties":{"a":` + strings.Repeat(`{"anyOf":[`, 5000) + `{}` + strings.Repeat(`]}`, 5000) + `}}`,
		"many odd types":    `{"properties":{"a":{"anyOf":[` + strings.Repeat(`{"type":"x1"},{"type":"x2"},`, 2000) + `{}]}}}`,
		"itself everywhere": `{"properties":{` + refs("#") + `}}`,
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			got := Clean(json.RawMessage(schema))
			if took := time.Since(begun); took > 30*time.Second {
				t.Errorf("%d bytes took %s", len(schema), took)
			}
			if err := params.Check(got); err != nil || len(got) > 2*maxSchemaBytes {
				t.Errorf("%d bytes: %v", len(got), err)
			}
		})
	}
}

func FuzzParameters(f *testing.F) {
	f.Add(`{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/A"}}}`)
	f.Add(`{"type":"object","properties":{"a":{"anyOf":[{"type":["string","null"]},true]}},"required":["a"]}`)
	f.Add(`{"properties":{"$ref":{"type":"string"},"description":{"enum":[1,"a"]}},"patternProperties":{"(":{}}}`)
	f.Fuzz(func(t *testing.T, schema string) {
		got := Clean(json.RawMessage(schema))
		var root struct {
			Type       string
			Properties map[string]struct {
				Type        any
				Description string
			}
		}
		if err := json.Unmarshal(got, &root); err != nil || root.Type != "object" || root.Properties == nil {
			t.Fatalf("%s: %v", got, err)
		}
		if err := params.Check(got); err != nil {
			t.Errorf("%s: %v", got, err)
		}
		for name, p := range root.Properties {
			if p.Type == nil || p.Description == "" {
				t.Errorf("%s lacks something: %s", name, got)
			}
		}
	})
}
