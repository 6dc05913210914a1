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
			who := &person{reply: func(_ context.Context, q tools.Question) tools.Reply {
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
			gone := &person{reply: func(context.Context, tools.Question) tools.Reply { return tools.Reply{Outcome: tools.Cancelled} }}
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

func TestServerFormWithoutAPerson(t *testing.T) {
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

func TestFormNeverAsksForSecrets(t *testing.T) {
	h := one(t, "plain")
	h.accept("test")
	for _, field := range []string{`"password":{"type":"string"}`, `"apiKey":{"type":"string"}`, `"x":{"type":"string","title":"Your access token"}`, `"card_number":{"type":"string","title":"Credit card number"}`, `"client_secret":{"type":"string"}`} {
		schema, _ := json.Marshal(map[string]string{"schema": `{"type":"object","properties":{` + field + `,"name":{"type":"string"}}}`}) // strings
		who := &person{reply: func(context.Context, tools.Question) tools.Reply { return write("hunter2") }}
		r := h.call("mcp_test_ask_form", string(schema), who)
		if r.Output != "decline null" || len(who.wanted) != 0 || len(who.refused) != 1 || !strings.HasPrefix(who.refused[0], "test ") {
			t.Errorf("%s: %+v, asked %+v, refused %q", field, r, who.wanted, who.refused)
		}
	}
	who := &person{reply: func(context.Context, tools.Question) tools.Reply { return write("100") }}
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
		who := &person{reply: func(_ context.Context, q tools.Question) tools.Reply { return choose(q, "opened") }}
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
	who := &person{reply: func(_ context.Context, q tools.Question) tools.Reply { return choose(q, "opened") }}
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
	who := &person{reply: func(ctx context.Context, _ tools.Question) tools.Reply {
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
