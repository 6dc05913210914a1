package modeltest_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/internal/modeltest"
)

func post(t *testing.T, c *http.Client, url, key, body string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := c.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}

const hello = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`

func TestAnswers(t *testing.T) {
	s := modeltest.Start("secret")
	defer s.Close()
	s.Push(modeltest.CallTool("list", map[string]string{"path": "."}))
	url := s.URL + "/v1/chat/completions"
	for _, c := range []struct{ key, body, want string }{
		{"wrong", hello, "Incorrect API key"},
		{"secret", hello, `"finish_reason":"tool_calls"`},
		{"secret", hello, `"content":"OK"`},
	} {
		if _, text, err := post(t, http.DefaultClient, url, c.key, c.body); err != nil || !strings.Contains(text, c.want) {
			t.Errorf("got %v %s, want %s", err, text, c.want)
		}
	}
	if n := len(s.Completions()); n != 2 || s.Total() != 3 {
		t.Errorf("%d completions, %d requests", n, s.Total())
	}
	if got := s.Completions()[0].LastUser(); got != "hello" {
		t.Errorf("the user said %q", got)
	}
}

func TestStreams(t *testing.T) {
	s := modeltest.Start("")
	defer s.Close()
	s.Respond(func(r modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: "good morning", Thinking: "morning?", Pieces: 3, Usage: &modeltest.Usage{Prompt: 7}}
	})
	_, text, err := post(t, http.DefaultClient, s.URL+"/v1/chat/completions", "", `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"reasoning_content":"morning?"`, `"content":"good"`, `"finish_reason":"stop"`, `"prompt_tokens":7`, "data: [DONE]"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "data: "); n != 8 {
		t.Errorf("%d events", n)
	}
}

func TestRefuses(t *testing.T) {
	s := modeltest.Start("")
	defer s.Close()
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	user, result := `{"role":"user","content":"hi"}`, `{"role":"tool","tool_call_id":"a","content":"x"}`
	answer := `{"role":"assistant","content":"hi"}`
	for name, body := range map[string]string{
		"is empty":                        `{"model":"m","messages":[]}`,
		"must provide a model":            `{"messages":[` + user + `]}`,
		"twice in a row":                  `{"model":"m","messages":[` + user + `,` + answer + `,` + answer + `]}`,
		"before any user":                 `{"model":"m","messages":[{"role":"assistant","content":"hi"}]}`,
		"no user message":                 `{"model":"m","messages":[{"role":"system","content":"hi"}]}`,
		"at the start":                    `{"model":"m","messages":[` + user + `,{"role":"system","content":"hi"}]}`,
		"without tool messages":           `{"model":"m","messages":[` + user + `,` + call + `]}`,
		"results of a are expected":       `{"model":"m","messages":[` + user + `,` + call + `,` + user + `]}`,
		"a tool message for":              `{"model":"m","messages":[` + user + `,` + result + `]}`,
		"used twice":                      `{"model":"m","messages":[` + user + `,` + call + `,` + result + `,` + call + `,` + result + `]}`,
		"no string":                       `{"model":"m","messages":[` + user + `,{"role":"assistant","content":null}]}`,
		"is blank":                        `{"model":"m","messages":[{"role":"user","content":" "}]}`,
		"exclude each other":              `{"model":"m","max_tokens":1,"max_completion_tokens":1,"messages":[` + user + `]}`,
		"'stream_options'":                `{"model":"m","stream_options":{"include_usage":true},"messages":[` + user + `]}`,
		"'tools' is too short":            `{"model":"m","tools":[],"messages":[` + user + `]}`,
		"'tool_choice'":                   `{"model":"m","tool_choice":"none","messages":[` + user + `]}`,
		"invalid schema":                  `{"model":"m","tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"messages":[` + user + `]}`,
		"no JSON object":                  `{"model":"m","messages":[` + user + `,` + strings.Replace(call, `"{}"`, `"{"`, 1) + `,` + result + `]}`,
		"half a surrogate pair":           `{"model":"m","messages":[{"role":"user","content":"\ud83d hi"}]}`,
		"arguments of a have half":        `{"model":"m","messages":[` + user + `,` + strings.Replace(call, `"{}"`, `"{\"a\":\"\\ud83d\"}"`, 1) + `,` + result + `]}`,
		"could not parse the JSON body":   `{`,
		"1 to 40 characters":              `{"model":"m","messages":[` + user + `,` + strings.Replace(call, `"id":"a"`, `"id":""`, 1) + `]}`,
		`unknown role \"developer\"`:      `{"model":"m","messages":[{"role":"developer","content":"hi"}]}`,
		`tool call name \"a b\" does not`: `{"model":"m","messages":[` + user + `,` + strings.Replace(call, `"f"`, `"a b"`, 1) + `]}`,
	} {
		resp, text, err := post(t, http.DefaultClient, s.URL+"/v1/chat/completions", "", body)
		if err != nil || resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, name) {
			t.Errorf("%s: %v %s", name, err, text)
		}
	}
	good := `{"model":"m","messages":[{"role":"user","content":"\ud83d\ude00 \\ud83d"},` + call + `,` + result + `,{"role":"assistant","content":"x"}]}`
	if resp, text, err := post(t, http.DefaultClient, s.URL+"/v1/chat/completions", "", good); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("a sound request: %v %s", err, text)
	}
}

