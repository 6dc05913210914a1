package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"klawbot/tools"
	"klawbot/tools/mcp"
)

func TestServerAsksThePerson(t *testing.T) {
	for _, version := range []string{"", "2025-06-18"} {
		t.Run("protocol "+version, func(t *testing.T) {
			c := child(t, "plain")
			c.ProtocolVersion = version
			h := newHouse(t, map[string]mcp.Server{"test": c})
			h.accept("test")
			who := &person{reply: func(_ context.Context, q tools.Inquiry) tools.Reply {
				if q.Step == 1 {
					return choose(q, "no")
				}
				return write("red")
			}}
			if r := h.call("mcp_test_ask", "{}", who); r.Output != `accept {"color":"red","sure":false}` {
				t.Errorf("%+v", r)
			}
			if len(who.wanted) != 2 || who.wanted[0].Call.ID == who.wanted[1].Call.ID {
				t.Fatalf("asked %+v", who.wanted)
			}
			if q := who.wanted[0]; q.From != "test" || q.Text != "Delete all 3 files?" || q.Field != "sure" || q.Steps != 2 || q.Typed || q.Call.Chat != "telegram_1" {
				t.Errorf("asked %+v", q)
			}
			if r := h.call("mcp_test_ask", "{}", &person{}); r.Output != "decline null" {
				t.Errorf("a person who declines: %+v", r)
			}
			gone := &person{reply: func(context.Context, tools.Inquiry) tools.Reply { return tools.Reply{Outcome: tools.Cancelled} }}
			if r := h.call("mcp_test_ask", "{}", gone); r.Output != "cancel null" || len(gone.wanted) != 1 {
				t.Errorf("a person who does not answer: %+v after %d questions", r, len(gone.wanted))
			}
			if r := h.call("mcp_test_ask", "{}", tools.Always{}); r.Output != `accept {"color":"blue","sure":true}` {
				t.Errorf("an owner who agreed beforehand: %+v", r)
			}
		})
	}
}

// yesSayer can say yes to a call and nothing else.
type yesSayer struct{ tools.Approver }

