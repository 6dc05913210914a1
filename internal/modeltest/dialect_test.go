package modeltest_test

import (
	"net/http"
	"strings"
	"testing"

	"klawbot/internal/modeltest"
)

// postAs posts to a path in a dialect, with the header that Anthropic wants.
func postAs(t *testing.T, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "secret")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var text strings.Builder
	if err := resp.Write(&text); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, text.String()
}

func TestSpeaksInDialects(t *testing.T) {
	s := modeltest.Start("secret")
	defer s.Close()
	s.Respond(func(r modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: string(r.Dialect) + " " + r.System() + " " + r.LastUser(), Thinking: "hm", Calls: []modeltest.Call{{Name: "f", Arguments: `{"a":1}`}}}
	})
	for _, c := range []struct {
		path, body string
		want       []string
	}{
		{
			"/v1/messages", `{"model":"m","max_tokens":5,"system":[{"type":"text","text":"sys"}],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`,
			[]string{`"text":"anthropic sys hi"`, `"thinking":"hm","signature":"sig-`, `"input":{"a":1}`, `"stop_reason":"tool_use"`},
		},
		{
			"/v1/messages", `{"model":"m","max_tokens":5,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`,
			[]string{"event: ping", `"type":"signature_delta"`, `"partial_json":"{\"a`, "event: message_stop"},
		},
		{
			"/api/chat", `{"model":"m","stream":false,"messages":[{"role":"system","content":"sys"},{"role":"user","content":"hi"}]}`,
			[]string{`"content":"ollama sys hi"`, `"arguments":{"a":1}`, `"done_reason":"stop"`},
		},
		{"/api/chat", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, []string{`"thinking":"hm"`, `"done":false`, `"prompt_eval_count":`}},
		{"/api/show", `{}`, []string{`"tools"`}},
	} {
		status, text := postAs(t, s.URL+c.path, c.body)
		for _, want := range c.want {
			if status != 200 || !strings.Contains(text, want) {
				t.Errorf("%s: no %s in %d %s", c.path, want, status, text)
			}
		}
	}
}

func TestRefusesInDialects(t *testing.T) {
	s := modeltest.Start("secret")
	defer s.Close()
	s.SetCapabilities(0, "completion")
	user := `{"role":"user","content":[{"type":"text","text":"hi"}]}`
	use := `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`
	result := `{"type":"tool_result","tool_use_id":"a","content":"x"}`
	tool := `,"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}]`
	for _, c := range []struct{ path, body, want string }{
		{"/v1/messages", `"messages":[` + user + `]`, "max_tokens: field required"},
		{"/v1/messages", `"max_tokens":5,"messages":[` + user + `,` + user + `]`, "twice in a row"},
		{"/v1/messages", `"max_tokens":5,"messages":[` + use + `]`, "first message must use the user role"},
		{"/v1/messages", `"max_tokens":5,"messages":[` + user + `,` + use + `]`, "must define tools"},
		{"/v1/messages", `"max_tokens":5,"messages":[` + user + `,` + use + `,` + user + `]` + tool, "where the results of a are expected"},
		{"/v1/messages", `"max_tokens":5,"messages":[` + user + `,` + use + `,{"role":"user","content":[{"type":"text","text":"x"},` + result + `]}]` + tool, "must come first"},
		{"/v1/messages", `"max_tokens":5,"messages":[{"role":"user","content":[{"type":"text","text":" "}]}]`, "non-empty"},
		{"/v1/messages", `"max_tokens":5,"messages":[` + user + `,{"role":"assistant","content":[{"type":"text","text":"x "}]}]`, "trailing whitespace"},
		{"/v1/messages", `"max_tokens":5,"messages":[` + user + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"y"}]}]`, "invalid signature"},
		{"/v1/messages", `"max_tokens":1500,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[` + user + `]`, "greater than thinking.budget_tokens"},
		{"/v1/messages", `"max_tokens":2500,"temperature":0.5,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[` + user + `]`, "only be set to 1"},
		{"/v1/messages", `"max_tokens":5,"system":[` + strings.Repeat(`{"type":"text","text":"x","cache_control":{}},`, 4) + `{"type":"text","text":"x","cache_control":{}}],"messages":[` + user + `]`, "maximum of 4 blocks"},
		{"/api/chat", `"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]`, "does not support tools"},
		{"/api/chat", `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}]`, "an object is expected"},
		{"/api/chat", `"messages":[{"role":"user","content":"hi"},{"role":"tool","content":"x"}]`, "without tool_name"},
	} {
		if status, text := postAs(t, s.URL+c.path, `{"model":"m",`+c.body+`}`); status != 400 || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s, want %s", c.body, status, text, c.want)
		}
	}
}

func TestCutsAnswers(t *testing.T) {
	s := modeltest.Start("secret")
	defer s.Close()
	s.Push(modeltest.Reply{Text: "hello", Cut: 40}, modeltest.Reply{Text: "hello", Cut: 1 << 20})
	body := `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`
	for _, c := range []struct {
		whole bool
		min   int
	}{{false, 40}, {true, 400}} {
		_, text := postAs(t, s.URL+"/v1/chat/completions", body)
		if strings.Contains(text, "[DONE]") != c.whole || len(text) < c.min {
			t.Errorf("whole %v: %s", c.whole, text)
		}
	}
}
