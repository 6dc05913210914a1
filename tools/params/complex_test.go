package params_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"klawbot/tools/params"
)

// soon fails the test when the check takes longer than a check may.
func soon(t *testing.T, check func()) {
	t.Helper()
	begun := time.Now()
	check()
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("the check took %s", took)
	}
}

// nested is a list in a list in a list …
func nested(depth int, inner string) string {
	return strings.Repeat("[", depth) + inner + strings.Repeat("]", depth)
}

// check says what is wrong with arguments by a schema.
func check(schema, arguments string) error {
	s, err := params.Compile(json.RawMessage(schema))
	if err != nil {
		return err
	}
	args, err := params.Parse(json.RawMessage(arguments))
	if err != nil {
		return err
	}
	_, err = s.Arguments(args, len(arguments))
	return err
}

// TestValidationHasABudget: schemas of others and what a model sends them.
func TestValidationHasABudget(t *testing.T) {
	list := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	words := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"w%d"`, i))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	properties := func(n int) string { return strings.ReplaceAll(strings.Trim(words(n), "[]"), `",`, `":1,`) + ":1" }
	branches := func(n int) string { return list(n, `{"type":"object","required":["z"]}`) }
	const tooComplex, fine = "too complex to check", ""
	for name, c := range map[string]struct{ schema, arguments, want string }{
		"an enum":               {`{"a":{"enum":` + words(5000) + `}}`, `{"a":"w4999"}`, fine},
		"an enum, not in it":    {`{"a":{"enum":` + words(5000) + `}}`, `{"a":"x"}`, "must be one of w0, w1"},
		"an enum of each item":  {`{"a":{"items":{"enum":` + words(5000) + `}}}`, `{"a":` + list(20_000, `"w4999"`) + `}`, tooComplex},
		"what differs":          {`{"a":{"uniqueItems":true}}`, `{"a":` + words(20_000) + `}`, fine},
		"what does not":         {`{"a":{"uniqueItems":true}}`, `{"a":` + list(20_000, `"w"`) + `}`, "equal"},
		"a long list":           {`{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"integer"}}}}}`, `{"a":` + list(20_000, `{"b":1}`) + `}`, fine},
		"branches":              {`{"a":{"items":{"anyOf":` + branches(500) + `}}}`, `{"a":` + list(20_000, `{}`) + `}`, tooComplex},
		"branches of branches":  {`{"a":{"allOf":[` + strings.Repeat(`{"anyOf":[`, 40) + `{}` + strings.Repeat(`]}`, 40) + `]}}`, `{"a":1}`, fine},
		"a pattern":             {`{"a":{"type":"string","pattern":"^[a-z0-9 ]{1,200}$|^x"}}`, `{"a":"` + strings.Repeat("x", 100_000) + `"}`, fine},
		"a large pattern":       {`{"a":{"type":"string","pattern":"(a.{0,500}){2}b"}}`, `{"a":"` + strings.Repeat("a", 300_000) + `"}`, tooComplex},
		"patterns for names":    {`{"a":{"patternProperties":{"(a.{0,500}){2}b":{}}}}`, `{"a":{` + properties(20_000) + `}}`, tooComplex},
		"unknown names":         {`{}`, `{` + properties(20_000) + `}`, "unknown parameter 'w0'"},
		"numbers out of range":  {`{"a":{}}`, `{"a":` + list(100_000, `1e999`) + `}`, "out of range"},
		"numbers":               {`{"a":{"items":{"type":"integer","minimum":0}}}`, `{"a":` + list(20_000, `"1e300"`) + `}`, "must be of type integer"},
		"many faults":           {`{"a":{"items":{"type":"integer"}}}`, `{"a":` + list(20_000, `"x"`) + `}`, "parameter 'a.0' must be of type integer"},
		"arguments of no depth": {`{"a":{"items":{"items":{"items":{}}}}}`, `{"a":` + nested(9000, "1") + `}`, fine},
	} {
		t.Run(name, func(t *testing.T) {
			reason := ""
			soon(t, func() {
				if err := check(`{"type":"object","additionalProperties":false,"properties":`+c.schema+`}`, c.arguments); err != nil {
					reason = err.Error()
				}
			})
			if reason == "" != (c.want == fine) || !strings.Contains(reason, c.want) {
				t.Errorf("%.200s, want %q", reason, c.want)
			}
			if len(reason) > 10_000 {
				t.Errorf("the reason has %d bytes", len(reason))
			}
		})
	}
}

// TestSchemasThatAreRefused: what is short to write and endless to validate.
func TestSchemasThatAreRefused(t *testing.T) {
	var twice strings.Builder
	for i := range 40 {
		fmt.Fprintf(&twice, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	for name, schema := range map[string]string{
		"each twice":      `{"type":"object","$ref":"#/$defs/d0","$defs":{` + twice.String() + `"d40":{}}}`,
		"to itself":       `{"type":"object","properties":{"a":{"$ref":"#"}}}`,
		"in disguise":     `{"type":"object","properties":{"a":{"\u0024ref":"#"}}}`,
		"a dynamic one":   `{"type":"object","properties":{"a":{"$dynamicRef":"#"}}}`,
		"a large pattern": `{"type":"object","properties":{"a":{"pattern":"(x{1000}|y{1000}){1}z{999}"}}}`,
		"a deep one":      `{"type":"object","not":` + strings.Repeat(`{"not":`, 200) + `{}` + strings.Repeat(`}`, 201),
		"many patterns":   `{"type":"object","properties":{` + manyPatterns(2000) + `}}`,
	} {
		soon(t, func() {
			if err := params.Check([]byte(schema)); err == nil {
				t.Errorf("%s is accepted", name)
			}
		})
	}
	if err := params.Check([]byte(`{"type":"object","properties":{"$ref":{"type":"string"}}}`)); err != nil {
		t.Errorf("a parameter of that name: %v", err)
	}
}

func manyPatterns(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"p%d":{"pattern":"x{900}y{900}|%d"}`, i, i)
	}
	return strings.Join(all, ",")
}
