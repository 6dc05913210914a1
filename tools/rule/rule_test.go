package rule_test

import (
	"encoding/json"
	"strings"
	"testing"

	"klawbot/tools"
	"klawbot/tools/rule"
)

// specs of tools that rules are tried on, as parts of a policy.
var (
	reads  = tools.Spec{Name: "file_read", Aliases: []tools.Alias{{Name: "read_file"}}}
	writes = tools.Spec{Name: "file_write", Changes: true}
	shell  = tools.Spec{Name: "shell", Changes: true, RequiresApproval: true}
)

func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		forbidden string
		arguments string
		hit       bool
	}{
		"the words as they stand":             {"rm -rf /", `{"command":"rm -rf /"}`, true},
		"other words between them":            {"git push --force", `{"command":"git -C x push origin --force"}`, true},
		"in another order":                    {"push git", `{"command":"git push"}`, false},
		"half a word":                         {"nc", `{"command":"sync"}`, false},
		"a whole word":                        {"nc", `{"command":"nc -l 80"}`, true},
		"a word of a longer one":              {"format", `{"command":"go run ./formatter"}`, false},
		"the name of a program by its path":   {"nc", `{"command":"/usr/bin/nc -l"}`, true},
		"in quotes":                           {"rm -rf /", `{"command":"'rm' \"-rf\" \\/"}`, true},
		"in the second command":               {"rm", `{"command":"ls; rm x"}`, true},
		"not across commands":                 {"rm /", `{"command":"rm x; ls /"}`, false},
		"across a pipe that is named":         {"curl | sh", `{"command":"curl http://x | sh"}`, true},
		"across another pipe":                 {"curl | sh", `{"command":"curl x; ls | sh"}`, false},
		"a path in a command":                 {".env", `{"command":"cat ./a/../.env"}`, true},
		"a path that only begins so":          {".env", `{"command":"cat .envrc"}`, false},
		"a path":                              {".env", `{"path":".env"}`, true},
		"a path in decomposed letters":        {"büro/keys", "{\"path\":\"bu\u0308ro/keys\"}", true},
		"a decomposed entry":                  {"bu\u0308ro/keys", `{"path":"büro/keys"}`, true},
		"a path with the space of a Mac":      {`my\ files/keys`, "{\"path\":\"my\u00a0files/keys\"}", true},
		"a pattern and decomposed letters":    {"re:^büro/", "{\"path\":\"bu\u0308ro/keys\"}", true},
		"a path with detours":                 {"secrets/keys", `{"path":"a/../secrets/./keys"}`, true},
		"a path below":                        {"secrets", `{"path":"secrets/keys/a.txt"}`, true},
		"a path of another name":              {"secrets", `{"path":"secrets.md"}`, false},
		"an absolute path":                    {"/etc/passwd", `{"path":"/etc/../etc/passwd"}`, true},
		"an absolute path elsewhere":          {"/etc/passwd", `{"path":"a/etc/passwd"}`, false},
		"a path with the slashes of Windows":  {"secrets/keys", `{"path":"secrets\\keys"}`, true},
		"a home":                              {"~/.ssh/id_rsa", `{"command":"cat ~/.ssh/id_rsa"}`, true},
		"a pattern":                           {`re:\bdrop\s+table\b`, `{"command":"psql -c 'drop  table x'"}`, true},
		"a pattern on a cleaned path":         {`re:^private/`, `{"path":"a/../private/x"}`, true},
		"a pattern that does not match":       {`re:^private/`, `{"path":"public/private/x"}`, false},
		"a list of words":                     {"push --force", `{"args":["push","--force"]}`, true},
		"the content of a file is not looked": {"rm -rf /", `{"path":"a.md","content":"never write rm -rf / there"}`, false},
		"what a person says is not looked at": {"nc", `{"text":"nc","query":"nc"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			one, err := rule.New("careful", nil, nil, []string{c.forbidden})
			if err != nil {
				t.Fatal(err)
			}
			d := tools.Policy{Rules: []rule.Rule{one}, Autonomy: tools.Full}.For("", "").Decide(shell, json.RawMessage(c.arguments))
			if (d.Verdict == tools.Deny) != c.hit {
				t.Errorf("got %+v", d)
			}
			if c.hit && (d.Layer != "tools.rules.careful" || !strings.HasPrefix(d.Reason, `rule "careful" forbids "`)) {
				t.Errorf("got %+v", d)
			}
		})
	}
}

func TestRuleOfSomeToolsAndArguments(t *testing.T) {
	one, err := rule.New("r", []string{"read_file"}, []string{"path"}, []string{".env"})
	if err != nil {
		t.Fatal(err)
	}
	p := tools.Policy{Rules: []rule.Rule{one}, Autonomy: tools.Full}
	for name, c := range map[string]struct {
		spec      tools.Spec
		arguments string
		want      tools.Verdict
	}{
		"the tool and the argument": {reads, `{"path":".env"}`, tools.Deny},
		"another argument":          {reads, `{"command":".env"}`, tools.Allow},
		"another tool":              {writes, `{"path":".env"}`, tools.Allow},
	} {
		if d := p.For("", "").Decide(c.spec, json.RawMessage(c.arguments)); d.Verdict != c.want {
			t.Errorf("%s: got %+v", name, d)
		}
	}
}

func TestRulesThatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		name      string
		arguments []string
		forbidden []string
		want      string
	}{
		"no name":            {"", nil, []string{"x"}, "needs a name"},
		"nothing forbidden":  {"r", nil, nil, "forbidden is empty"},
		"a blank entry":      {"r", nil, []string{" "}, "holds no word"},
		"a broken pattern":   {"r", nil, []string{"re:("}, "error parsing regexp"},
		"an endless pattern": {"r", nil, []string{"re:" + strings.Repeat("a", 1001)}, "1 to 1000 bytes"},
		"content":            {"r", []string{"content"}, []string{"x"}, "arguments must be of path"},
	} {
		if _, err := rule.New(c.name, nil, c.arguments, c.forbidden); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