func TestServerAsksWhereNobodyCanAnswer(t *testing.T) {
	h := one(t, "plain", "ask")
	h.accept("test")
	for name, who := range map[string]tools.Approver{"nobody": nil, "somebody who cannot write": yesSayer{tools.Always{}}} {
		if r := h.call("mcp_test_ask", "{}", who); r.Output != "decline null" {
			t.Errorf("%s: %+v", name, r)
		}
	}
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
	h := one(t, "plain")
	h.accept("test")
	const titled = `{"type":"string","oneOf":[{"const":"h1","title":"Superman"},{"const":"h2","title":"Batman"}],"default":"h2"}`
	const several = `{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["Guitar","Piano","Drums"]}}`
	for name, tt := range map[string]struct {
		schema string
		answer []string // "=x" writes x, else an option is chosen
		want   string
		flaw   tools.Flaw
	}{
		"text":             {formed(`{"type":"string"}`, true), []string{"= Ada "}, `accept {"f":"Ada"}`, ""},
		"integer":          {formed(`{"type":"integer","minimum":1}`, true), []string{"=42"}, `accept {"f":42}`, ""},
		"number":           {formed(`{"type":"number"}`, true), []string{"=3,5"}, `accept {"f":3.5}`, ""},
		"kept":             {formed(`{"type":"integer","default":7}`, false), []string{"keep"}, `accept {"f":7}`, ""},
		"skipped":          {formed(`{"type":"string","format":"email"}`, false), []string{"skip"}, `accept null`, ""},
		"enum":             {formed(`{"type":"string","enum":["red","blue"]}`, true), []string{"blue"}, `accept {"f":"blue"}`, ""},
		"enum of titles":   {formed(titled, true), []string{"Superman"}, `accept {"f":"h1"}`, ""},
		"old enum":         {formed(`{"type":"string","enum":["a","b"],"enumNames":["Ay","Bee"]}`, true), []string{"Bee"}, `accept {"f":"b"}`, ""},
		"several":          {formed(several, true), []string{"=1, drums"}, `accept {"f":["Guitar","Drums"]}`, ""},
		"nothing to fill":  {`{"type":"object"}`, []string{"yes"}, `accept null`, ""},
		"no number, then":  {formed(`{"type":"number"}`, true), []string{"=two", "=2"}, `accept {"f":2}`, tools.FlawNumber},
		"no integer":       {formed(`{"type":"integer"}`, true), []string{"=2.5", "=2"}, `accept {"f":2}`, tools.FlawInteger},
		"too small":        {formed(`{"type":"integer","minimum":3}`, true), []string{"=2", "=3"}, `accept {"f":3}`, tools.FlawSmall},
		"too large":        {formed(`{"type":"number","maximum":3}`, true), []string{"=4", "=3"}, `accept {"f":3}`, tools.FlawLarge},
		"too short":        {formed(`{"type":"string","minLength":2}`, true), []string{"=ж", "=же"}, `accept {"f":"же"}`, tools.FlawShort},
		"too long":         {formed(`{"type":"string","maxLength":2}`, true), []string{"=жеж", "=же"}, `accept {"f":"же"}`, tools.FlawLong},
		"no email":         {formed(`{"type":"string","format":"email"}`, true), []string{"=Ada <a@b.org>", "=a@b.org"}, `accept {"f":"a@b.org"}`, tools.FlawForm},
		"no date":          {formed(`{"type":"string","format":"date"}`, true), []string{"=1.2.2026", "=2026-02-01"}, `accept {"f":"2026-02-01"}`, tools.FlawForm},
		"no time":          {formed(`{"type":"string","format":"date-time"}`, true), []string{"=noon", "=2026-02-01T12:00:00Z"}, `accept {"f":"2026-02-01T12:00:00Z"}`, tools.FlawForm},
		"no address":       {formed(`{"type":"string","format":"uri"}`, true), []string{"=here", "=https://a.org/x"}, `accept {"f":"https://a.org/x"}`, tools.FlawForm},
		"no option":        {formed(several, true), []string{"=Tuba", "=Piano"}, `accept {"f":["Piano"]}`, tools.FlawOption},
		"too many options": {formed(several, true), []string{"=1,2,3", "=1,2"}, `accept {"f":["Guitar","Piano"]}`, tools.FlawMany},
		"wrong once more":  {formed(`{"type":"integer"}`, true), []string{"=a", "=b"}, `cancel null`, tools.FlawInteger},
		"a nested form":    {formed(`{"type":"object"}`, true), nil, `Error`, ""},
		"a list of lists":  {formed(`{"type":"array","items":{"type":"string"}}`, true), nil, `Error`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			who := &person{reply: func(_ context.Context, q tools.Inquiry) tools.Reply {
				answer := tt.answer[n]
				n++
				if text, written := strings.CutPrefix(answer, "="); written && q.Typed {
					return write(text)
				}
				return choose(q, answer)
			}}
			schema, err := json.Marshal(map[string]string{"schema": tt.schema})
			if err != nil {
				t.Fatal(err)
			}
			r := h.call("mcp_test_ask_form", string(schema), who)
			if !strings.HasPrefix(r.Output, tt.want) || n != len(tt.answer) {
				t.Errorf("%q after %d answers, want %q after %d", r.Output, n, tt.want, len(tt.answer))
			}
			if len(who.wanted) > 1 && who.wanted[1].Flaw != tt.flaw {
				t.Errorf("the flaw is %q, want %q", who.wanted[1].Flaw, tt.flaw)
			}
		})
	}
}