func TestFaults(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		for fault, want := range map[modeltest.Fault]func(string, error) bool{
			modeltest.ResetBefore: func(_ string, err error) bool { return err != nil },
			modeltest.ResetAfter:  func(_ string, err error) bool { return err != nil },
			modeltest.Truncate:    func(text string, err error) bool { return err == nil && !strings.Contains(text, "stop") },
			modeltest.Malformed: func(text string, err error) bool {
				return err == nil && (!json.Valid([]byte(text)) || strings.Contains(text, "data: {\"choices\":[{\"delta\":\n"))
			},
		} {
			s := modeltest.Start("")
			s.Push(modeltest.Reply{Text: strings.Repeat("long ", 4000), Fault: fault})
			body := hello
			if streamed {
				body = strings.Replace(hello, "{", `{"stream":true,`, 1)
			}
			_, text, err := post(t, http.DefaultClient, s.URL+"/v1/chat/completions", "", body)
			if !want(text, err) {
				t.Errorf("%s, streamed %v: %v, %d bytes", fault, streamed, err, len(text))
			}
			s.Close()
		}
	}
}

func TestRules(t *testing.T) {
	respond, err := modeltest.Rules([]byte(`
# what is added
{"match":"^fail","status":429,"retryAfter":"2","times":1}
{"match":"^add (.*)","call":{"name":"file_write","arguments":{"content":"$1"}}}
{"role":"tool","match":"(.*)","text":"tool said $1"}
`))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(role, text string) modeltest.Reply {
		content, _ := json.Marshal(text)
		return respond(modeltest.Request{Messages: []modeltest.Message{{Role: role, Content: content}}})
	}
	if r := ask("user", "fail"); r.Status != 429 || r.RetryAfter != "2" {
		t.Errorf("fail: %+v", r)
	}
	if r := ask("user", "fail"); r.Text != "OK" {
		t.Errorf("fail again: %+v", r)
	}
	if r := ask("user", `add "milk"`); r.Calls[0].Arguments != `{"content":"\"milk\""}` {
		t.Errorf("add: %+v", r)
	}
	if r := ask("tool", "done"); r.Text != "tool said done" {
		t.Errorf("tool: %+v", r)
	}
	for _, bad := range []string{`{"match":"("}`, `{"mach":"x"}`, `{"role":"system"}`, `{"fault":"odd"}`, `{"delay":"5"}`} {
		if _, err := modeltest.Rules([]byte("\n" + bad)); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestControl(t *testing.T) {
	s := modeltest.Start("")
	defer s.Close()
	if resp, text, err := post(t, http.DefaultClient, s.URL+"/control/faults", "", `[{"status":503,"times":2}]`); err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatalf("%v %s", err, text)
	}
	for _, want := range []int{503, 503, 200} {
		if resp, _, err := post(t, http.DefaultClient, s.URL+"/v1/chat/completions", "", hello); err != nil || resp.StatusCode != want {
			t.Errorf("got %v %v, want %d", resp.StatusCode, err, want)
		}
	}
	resp, err := http.Get(s.URL + "/control/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var journal struct {
		Total    int
		Requests []modeltest.Entry
	}
	if err := json.NewDecoder(resp.Body).Decode(&journal); err != nil || journal.Total != 3 || journal.Requests[2].Request.LastUser() != "hello" {
		t.Errorf("%v %+v", err, journal)
	}
}

func TestDelaysInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, dial := modeltest.StartPipe("")
		transport := &http.Transport{DialContext: dial}
		s.Push(modeltest.Reply{Text: "slow answer", Delay: time.Hour, PieceDelay: time.Minute, Pieces: 2}, modeltest.Reply{Fault: modeltest.StallBefore})
		start := time.Now()
		body := strings.Replace(hello, "{", `{"stream":true,`, 1)
		resp, err := (&http.Client{Transport: transport}).Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "[DONE]") {
				break
			}
		}
		resp.Body.Close()
		if took := time.Since(start); took != time.Hour+time.Minute {
			t.Errorf("took %v", took)
		}
		client := &http.Client{Transport: transport, Timeout: time.Minute}
		if _, err := client.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(hello)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("a stall ends with %v", err)
		}
		transport.CloseIdleConnections()
		s.Close()
	})
}

func BenchmarkRequests(b *testing.B) {
	s := modeltest.Start("key")
	defer s.Close()
	body := `{"model":"m","stream":true,"messages":[{"role":"user","content":"` + strings.Repeat("hello ", 1000) + `"}]}`
	for b.Loop() {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer key")
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			b.Fatal(resp, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
