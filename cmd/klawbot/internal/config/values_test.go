package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecretsAreTrimmedOrRefused: what is around a key is taken off, and a key that no
// server can take is told at the start, by its name and without its text.
func TestSecretsAreTrimmedOrRefused(t *testing.T) {
	const key = "models.providers.openai.apiKey"
	for name, c := range map[string]struct{ value, want, fault string }{
		"key-with-line-break":        {"sk-good-key\n", "sk-good-key", ""},
		"key-with-blanks":            {"  sk-good-key", "sk-good-key", ""},
		"line break of Windows":      {"sk-good-key\r\n", "sk-good-key", ""},
		"tab and no-break space":     {"\tsk-good-key\u00a0", "sk-good-key", ""},
		"byte order mark":            {"\ufeffsk-good-key", "sk-good-key", ""},
		"zero-width space":           {"sk-good-key\u200b", "sk-good-key", ""},
		"quotes of an env file":      {`"sk-good-key"`, "sk-good-key", ""},
		"single quotes and a break":  {"'sk-good-key'\n", "sk-good-key", ""},
		"typographic quotes":         {"“sk-good-key”", "sk-good-key", ""},
		"German quotes":              {"„sk-good-key“", "sk-good-key", ""},
		"a quote inside":             {`sk-go"od-key`, `sk-go"od-key`, ""},
		"a short word":               {"ollama", "ollama", ""},
		"empty":                      {"", "", ""},
		"a break inside":             {"sk-good\nkey", "", "holds a line break; a key is one line"},
		"a blank inside":             {"sk-good key", "", "holds a blank; a key has none"},
		"Bearer":                     {"Bearer sk-good-key", "", `begins with "Bearer"; write the key alone`},
		"a Cyrillic letter":          {"sk-gооd-key", "", "holds the character U+043E"},
		"cut short with an ellipsis": {"sk-good…", "", "holds the character U+2026"},
		"a variable without braces":  {"$OPENAI_API_KEY", "", "is a placeholder"},
		"a variable of Windows":      {"%OPENAI_API_KEY%", "", "is a placeholder"},
		"a placeholder":              {"your-api-key-here", "", "is a placeholder"},
		"another placeholder":        {"<insert key>", "", "holds a blank"},
		"the name of a variable":     {"OPENAI_API_KEY", "", "is a placeholder"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(file, []byte(c.value), 0o600); err != nil {
				t.Fatal(err)
			}
			for from, given := range map[string]struct{ text, env string }{
				"the file":           {`models: {providers: {openai: {apiKey: "${K}"}}}`, "K=" + c.value},
				"the usual variable": {"", "OPENAI_API_KEY=" + c.value},
				"an override":        {"", "KLAWBOT_MODELS__PROVIDERS__OPENAI__APIKEY=" + c.value},
				"a file of its own":  {"models: {providers: {openai: {apiKeyFile: " + file + "}}}", "A=b"},
			} {
				if from == "a file of its own" && c.value == "" {
					continue // an empty file is a fault of its own
				}
				l, err := parseText(t, given.text, given.env)
				switch {
				case c.fault == "" && err != nil:
					t.Errorf("from %s: %v", from, err)
				case c.fault == "" && l.Models.Providers["openai"].APIKey != c.want:
					t.Errorf("from %s: the key is %q", from, l.Models.Providers["openai"].APIKey)
				case c.fault != "" && (err == nil || !strings.Contains(err.Error(), key+": "+c.fault) || strings.Contains(err.Error(), "sk-g")):
					t.Errorf("from %s: %v", from, err)
				}
			}
		})
	}
}

// TestOtherValuesAreTrimmed: blanks around a value mean nothing in any other key.
func TestOtherValuesAreTrimmed(t *testing.T) {
	l := mustParse(t, `
channels: {telegram: {token: " 1:abc\n", allowedChatIds: [" 5 "], webhook: {secret: "word\n"}}}
models:
  default: "main "
  providers: {home: {type: " openai", baseURL: " http://127.0.0.1:1/v1\n"}}
  entries: {main: {provider: "home\t", model: " qwen3:8b "}}
tools:
  search: {backend: brave, apiKey: " brave-key "}
  mcp:
    a: {url: "http://127.0.0.1:2 ", headers: {Authorization: "Bearer abc\n"}}
    b: {command: " prog", env: {API_TOKEN: " t ", TEXT: " t "}, args: [" x "]}
`)
	p, e := l.Models.Providers["home"], l.Models.Entries["main"]
	mcp := l.Tools.MCP
	for _, got := range [][2]string{
		{l.Channels.Telegram.Token, "1:abc"}, {l.Channels.Telegram.Webhook.Secret, "word"}, {l.Models.Default, "main"},
		{p.Type, "openai"}, {p.BaseURL, "http://127.0.0.1:1/v1"}, {e.Provider, "home"}, {e.Model, "qwen3:8b"}, {l.Tools.Search.APIKey, "brave-key"},
		{mcp["a"].URL, "http://127.0.0.1:2"}, {mcp["a"].Headers["Authorization"], "Bearer abc"},
		{mcp["b"].Command, "prog"}, {mcp["b"].Env["API_TOKEN"], "t"}, {mcp["b"].Env["TEXT"], " t "}, {mcp["b"].Args[0], " x "},
	} {
		if got[0] != got[1] {
			t.Errorf("got %q, want %q", got[0], got[1])
		}
	}
}

