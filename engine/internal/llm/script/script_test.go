package script_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/script"
)

func parse(t *testing.T, text string) *script.Script {
	t.Helper()
	s, err := script.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func said(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{llm.Text(llm.RoleUser, text)}, Stream: true}
}

func resulted(tool, text string) llm.Request {
	r := said("hi")
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "1", Name: tool}}}},
		llm.Message{Role: llm.RoleTool, Blocks: []llm.Block{{Result: &llm.ToolResult{CallID: "1", Name: tool, Text: text}}}})
	return r
}

func quiet(llm.Event) {}

const example = `
# an example
user ^add "(.+)"
	think Hm.
	say Adding $1.
	say For $$1.
	call file_write {"content": "$1"}
	call list
user once
	say first
	times 1
user once
	say later
user cut
	say half of
	stop max_tokens
user bad
	call list path=.
user busy
	say Well
	fail overloaded no room for $0
result list (\d+) files
	say There are $1.
result * ^Error: (?P<why>.*)
	say No: ${why}
`

func TestFollowsTheScript(t *testing.T) {
	s := parse(t, example)
	for _, c := range []struct {
		ask   llm.Request
		text  string
		calls string
		stop  llm.Stop
	}{
		{said("Add \"a \"b\"\"\nplease"), "Adding a \"b\".\nFor $1.", `file_write {"content": "a \"b\""} list {}`, llm.StopCalls},
		{said("once"), "first", "", llm.StopEnd},
		{said("once"), "later", "", llm.StopEnd},
		{said("cut it"), "half of", "", llm.StopMaxTokens},
		{said("bad"), "", "list path=.", llm.StopCalls},
		{resulted("list", "12 files"), "There are 12.", "", llm.StopEnd},
		{resulted("file_read", "x\nError: not there"), "No: not there", "", llm.StopEnd},
	} {
		r, err := s.Stream(t.Context(), c.ask, quiet)
		var calls []string
		for _, call := range r.Message.Calls() {
			calls = append(calls, call.Name+" "+call.Arguments)
			if (call.Fault != "") != (call.Arguments == "path=.") {
				t.Errorf("call %+v", call)
			}
		}
		if err != nil || r.Message.PlainText() != c.text || strings.Join(calls, " ") != c.calls || r.Stop != c.stop {
			t.Errorf("%+v: %v %q %v %s", c.ask.Messages, err, r.Message.PlainText(), calls, r.Stop)
		}
	}
}

func TestForbiddenCallsStayAway(t *testing.T) {
	ask := said(`add "x"`)
	ask.NoTools = true
	r, err := parse(t, example).Stream(t.Context(), ask, quiet)
	if err != nil || len(r.Message.Calls()) != 0 || r.Stop != llm.StopEnd || r.Usage.Input <= 0 {
		t.Errorf("%v %+v", err, r)
	}
}

func TestFails(t *testing.T) {
	s := parse(t, example)
	_, err := s.Stream(t.Context(), said("busy"), quiet)
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Overloaded || !e.Started || e.Message != "no room for busy" {
		t.Errorf("busy: %v", err)
	}
	for _, ask := range []llm.Request{said("nothing like it"), resulted("odd", "nothing like it"), {}} {
		if _, err := s.Stream(t.Context(), ask, quiet); !errors.As(err, &e) || e.Kind != llm.BadRequest || e.Temporary() {
			t.Errorf("no rule: %v", err)
		}
	}
}

func TestStreamsWordByWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := parse(t, "user\n\tthink well now\n\tsay one  two\n\tsay three\n\tdelay 100ms")
		var pieces []string
		start := time.Now()
		if _, err := s.Stream(t.Context(), said("x"), func(e llm.Event) { pieces = append(pieces, e.Thinking+"|"+e.Text) }); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(pieces, ";"), "well |;now|;|one  ;|two\n;|three"; got != want || time.Since(start) != 500*time.Millisecond {
			t.Errorf("after %v: %q, want %q", time.Since(start), got, want)
		}
		ask := said("x")
		ask.Stream = false
		pieces = nil
		if _, err := s.Stream(t.Context(), ask, func(e llm.Event) { pieces = append(pieces, e.Text) }); err != nil || len(pieces) != 2 {
			t.Errorf("without streaming: %v %q", err, pieces)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
		if _, err := s.Stream(ctx, said("x"), quiet); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an ended context: %v", err)
		}
	})
}

func TestParseNamesTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "no rules",
		"\tsay x":                       "line 1: an indented line",
		"user\n\n\tshout x":             `line 3: unknown word "shout"`,
		"user (":                        "line 1: error parsing regexp",
		"robot x":                       "line 1: a rule begins with",
		"user\n\ttimes 0":               "line 2: times is",
		"user\n\ttimes x":               "line 2: ",
		"user\n\tdelay 5":               "line 2: ",
		"user\n\tfail oddly":            `line 2: unknown kind of error "oddly"`,
		"user\n\tcall":                  "line 2: call needs",
		"user\n\tcall f {\"a\": }":      "line 2: the arguments of f are not valid JSON",
		"user\n\tstop early":            "line 2: stop is",
		"user a\n\tsay b\n# c\nresul b": "line 4: ",
	} {
		if _, err := script.Parse(text); err == nil || !strings.HasPrefix(err.Error(), want) && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestDemo(t *testing.T) {
	for _, c := range []struct {
		ask         llm.Request
		text, calls string
	}{
		{said("What time is it?"), "I ask the clock.", "current_time {}"},
		{said("Который час?"), "", "current_time {}"},
		{said("write a note: buy \"milk\""), "", `file_write {"path": "notes.md", "content": "- buy \"milk\"\n", "mode": "append"}`},
		{said("запиши: молоко"), "", `"- молоко\n"`},
		{said("read notes"), "", `file_read {"path": "notes.md"}`},
		{said("read notes.md"), "", `file_read {"path": "notes.md"}`},
		{said("list files"), "", `file_list {}`},
		{said("show me the files in docs"), "", `file_list {"path": "docs"}`},
		{said("send telegram_123 hello you"), "", `send_message {"channel": "telegram", "chatId": "telegram_123", "text": "hello you"}`},
		{said("hello!"), "not an AI", ""},
		{said("write me a poem about the sea"), "I am a script, not an AI", ""},
		{resulted("current_time", "2026-01-02 03:04:05 Friday UTC"), "2026-01-02 03:04:05", ""},
		{resulted("file_write", "OK: file written to notes.md (12 bytes)"), "Done: file written to notes.md", ""},
		{resulted("file_read", "- milk\n- bread"), "- milk\n- bread", ""},
		{resulted("file_list", "a.md\ndocs/"), "a.md\ndocs/", ""},
		{resulted("send_message", "Error: chatId telegram_5 not in allowedChatIds"), "telegram_5 not in allowedChatIds", ""},
		{resulted("send_message", "OK: message sent"), "OK: message sent", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, err := script.Demo().Stream(t.Context(), c.ask, quiet)
			var calls string
			for _, call := range r.Message.Calls() {
				calls += call.Name + " " + call.Arguments + call.Fault
			}
			if err != nil || !strings.Contains(r.Message.PlainText(), c.text) || !strings.Contains(calls, c.calls) || c.calls == "" && calls != "" {
				t.Errorf("%q: %v %q %s", c.ask.Messages[0].PlainText(), err, r.Message.PlainText(), calls)
			}
		})
	}
}

func TestDemoFailsOnCue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := script.Demo()
		for _, want := range []string{"overloaded", "", ""} {
			_, err := s.Stream(t.Context(), said("fail once"), quiet)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("fail once: %v, want %q", err, want)
			}
		}
		for ask, kind := range map[string]llm.ErrorKind{"fail": llm.Quota, "fail slowly": llm.Network} {
			var e *llm.Error
			if _, err := s.Stream(t.Context(), said(ask), quiet); !errors.As(err, &e) || e.Kind != kind || e.Started != (ask == "fail slowly") {
				t.Errorf("%s: %v", ask, err)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(example)
	f.Add("result * (?P<a>.)\n\tcall x {\"a\":\"${a}\"}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := script.Parse(text)
		if (s == nil) == (err == nil) {
			t.Fatalf("%v %v", s, err)
		}
		if err != nil {
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // delays end at once
		if _, err := s.Stream(ctx, said(text), quiet); err != nil && ctx.Err() == nil {
			t.Errorf("%v", err)
		}
	})
}
