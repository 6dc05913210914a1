package form_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"klawbot/tools"
	"klawbot/tools/mcp/form"
)

// person answers, and remembers what was asked.
type person struct {
	reply func(q tools.Question, n int) tools.Reply // n counts the questions before
	asked []tools.Question
}

// fill has the person fill in a form, and says what came of it.
func (p *person) fill(t *testing.T, schema string) string {
	t.Helper()
	f, err := form.Read(json.RawMessage(schema))
	if err != nil {
		return "error"
	}
	content, outcome, err := f.Ask(t.Context(), func(_ context.Context, q tools.Question) (tools.Reply, error) {
		p.asked = append(p.asked, q)
		return p.reply(q, len(p.asked)-1), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return string(outcome) + " " + string(text)
}

// choose is a reply that takes the option of a word or a text, and write one that
// is written.
func choose(q tools.Question, name string) tools.Reply {
	i := slices.IndexFunc(q.Options, func(o tools.Option) bool { return string(o.Word) == name || o.Word == "" && o.Text == name })
	if i < 0 {
		return tools.Reply{Outcome: tools.Cancelled}
	}
	return tools.Reply{Outcome: tools.Answered, Option: i}
}

func write(text string) tools.Reply {
	return tools.Reply{Outcome: tools.Answered, Option: -1, Text: text}
}

// formed is a form of one field.
func formed(field string, required bool) string {
	schema := `{"type":"object","properties":{"f":` + field + `}`
	if required {
		schema += `,"required":["f"]`
	}
	return schema + "}"
}

func TestAnswersAreOfTheFormsKind(t *testing.T) {
	const titled = `{"type":"string","oneOf":[{"const":"h1","title":"Superman"},{"const":"h2","title":"Batman"}],"default":"h2"}`
	const several = `{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["Guitar","Piano","Drums"]}}`
	for name, tt := range map[string]struct {
		schema string
		answer []string // "=x" writes x, else an option is chosen
		want   string
		flaw   tools.Flaw
	}{
		"text":             {formed(`{"type":"string"}`, true), []string{"= Ada "}, `answered {"f":"Ada"}`, ""},
		"integer":          {formed(`{"type":"integer","minimum":1}`, true), []string{"=42"}, `answered {"f":42}`, ""},
		"number":           {formed(`{"type":"number"}`, true), []string{"=3,5"}, `answered {"f":3.5}`, ""},
		"kept":             {formed(`{"type":"integer","default":7}`, false), []string{"keep"}, `answered {"f":7}`, ""},
		"skipped":          {formed(`{"type":"string","format":"email"}`, false), []string{"skip"}, `answered {}`, ""},
		"enum":             {formed(`{"type":"string","enum":["red","blue"]}`, true), []string{"blue"}, `answered {"f":"blue"}`, ""},
		"enum of titles":   {formed(titled, true), []string{"Superman"}, `answered {"f":"h1"}`, ""},
		"old enum":         {formed(`{"type":"string","enum":["a","b"],"enumNames":["Ay","Bee"]}`, true), []string{"Bee"}, `answered {"f":"b"}`, ""},
		"several":          {formed(several, true), []string{"=1, drums"}, `answered {"f":["Guitar","Drums"]}`, ""},
		"nothing to fill":  {`{"type":"object"}`, []string{"yes"}, `answered {}`, ""},
		"no number, then":  {formed(`{"type":"number"}`, true), []string{"=two", "=2"}, `answered {"f":2}`, tools.FlawNumber},
		"no integer":       {formed(`{"type":"integer"}`, true), []string{"=2.5", "=2"}, `answered {"f":2}`, tools.FlawInteger},
		"too small":        {formed(`{"type":"integer","minimum":3}`, true), []string{"=2", "=3"}, `answered {"f":3}`, tools.FlawSmall},
		"too large":        {formed(`{"type":"number","maximum":3}`, true), []string{"=4", "=3"}, `answered {"f":3}`, tools.FlawLarge},
		"too short":        {formed(`{"type":"string","minLength":2}`, true), []string{"=ж", "=же"}, `answered {"f":"же"}`, tools.FlawShort},
		"too long":         {formed(`{"type":"string","maxLength":2}`, true), []string{"=жеж", "=же"}, `answered {"f":"же"}`, tools.FlawLong},
		"no email":         {formed(`{"type":"string","format":"email"}`, true), []string{"=Ada <a@b.org>", "=a@b.org"}, `answered {"f":"a@b.org"}`, tools.FlawForm},
		"no date":          {formed(`{"type":"string","format":"date"}`, true), []string{"=1.2.2026", "=2026-02-01"}, `answered {"f":"2026-02-01"}`, tools.FlawForm},
		"no time":          {formed(`{"type":"string","format":"date-time"}`, true), []string{"=noon", "=2026-02-01T12:00:00Z"}, `answered {"f":"2026-02-01T12:00:00Z"}`, tools.FlawForm},
		"no address":       {formed(`{"type":"string","format":"uri"}`, true), []string{"=here", "=https://a.org/x"}, `answered {"f":"https://a.org/x"}`, tools.FlawForm},
		"no option":        {formed(several, true), []string{"=Tuba", "=Piano"}, `answered {"f":["Piano"]}`, tools.FlawOption},
		"too many options": {formed(several, true), []string{"=1,2,3", "=1,2"}, `answered {"f":["Guitar","Piano"]}`, tools.FlawMany},
		"wrong once more":  {formed(`{"type":"integer"}`, true), []string{"=a", "=b"}, `cancelled null`, tools.FlawInteger},
		"a nested form":    {formed(`{"type":"object"}`, true), nil, `error`, ""},
		"a list of lists":  {formed(`{"type":"array","items":{"type":"string"}}`, true), nil, `error`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := &person{reply: func(q tools.Question, n int) tools.Reply {
				if text, written := strings.CutPrefix(tt.answer[n], "="); written && q.Typed {
					return write(text)
				}
				return choose(q, tt.answer[n])
			}}
			got := p.fill(t, tt.schema)
			if got != tt.want || len(p.asked) != len(tt.answer) {
				t.Errorf("%q after %d answers, want %q after %d", got, len(p.asked), tt.want, len(tt.answer))
			}
			if len(p.asked) > 1 && p.asked[1].Flaw != tt.flaw {
				t.Errorf("the flaw is %q, want %q", p.asked[1].Flaw, tt.flaw)
			}
		})
	}
}

// TestFormWithDefaultsIsLookedAtFirst: it can be left as it is with one answer.
func TestFormWithDefaultsIsLookedAtFirst(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"type":"string","default":"x"},"b":{"type":"integer","default":2},"c":{"type":"string"}}}`
	p := &person{reply: func(q tools.Question, _ int) tools.Reply { return choose(q, "as it is") }}
	if got := p.fill(t, schema); got != `answered {"a":"x","b":2}` || len(p.asked) != 1 || p.asked[0].Field != "a: x\nb: 2\nc: –" {
		t.Errorf("%s after %+v", got, p.asked)
	}
	p = &person{reply: func(q tools.Question, _ int) tools.Reply {
		switch q.Step {
		case 0:
			return choose(q, "change")
		case 1:
			return choose(q, "keep")
		case 2:
			return write("3")
		}
		return choose(q, "skip")
	}}
	if got := p.fill(t, schema); got != `answered {"a":"x","b":3}` {
		t.Error(got)
	}
}