// TestFormWithDefaultsIsLookedAtFirst: it can be left as it is with one answer.
func TestFormWithDefaultsIsLookedAtFirst(t *testing.T) {
	h := one(t, "plain")
	h.accept("test")
	const schema = `{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"default\":\"x\"},\"b\":{\"type\":\"integer\",\"default\":2},\"c\":{\"type\":\"string\"}}}`
	who := &person{reply: func(_ context.Context, q tools.Inquiry) tools.Reply { return choose(q, "as it is") }}
	r := h.call("mcp_test_ask_form", `{"schema":"`+schema+`"}`, who)
	if r.Output != `accept {"a":"x","b":2}` || len(who.wanted) != 1 || who.wanted[0].Field != "a: x\nb: 2\nc: –" {
		t.Errorf("%+v after %+v", r, who.wanted)
	}
	who = &person{reply: func(_ context.Context, q tools.Inquiry) tools.Reply {
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
	if r := h.call("mcp_test_ask_form", `{"schema":"`+schema+`"}`, who); r.Output != `accept {"a":"x","b":3}` {
		t.Errorf("%+v", r)
	}
}

func TestNobodyIsAskedForSecrets(t *testing.T) {
	h := one(t, "plain")
	h.accept("test")
	for _, field := range []string{`"password":{"type":"string"}`, `"apiKey":{"type":"string"}`, `"x":{"type":"string","title":"Your access token"}`, `"card_number":{"type":"string","title":"Credit card number"}`, `"client_secret":{"type":"string"}`} {
		schema, _ := json.Marshal(map[string]string{"schema": `{"type":"object","properties":{` + field + `,"name":{"type":"string"}}}`}) // strings
		who := &person{reply: func(context.Context, tools.Inquiry) tools.Reply { return write("hunter2") }}
		r := h.call("mcp_test_ask_form", string(schema), who)
		if r.Output != "decline null" || len(who.wanted) != 0 || len(who.refused) != 1 || !strings.HasPrefix(who.refused[0], "test ") {
			t.Errorf("%s: %+v, asked %+v, refused %q", field, r, who.wanted, who.refused)
		}
	}
	who := &person{reply: func(context.Context, tools.Inquiry) tools.Reply { return write("100") }}
	schema, _ := json.Marshal(map[string]string{"schema": formed(`{"type":"integer","title":"max_tokens"}`, true)}) // strings
	if r := h.call("mcp_test_ask_form", string(schema), who); r.Output != `accept {"f":100}` {
		t.Errorf("%+v", r)
	}
}

func TestPagesToOpen(t *testing.T) {
	h := one(t, "plain")
	h.accept("test")
	for page, want := range map[string]string{
		"https://example.com/connect?x=1":            "accept null",
		"http://127.0.0.1:8080/connect":              "accept null",
		"http://example.com/connect":                 "decline null",
		"https://bank.com@evil.example/":             "decline null",
		"https://b\u0430nk.com/":                     "decline null",
		"javascript:alert(1)":                        "decline null",
		"file:///etc/passwd":                         "decline null",
		"https://x.org/" + strings.Repeat("x", 2000): "decline null",
	} {
		who := &person{reply: func(_ context.Context, q tools.Inquiry) tools.Reply { return choose(q, "opened") }}
		r := h.call("mcp_test_ask_page", `{"url":"`+page+`"}`, who)
		if r.Output != want {
			t.Errorf("%s: %+v, want %s", page, r, want)
		}
		if want == "accept null" && (len(who.wanted) != 1 || who.wanted[0].Page != page || who.wanted[0].Text != "Connect your account.") {
			t.Errorf("%s: asked %+v", page, who.wanted)
		}
		if r := h.call("mcp_test_ask_page", `{"url":"`+page+`"}`, tools.Always{}); r.Output != "decline null" {
			t.Errorf("%s, without a look at it: %+v", page, r)
		}
	}
}

// TestPageBeforeACall: the server does nothing before a page was opened, and is
// called again then.
func TestPageBeforeACall(t *testing.T) {
	h := one(t, "plain", "connect")
	h.accept("test")
	who := &person{reply: func(_ context.Context, q tools.Inquiry) tools.Reply { return choose(q, "opened") }}
	if r := h.call("mcp_test_connect", "{}", who); r.Output != "connected" || len(who.wanted) != 1 || who.wanted[0].Page != "https://example.com/connect" || who.wanted[0].Text != "Connect first." {
		t.Errorf("%+v, asked %+v", r, who.wanted)
	}
	if r := h.call("mcp_test_connect", "{}", &person{}); r.Success {
		t.Errorf("nobody opened it: %+v", r)
	}
}

// TestQuestionEndsWithItsCall: a call that is stopped takes its question along.
func TestQuestionEndsWithItsCall(t *testing.T) {
	h := one(t, "plain", "ask")
	h.accept("test")
	ctx, stop := context.WithCancel(t.Context())
	ended := false
	who := &person{reply: func(ctx context.Context, _ tools.Inquiry) tools.Reply {
		stop()
		<-ctx.Done()
		ended = true
		return tools.Reply{Outcome: tools.Cancelled}
	}}
	_, _ = h.executor.Execute(ctx, tools.Call{ID: "stopped", Name: "mcp_test_ask", Arguments: json.RawMessage("{}"), Approver: who}, nil) // it was stopped
	if !ended {
		t.Error("the person is still asked")
	}
}
