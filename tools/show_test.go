package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"klawbot/internal/redact"
	"klawbot/tools"
)

func TestShownArgumentsHideNothing(t *testing.T) {
	var secrets redact.Set
	secrets.Add("hunter2secret")
	for name, c := range map[string]struct{ arguments, want string }{
		"by name":                     {`{"path":"b","count":5,"a":true}`, "a: true\ncount: 5\npath: \"b\""},
		"lines":                       {`{"code":"a = \"\\\\n\\u202e\"\nb\t2\n","n":1}`, "code:\n│ a = \"\\\\\\\\n\\\\u202e\"\n│ b\\t2\n│ \nn: 1"},
		"lines that look like others": {`{"code":"a\nworkdir: \"b\"\r│ c\u2028\u202ed"}`, "code:\n│ a\n│ workdir: \"b\"\\r│ c\\u2028\\u202Ed"},
		"direction is written out":    {`{"path":"a\u202egpj.exe"}`, `path: "a\u202Egpj.exe"`},
		"what is typed is not":        {`{"path":"a\\u202e"}`, `path: "a\\u202e"`},
		"invisible characters":        {`{"path":"a\u200bb\u3164c\u2800d\u00a0e\ufe0ff"}`, `path: "a\u200Bb\u3164c\u2800d\u00A0e\uFE0Ff"`},
		"controls":                    {`{"path":"a\u001b[2J\u0085"}`, `path: "a\u001b[2J\u0085"`},
		"plane 14":                    {`{"path":"a\udb40\udc41"}`, `path: "a\U000E0041"`},
		"signs of HTML":               {`{"command":"a < b && c > d"}`, `command: "a < b && c > d"`},
		"other scripts":               {`{"text":"Привет, 世界 🙂"}`, `text: "Привет, 世界 🙂"`},
		"secrets":                     {`{"text":"hunter2secret","list":["x hunter2secret"]}`, "list: [\"x [redacted]\"]\ntext: \"[redacted]\""},
		"an escaped secret":           {`{"text":"\u0068unter2secret"}`, `text: "[redacted]"`},
		"a name":                      {`{"a\u202eb":1}`, `a\u202Eb: 1`},
		"nothing":                     {`{}`, ""},
	} {
		if got := tools.Show(json.RawMessage(c.arguments), &secrets); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestShownArgumentsAreWhole: nothing of what may run stands behind an ellipsis.
func TestShownArgumentsAreWhole(t *testing.T) {
	for _, n := range []int{2800, 5000, 100_000} {
		command := "echo " + strings.Repeat("ж", n) + "; rm -r notes; echo " + strings.Repeat("a", n)
		got := tools.Show(json.RawMessage(`{"command":"`+command+`","workdir":"sub"}`), new(redact.Set))
		if want := `command: "` + command + "\"\nworkdir: \"sub\""; got != want {
			t.Errorf("%d of %d bytes are shown", len(got), len(want))
		}
	}
}

// TestMaskHidesNoCommand: what has the shape of a secret may run or lead somewhere.
func TestMaskHidesNoCommand(t *testing.T) {
	key := "sk-abcdefghijklmnopqrst"
	for text, want := range map[string]bool{
		"true https://a:b;touch${IFS}marker;true@c":   true,
		"true https://a:$(id)@c":                      true,
		"true x://a:b\t;\ttouch\tmarker\t;\t@c":       true,
		"true x://a:b\ntouch marker\ntrue x@c":        false, // each line is one command
		"true https://a:`id`@c":                       true,
		"true https://a;id;:b@c":                      true,
		"true x://a:b&touch${IFS}marker&@c":           true,
		"true x://a:b\\c@d":                           true,
		"cat Bearer ../../../../home/bot/config.yaml": true,
		"cat bearer /home/bot/klawbot/config.yaml":    true,
		"cat bearer ~/klawbot/data/config.yaml":       true,
		"curl -H 'Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc/d+e==' https://x": false,
		"curl -u x https://ann:p%24ss-w.rd_1@example.org/a":                                        false,
		"export KEY=" + key + "; curl https://x":                                                   false,
		"rm -rf $(pwd)/x; echo https://example.org/?a=b&c":                                         false,
	} {
		for _, value := range []any{text, []any{map[string]any{"a": text}}} {
			arguments, err := json.Marshal(map[string]any{"command": value})
			if err != nil {
				t.Fatal(err)
			}
			if got := tools.Obscures(arguments, new(redact.Set)); got != want {
				t.Errorf("%s: %v; it is shown as %s", arguments, got, tools.Show(arguments, new(redact.Set)))
			}
		}
	}
}

func FuzzShow(f *testing.F) {
	f.Add(`{"path":"a\u202e"}`)
	f.Add(`{"a":[{"b":1e5}],"c":null}`)
	f.Add("\x00{")
	f.Fuzz(func(t *testing.T, arguments string) {
		got := tools.Show(json.RawMessage(arguments), new(redact.Set))
		if strings.ContainsAny(got, "\x00\x1b\u202e\u200b\u2066\r") {
			t.Errorf("shows %q", got)
		}
	})
}

// TestShowKeepsLetterOrder: letters that run from right to left take the signs
// and digits beside them along; a mark on both sides keeps the order of a command.
func TestShowKeepsLetterOrder(t *testing.T) {
	const mark = "\u200e"
	for text, want := range map[string]string{
		"rm a":     "rm a",
		"cp א/1 ב": "cp " + mark + "א" + mark + "/1 " + mark + "ב" + mark,
		"שלום א":   mark + "שלום א" + mark,
		"اَل x":    mark + "اَل" + mark + " x",
		"א | rm":   mark + "א" + mark + " | rm",
	} {
		raw, err := json.Marshal(map[string]string{"command": text})
		if err != nil {
			t.Fatal(err)
		}
		if got := tools.Show(raw, &redact.Set{}); got != "command: \""+want+"\"" {
			t.Errorf("%q: %q", text, got)
		}
	}
}
