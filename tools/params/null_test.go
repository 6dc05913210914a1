package params_test

import (
	"encoding/json"
	"testing"

	"klawbot/tools/params"
)

// TestNull: null arrives where the schema takes it, and means "left out" elsewhere.
func TestNull(t *testing.T) {
	const task = `"task":{"type":"string"}`
	for name, c := range map[string]struct{ schema, arguments, want string }{
		"mcp-null":               {`{"properties":{` + task + `,"due":{"type":["string","null"]}},"required":["task"]}`, `{"task":"a","due":null}`, `{"due":null,"task":"a"}`},
		"null first":             {`{"properties":{"due":{"type":["null","string"]}}}`, `{"due":null}`, `{"due":null}`},
		"a required one":         {`{"properties":{"due":{"type":["string","null"]}},"required":["due"]}`, `{"due":null}`, `{"due":null}`},
		"only null":              {`{"properties":{"due":{"type":"null"}}}`, `{"due":null}`, `{"due":null}`},
		"with a default":         {`{"properties":{"due":{"type":["string","null"],"default":"today"}}}`, `{"due":null}`, `{"due":null}`},
		"left out, default":      {`{"properties":{"due":{"type":["string","null"],"default":"today"}}}`, `{}`, `{"due":"today"}`},
		"left out, default null": {`{"properties":{"due":{"type":["string","null"],"default":null}}}`, `{}`, `{}`},
		"one of several":         {`{"properties":{"due":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"due":null}`, `{"due":null}`},
		"oneOf":                  {`{"properties":{"due":{"oneOf":[{"type":"integer"},{"type":["null","string"]}]}}}`, `{"due":null}`, `{"due":null}`},
		"in an enum":             {`{"properties":{"due":{"enum":["a",null]}}}`, `{"due":null}`, `{"due":null}`},
		"const":                  {`{"properties":{"due":{"anyOf":[{"const":null},{"type":"string"}]}}}`, `{"due":null}`, `{"due":null}`},
		"anything":               {`{"properties":{"value":{"description":"any value"}}}`, `{"value":null}`, `{"value":null}`},
		"anything, as true":      {`{"properties":{"value":true}}`, `{"value":null}`, `{"value":null}`},
		"not described":          {`{"properties":{}}`, `{"value":null}`, `{"value":null}`},
		"in an object":           {`{"properties":{"at":{"type":"object","properties":{"due":{"type":["string","null"]}}}}}`, `{"at":{"due":null}}`, `{"at":{"due":null}}`},
		"in an object or null":   {`{"properties":{"at":{"type":["object","null"],"properties":{"n":{"type":"integer"},"due":{"type":["string","null"]}}}}}`, `{"at":{"due":null,"n":null}}`, `{"at":{"due":null}}`},
		"in a list":              {`{"properties":{"all":{"type":"array","items":{"type":["integer","null"]}}}}`, `{"all":[1,null,"2"]}`, `{"all":[1,null,2]}`},
		"in objects of a list":   {`{"properties":{"all":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["string","null"]}}}}}}`, `{"all":[{"a":null,"b":null}]}`, `{"all":[{"b":null}]}`},
		"a list or null":         {`{"properties":{"all":{"type":["array","null"],"items":{"type":"string"}}}}`, `{"all":null}`, `{"all":null}`},

		"not for a string":        {`{"properties":{"due":{"type":"string"}}}`, `{"due":null}`, `{}`},
		"not for an enum":         {`{"properties":{"due":{"type":"string","enum":["a","b"]}}}`, `{"due":null}`, `{}`},
		"not for a nullable enum": {`{"properties":{"due":{"type":["string","null"],"enum":["a","b"]}}}`, `{"due":null}`, `{}`},
		"not for several":         {`{"properties":{"due":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`, `{"due":null}`, `{}`},
		"default instead":         {`{"properties":{"due":{"type":"string","default":"today"}}}`, `{"due":null}`, `{"due":"today"}`},
		"not inside":              {`{"properties":{"at":{"type":"object","properties":{"due":{"type":"string"}}}}}`, `{"at":{"due":null}}`, `{"at":{}}`},
		"required inside":         {`{"properties":{"at":{"type":"object","properties":{"due":{"type":"string"}},"required":["due"]}}}`, `{"at":{"due":null}}`, "parameter 'at.due' must be of type string, not null"},

		"a number in a text": {`{"properties":{"n":{"type":["integer","null"]}}}`, `{"n":"5"}`, `{"n":5}`},
		"empty is no null":   {`{"properties":{"due":{"type":["string","null"]}}}`, `{"due":""}`, `{"due":""}`},
		"zero and false":     {`{"properties":{"n":{"type":["integer","null"]},"b":{"type":["boolean","null"]}}}`, `{"n":0,"b":false}`, `{"b":false,"n":0}`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := params.Compile(json.RawMessage(`{"type":"object",` + c.schema[1:]))
			if err != nil {
				t.Fatal(err)
			}
			args, err := params.Parse(json.RawMessage(c.arguments))
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Arguments(args, len(c.arguments))
			if err != nil {
				got = []byte(err.Error())
			}
			if string(got) != c.want {
				t.Errorf("%s became %s, want %s", c.arguments, got, c.want)
			}
		})
	}
}