// TestVariables: a reference that cannot be replaced is told, and $${ is a literal.
func TestVariables(t *testing.T) {
	const unset = "config.yaml:1: models.providers.openai.apiKey: the variable cd is not set, so ${cd} is empty. Set it, or write $${ for a literal ${"
	for name, c := range map[string]struct{ value, want, notice string }{
		"unset-variable":          {`ab${cd}ef`, "abef", unset},
		"alone":                   {`${cd}`, "", unset},
		"twice":                   {`${cd}${cd}`, "", unset},
		"literal":                 {`ab$${cd}ef`, "ab${cd}ef", ""},
		"literal at the end":      {`ab$${`, "ab${", ""},
		"literal and value":       {`$${SET}${SET}`, "${SET}value", ""},
		"a dollar before a value": {`$$${SET}`, "$${SET}", ""},
		"default":                 {`${cd:-x}`, "x", ""},
		"empty default":           {`${cd:-}`, "", ""},
		"default of a default":    {`${cd:-${SET}}`, "value", ""},
		"unset in a default":      {`a${x:-${cd}}`, "a", unset},
		"literal in a default":    {`${cd:-$${x}}`, "${x}", ""},
		"set to nothing":          {`${EMPTY}`, "", ""},
		"no end":                  {`ab${cd`, "ab${cd", ""},
		"a dollar at the end":     {`B!naree80reF0rG3taway$`, "B!naree80reF0rG3taway$", ""},
		"a plain dollar":          {`ab$cd{ef}`, "ab$cd{ef}", ""},
		"a name with a hyphen":    {`${my-key}`, "${my-key}", "config.yaml:1: models.providers.openai.apiKey: ${my-key} is left as it is: only ${NAME} and ${NAME:-text} are replaced"},
		"another form of a shell": {`${cd?gone}`, "${cd?gone}", "${cd?gone} is left as it is"},
		"value with a reference":  {`${NEST}`, "${SET}", ""},
		"not an ASCII name":       {`${ключ}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := parseText(t, "models: {providers: {openai: {apiKey: '"+c.value+"'}}}", "SET=value", "EMPTY=", "NEST=${SET}")
			if name == "not an ASCII name" {
				if err == nil || !strings.Contains(err.Error(), "apiKey: holds the character") {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Models.Providers["openai"].APIKey; got != c.want {
				t.Errorf("the key is %q, want %q", got, c.want)
			}
			told := strings.Join(l.Notices, "\n")
			if c.notice == "" && strings.Contains(told, "apiKey: the variable") || !strings.Contains(told, c.notice) || strings.Count(told, "is not set") > 1 {
				t.Errorf("the notices are %q", l.Notices)
			}
		})
	}
}

// TestVariablesEverywhere: lists, tables and free sections have references, too.
func TestVariablesEverywhere(t *testing.T) {
	l := mustParse(t, `
models: {entries: {main: {prices: {inputPerM: "${PRICE}", outputPerM: 2}, compat: {first_byte_seconds: "${PRICE}", note: "$${x}"}}}}
tools: {mcp: {a: {command: x, args: ["${SET}", "${NONE}"], env: {X: "${SET}"}}}}
channels: {telegram: {allowedChatIds: ["${ID}"]}}
`, "SET=value", "PRICE=3", "ID=5, 6")
	if got := l.Models.Entries["main"]; got.prices() == nil || got.Compat["note"] != "${x}" {
		t.Errorf("%+v", got)
	}
	if a := l.Tools.MCP["a"]; a.Args[0] != "value" || a.Args[1] != "" || a.Env["X"] != "value" {
		t.Errorf("%+v", a)
	}
	if ids := l.Channels.Telegram.AllowedChatIDs; len(ids) != 2 {
		t.Errorf("%v", ids)
	}
	if told := strings.Join(l.Notices, "\n"); !strings.Contains(told, "tools.mcp.a.args: the variable NONE is not set") {
		t.Error(told)
	}
}

// TestUnusedProvidersNeedNoVariable: the example of the configuration names the
// variables of all providers.
func TestUnusedProvidersNeedNoVariable(t *testing.T) {
	text, err := os.ReadFile("../../../../config.yaml.example")
	if err != nil {
		t.Fatal(err)
	}
	l := mustParse(t, string(text), "TELEGRAM_BOT_TOKEN=1:abc")
	told := strings.Join(l.Notices, "\n")
	if strings.Contains(told, "ANTHROPIC_API_KEY") || !strings.Contains(told, "OPENAI_API_KEY is not set") {
		t.Error(told)
	}
}
