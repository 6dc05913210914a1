package tools_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"klawbot/tools"
)

func TestArgumentsAreFixed(t *testing.T) {
	e := executor(t, tools.ExecutorConfig{}, order())
	for name, c := range map[string]struct{ tool, arguments, want string }{
		"defaults":               {"order", `{"dish":"soup"}`, `{"dish":"soup","count":1,"size":"small"}`},
		"a number as a string":   {"order", `{"dish":"soup","count":"5"}`, `{"dish":"soup","count":5,"size":"small"}`},
		"a whole float":          {"order", `{"dish":"soup","count":5.0}`, `{"dish":"soup","count":5,"size":"small"}`},
		"an exponent":            {"order", `{"dish":"soup","count":1e1}`, `{"dish":"soup","count":10,"size":"small"}`},
		"a price as a string":    {"order", `{"dish":"soup","price":" 2.5 "}`, `{"dish":"soup","count":1,"size":"small","price":2.5}`},
		"a boolean as a string":  {"order", `{"dish":"soup","hot":"True"}`, `{"dish":"soup","count":1,"size":"small","hot":true}`},
		"a string as a number":   {"order", `{"dish":7}`, `{"dish":"7","count":1,"size":"small"}`},
		"one value for a list":   {"order", `{"dish":"soup","extras":"bread"}`, `{"dish":"soup","count":1,"size":"small","extras":["bread"]}`},
		"null for nothing":       {"order", `{"dish":"soup","table":null,"count":null}`, `{"dish":"soup","count":1,"size":"small"}`},
		"an alias of a name":     {"order", `{"meal":"soup"}`, `{"dish":"soup","count":1,"size":"small"}`},
		"an alias of two names":  {"order", `{"dish":"soup","hours":[12,"14"]}`, `{"dish":"soup","count":1,"size":"small","from":12,"to":14}`},
		"a preset":               {"buy_large", `{"dish":"soup"}`, `{"dish":"soup","count":2,"size":"large"}`},
		"a preset overridden":    {"buy_large", `{"dish":"soup","count":3}`, `{"dish":"soup","count":3,"size":"large"}`},
		"an object as a string":  {"order", `"{\"dish\":\"soup\"}"`, `{"dish":"soup","count":1,"size":"small"}`},
		"characters of all kind": {"order", `{"dish":"<суп> & \u0000"}`, `{"dish":"<суп> & \u0000","count":1,"size":"small"}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := call(t, e, c.tool, c.arguments)
			got := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(r.Output)
			if !r.Success || got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestFaultsAreNamed(t *testing.T) {
	e := executor(t, tools.ExecutorConfig{}, order())
	for name, c := range map[string]struct{ arguments, want string }{
		"blank":                  {` `, "Missing required parameter: dish"},
		"null":                   {`null`, "Missing required parameter: dish"},
		"a required null":        {`{"dish":null}`, "parameter 'dish' must be of type string, not null"},
		"an unknown field":       {`{"dish":"soup","dihs":"x"}`, "unknown parameter 'dihs'; did you mean dish?"},
		"a field like no other":  {`{"dish":"soup","weather":"x"}`, "unknown parameter 'weather'; there are count, dish, extras, from, hot, price, size, table, to"},
		"a wrong type":           {`{"dish":{"a":1}}`, "parameter 'dish' must be of type string, not object"},
		"no whole number":        {`{"dish":"soup","count":"2.5"}`, "parameter 'count' must be of type integer, not string"},
		"too small":              {`{"dish":"soup","count":0}`, "parameter 'count' must be at least 1"},
		"too large":              {`{"dish":"soup","count":21}`, "parameter 'count' must be at most 20"},
		"not in the list":        {`{"dish":"soup","size":"huge"}`, "parameter 'size' must be one of small, large"},
		"inside a list":          {`{"dish":"soup","extras":[{}]}`, "parameter 'extras.0' must be of type string, not object"},
		"both names":             {`{"dish":"soup","meal":"x"}`, "parameters 'meal' and 'dish' mean the same; give one"},
		"all faults":             {`{"count":0,"size":"huge"}`, "Missing required parameter: dish; parameter 'count' must be at least 1; parameter 'size' must be one of small, large"},
		"an array":               {`[1]`, `arguments must be a JSON object, such as {"path": "notes.md"}, not an array`},
		"a string":               {`"soup"`, `arguments must be a JSON object, such as {"path": "notes.md"}, not a string`},
		"malformed":              {`{"dish": soup}`, `malformed JSON arguments: invalid character 's' looking for beginning of value, after "{\"dish\": s"`},
		"cut off":                {`{"dish": "so`, `malformed JSON arguments: unexpected EOF: the text ends too early after "{\"dish\": \"so"`},
		"two objects":            {`{"dish":"a"} {"dish":"b"}`, `malformed JSON arguments: more text after the object: {"dish":"b"}`},
		"a number to choke on":   {`{"dish":"soup","price":1e999999999}`, "the number 1e999999999 is out of range"},
		"a range of three hours": {`{"dish":"soup","hours":[1,2,3]}`, "parameter 'hours' must be an array of up to 2 values: from, to"},
	} {
		t.Run(name, func(t *testing.T) {
			r := call(t, e, "order", c.arguments)
			if r.Success || r.Error != c.want || r.ErrorKind != tools.Validation {
				t.Errorf("got  %s (%s)\nwant %s", r.Error, r.ErrorKind, c.want)
			}
			if r.Output != "Error: "+r.Error {
				t.Errorf("the model reads %q", r.Output)
			}
		})
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"dish":"soup","count":"5"}`, `{"dish":`, `[[[[`, `"{}"`, `{"count":1e400,"hours":[1,[2]]}`, "{\"dish\":\"\xff\"}", `{"dish":"\ud800"}`} {
		f.Add(seed)
	}
	e := executor(f, tools.ExecutorConfig{}, order())
	f.Fuzz(func(t *testing.T, arguments string) {
		r := call(t, e, "order", arguments)
		if r.Success && !json.Valid([]byte(r.Output)) || !utf8.ValidString(r.Output) {
			t.Errorf("%q gave %q", arguments, r.Output)
		}
	})
}
