package self_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/self"
)

// settings is a configuration.
type settings struct{ said []string }

func (s *settings) Entries() []self.Entry {
	return []self.Entry{
		{Key: "agent.language", Value: "en", Settable: true},
		{Key: "agent.names", Value: "[a]", Settable: true},
		{Key: "agents", Value: "7"},
		{Key: "token", Value: "1234****"},
	}
}

func (s *settings) Settable(key string) error {
	if key == "token" {
		return tools.Refuse(tools.PolicyDenied, "%s is the owner's", key)
	}
	return nil
}

func (s *settings) Set(key, value string) error {
	if value == "bad" {
		return errors.New("disk full")
	}
	s.said = append(s.said, "set "+key+" "+value)
	return nil
}

type body struct{ broken bool }

func (body) Paths() []self.Entry { return []self.Entry{{Key: "workspace", Value: "/w"}} }

func (body) Sandbox() []self.Entry {
	return []self.Entry{{Key: "in use", Value: "bwrap: no network"}, {Key: "docker", Value: "not possible here"}}
}

func (body) Provider(_ context.Context, chat string) []self.Entry {
	return []self.Entry{{Key: "model", Value: "main in " + chat}, {Key: "key", Value: self.Mask("sk-abcdefghijkl")}}
}

func (b body) Stats(context.Context) ([]self.Entry, error) {
	if b.broken {
		return nil, errors.New("database is locked")
	}
	return []self.Entry{{Key: "version", Value: "test"}}, nil
}

func call(t *testing.T, a tools.Autonomy, b body, s *settings, name, arguments string) tools.Result {
	t.Helper()
	registry, err := tools.NewRegistry(self.New(self.Config{Configuration: s, Body: b})...)
	if err != nil {
		t.Fatal(err)
	}
	e := tools.NewExecutor(tools.ExecutorConfig{
		Registry: registry, Redact: new(redact.Set), Log: slog.New(slog.DiscardHandler),
		Policy: func() tools.Policy { return tools.Policy{Autonomy: a} },
	})
	r, err := e.Execute(t.Context(), tools.Call{ID: "c1", Name: name, Chat: "telegram_11", Arguments: json.RawMessage(arguments)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestConfigActions(t *testing.T) {
	for arguments, want := range map[string]struct{ output, said string }{
		`{"action":"get","key":"agent.language"}`:               {"agent.language = en  (settable)", ""},
		`{"action":"get","key":"agent"}`:                        {"agent.language = en  (settable)\nagent.names = [a]  (settable)", ""},
		`{"action":"get","key":"nothing"}`:                      {"Error: unknown key 'nothing'; the action list shows all keys", ""},
		`{"action":"list"}`:                                     {"agent.language = en  (settable)\nagent.names = [a]  (settable)\nagents = 7\ntoken = 1234****", ""},
		`{"action":"set","key":"agent.language","value":"ru"}`:  {"OK: agent.language = ru", "set agent.language ru"},
		`{"action":"set","key":"agent.language","value":5}`:     {"OK: agent.language = 5", "set agent.language 5"},
		`{"action":"set","key":"agent.language","value":""}`:    {"OK: agent.language = ", "set agent.language "},
		`{"action":"set","key":"agent.language","value":"bad"}`: {"Error: disk full", ""},
		`{"action":"append","key":"agent.names","value":"b"}`:   {"Error: agent.names is not a list; use the action set", ""},
		`{"action":"set","key":"token","value":"x"}`:            {"Error: token is the owner's", ""},
		`{"action":"delete","key":"agent.language"}`:            {"Error: parameter 'action' must be one of get, set, list, append", ""},
		`{"action":"set","value":"x"}`:                          {"Error: Missing required parameter: key", ""},
		`{"action":"append","key":"agent.names","value":null}`:  {"Error: agent.names is not a list; use the action set", ""},
		`{"action":"set","key":"agent.language","value":["a"]}`: {"Error: parameter 'value' must be of type string, not array", ""},
		`{"action":"set","key":"agent.language","valeu":"x"}`:   {"Error: unknown parameter 'valeu'; did you mean value?", ""},
	} {
		s := &settings{}
		if r := call(t, tools.Full, body{}, s, "config", arguments); r.Output != want.output || strings.Join(s.said, ";") != want.said {
			t.Errorf("%s\ngot  %q, %q\nwant %q, %q", arguments, r.Output, s.said, want.output, want.said)
		}
	}
}

func TestConfigPreValidatePerAutonomyLevel(t *testing.T) {
	const get, set, owners = `{"action":"get","key":"agents"}`, `{"action":"set","key":"agent.language","value":"ru"}`, `{"action":"set","key":"token","value":"x"}`
	for _, c := range []struct {
		autonomy  tools.Autonomy
		arguments string
		kind      tools.ErrorKind
	}{
		{tools.ReadOnly, get, ""},
		{tools.ReadOnly, set, tools.PolicyDenied},
		{tools.Supervised, get, ""},
		{tools.Supervised, set, tools.ApprovalDenied},  // asked, and nobody is there
		{tools.Supervised, owners, tools.PolicyDenied}, // refused before anybody is asked
		{tools.Full, set, ""},
		{tools.Full, owners, tools.PolicyDenied},
	} {
		s := &settings{}
		if r := call(t, c.autonomy, body{}, s, "config", c.arguments); r.ErrorKind != c.kind || !r.Success && len(s.said) > 0 {
			t.Errorf("%s %s: %s, %s", c.autonomy, c.arguments, r.ErrorKind, r.Output)
		}
	}
}

func TestSelfInfo(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"query":"config"}`:   "agent.language = en  (settable)\nagent.names = [a]  (settable)\nagents = 7\ntoken = 1234****",
		`{"query":"paths"}`:    "workspace: /w",
		`{"query":"sandbox"}`:  "in use: bwrap: no network\ndocker: not possible here",
		`{"query":"provider"}`: "model: main in telegram_11\nkey: sk-a****",
		`{"query":"stats"}`:    "version: test",
		`{"query":"secrets"}`:  "Error: parameter 'query' must be one of config, paths, sandbox, provider, stats, help",
	} {
		if r := call(t, "", body{}, &settings{}, "self_info", arguments); r.Output != want {
			t.Errorf("%s: got %q", arguments, r.Output)
		}
	}
	for _, name := range []string{"self_info", "engine_health"} {
		if r := call(t, "", body{}, &settings{}, name, ``); !r.Success || !strings.Contains(r.Output, "provider: which model") {
			t.Errorf("%s: %s", name, r.Output)
		}
	}
	if r := call(t, "", body{broken: true}, &settings{}, "self_info", `{"query":"stats"}`); r.Output != "Error: database is locked" {
		t.Error(r.Output)
	}
}

func TestMaskShortAndLongKeys(t *testing.T) {
	for secret, want := range map[string]string{
		"": "", "a": "****", "elevenchars": "****", "twelve-chars": "twel****", "ключ-очень-длинный": "ключ****",
	} {
		if got := self.Mask(secret); got != want {
			t.Errorf("%q: %q", secret, got)
		}
	}
}
