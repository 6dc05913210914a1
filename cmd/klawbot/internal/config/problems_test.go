package config

import (
	"strings"
	"testing"
)

// TestProblems: what can never work is told at the start, in a line that names the key
// and what to do, and does not stop the bot.
func TestProblems(t *testing.T) {
	const ready = "models: {providers: {openai: {apiKey: key-of-the-test}}}\n"
	for name, c := range map[string]struct{ text, want string }{
		"default without a key":                   {"models: {entries: {main: {provider: openai, model: x}}}", "models.default: main cannot be called: the provider openai has neither apiKey nor baseURL; set models.providers.openai.apiKey, or run klawbot init"},
		"fallback without a key":                  {"models: {providers: {openai: {apiKey: k1}}, entries: {main: {provider: openai, model: x}, b: {provider: anthropic, model: y}}, fallback: [b]}", "config.yaml:1: models.fallback: b cannot be called: the provider anthropic has neither apiKey nor baseURL"},
		"small without a key":                     {"models: {providers: {openai: {apiKey: k1}}, entries: {main: {provider: openai, model: x}, b: {provider: anthropic, model: y}}, small: b}", "models.small: b cannot be called"},
		"no /v1":                                  {"models: {providers: {home: {baseURL: 'http://127.0.0.1:8000'}}}", "models.providers.home.baseURL: usually ends in /v1, such as http://127.0.0.1:8000/v1"},
		"no /v1, a slash":                         {"models: {providers: {home: {baseURL: 'http://127.0.0.1:8000/'}}}", "usually ends in /v1, such as http://127.0.0.1:8000/v1"},
		"embeddings without a key":                {"memory: {embedding: {type: openai, model: x}}", "memory.embedding.provider: it cannot be asked for embeddings: the provider openai has neither"},
		"embeddings of the wrong type":            {ready + "memory: {embedding: {type: openai}}", "memory.embedding.model: auto is for the type onnx"},
		"an owner who is a group":                 {"channels: {telegram: {allowedChatIds: [-5], ownerIds: [-5]}}", "channels.telegram.ownerIds: -5 is a group"},
		"a user who is a group":                   {"channels: {telegram: {allowedUserIds: [-100123]}}", "channels.telegram.allowedUserIds: -100123 is a group"},
		"a group without its minus":               {"channels: {telegram: {allowedChatIds: [1001234567890]}}", "channels.telegram.allowedChatIds: 1001234567890 looks like a group without its minus sign: -1001234567890"},
		"an owner who is not allowed":             {"channels: {telegram: {token: '1:abc', allowedChatIds: [5], ownerIds: [6]}}", "channels.telegram.ownerIds: 6 is not in allowedChatIds, so alerts do not reach this owner; run klawbot allow 6"},
		"heartbeat into nowhere":                  {"heartbeat: {injectInto: telegram_7}", "heartbeat.injectInto: telegram_7 is not an allowed chat; run klawbot allow 7"},
		"a policy for a chat that is not allowed": {"tools: {policy: {chats: {'-7': {deny: [shell]}}}}", "tools.policy.chats.-7: telegram_-7 is not an allowed chat; run klawbot allow -7"},
		"a search without a name":                 {"tools: {search: {url: 'http://127.0.0.1:8888'}}", "tools.search.backend: is empty, so tools.search is off"},
		"an expression without re:":               {"tools: {rules: [{name: a, forbidden: ['^rm .*']}]}", "config.yaml:1: tools.rules: rule a: \"^rm .*\" looks like a regular expression; write re:^rm .*"},
		"a pattern of names in a rule":            {"tools: {rules: [{name: a, forbidden: ['*.env']}]}", "config.yaml:1: tools.rules: rule a: \"*.env\" looks like a pattern of names"},
		"a folder with a variable":                {"dataDir: '$HOME/klaw'", "config.yaml:1: dataDir: \"$HOME/klaw\" is taken as written; a variable is ${NAME}"},
		"two servers at a port":                   {"channels: {telegram: {token: '1:abc', mode: webhook, webhook: {url: 'https://bot.example.com/x', secret: word, listen: '127.0.0.1:8991'}}}", "health.listen: has the port of channels.telegram.webhook.listen"},

		"a command without its end":   {"tools: {exec: {allow: [harmless, '[']}}", "config.yaml:1: tools.exec.allow: \"[\" allows no command"},
		"no command":                  {"tools: {exec: {allow: ['']}}", "tools.exec.allow: an empty pattern allows nothing"},
		"a star in a program":         {"tools: {exec: {allow: ['git*']}}", "tools.exec.allow: \"git*\" allows no command"},
		"the list in capitals":        {"tools: {exec: {allow: [Harmless]}}", "tools.exec.allow: \"Harmless\" is the program of this name; write harmless"},
		"commands":                    {"tools: {exec: {allow: [harmless, 'git status', 'npm run *', '[ -f x ]', '*', 'ls [a-z]*']}}", ""},
		"words of a rule":             {"tools: {rules: [{name: a, forbidden: ['rm -rf /', '.env', 're:^rm .*', 'a*', '$HOME']}]}", ""},
		"nothing":                     {"", ""},
		"no model":                    {"models: {default: ''}", ""},
		"a local model":               {"models: {providers: {home: {type: ollama}}, entries: {main: {provider: home, model: x}}}", ""},
		"a server with its path":      {"models: {providers: {home: {baseURL: 'http://127.0.0.1:8000/v1'}}}", ""},
		"a server that needs none":    {"models: {providers: {deepseek: {baseURL: 'https://api.deepseek.com'}}}", ""},
		"the address of one call":     {"models: {providers: {home: {baseURL: 'http://127.0.0.1:8000/v1/chat/completions'}}}", ""},
		"an owner who is allowed":     {"channels: {telegram: {token: '1:abc', allowedChatIds: [6, -100123], ownerIds: [6], allowedUserIds: [6]}}", ""},
		"heartbeat to the terminal":   {"heartbeat: {injectInto: console_1}", ""},
		"heartbeat to an allowed one": {"channels: {telegram: {token: '1:abc', allowedChatIds: [7]}}\nheartbeat: {injectInto: telegram_7}", ""},
		"one page for both":           {"health: {listen: '127.0.0.1:8991'}\nmetrics: {listen: '127.0.0.1:8991'}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := mustParse(t, c.text)
			told := strings.Join(l.Problems, "\n")
			if c.want == "" && told != "" || !strings.Contains(told, c.want) || len(l.Problems) > 1 {
				t.Errorf("got %q, want %q", l.Problems, c.want)
			}
		})
	}
}

// TestValuesThatCannotStart are refused, with their key.
func TestValuesThatCannotStart(t *testing.T) {
	for text, want := range map[string]string{
		"models: {providers: {x: {baseURL: 'api.example.com/v1'}}}":             "models.providers.x.baseURL: must be an address",
		"models: {providers: {x: {baseURL: 'ftp://example.com'}}}":              "models.providers.x.baseURL: must be an address",
		"channels: {telegram: {apiURL: 'https://api.telegram.org/bot123:abc'}}": "channels.telegram.apiURL: must end before /bot",
		"channels: {telegram: {apiURL: 'https://api.telegram.org/bot'}}":        "channels.telegram.apiURL: must end before /bot",
		"channels: {telegram: {token: 'bot123:abc'}}":                           "channels.telegram.token: does not look like a bot token",
		"channels: {telegram: {token: '123456'}}":                               "channels.telegram.token: does not look like a bot token",
		"channels: {telegram: {token: '123456:abc def'}}":                       "channels.telegram.token: does not look like a bot token",
		"channels: {telegram: {allowedChatIds: ['@anna']}}":                     "isn't a chat ID",
		"agent: {timezone: Berlin}":                                             "agent.timezone: must be a time zone",
		"health: {listen: '8991'}":                                              "health.listen: must be an address and a port",
		"health: {listen: '127.0.0.1:99999'}":                                   "health.listen: must be an address and a port",
		"models: {entries: {main: {provider: openai, model: '${M}'}}}":          "models.entries.main.model: must name a model of the provider (the variable M is not set, so ${M} is empty",
		"log: {level: '${L}'}":                                                  "got \"${L}\" (the variable L is not set",
		"models: {entries: {main: {provider: openai, model: x, tools: some}}}":  "models.entries.main.tools: must be auto, few or all, got \"some\"",
		"models: {fallback: [clever]}":                                          "models.fallback: must name some of models.entries",
		"models: {small: clever}":                                               "models.small: must be one of models.entries",
		"models: {providers: {openai: {apiKey: k1}}, entries: {main: {provider: openai, model: x, prices: {inputPerM: 1}}, s: {provider: openai, model: y}}, small: s, budget: {perDayUSD: 1}}": "models.entries.s needs prices",
		"tools: {rules: [{name: a, tools: [shell], forbidden: ['re:(']}]}": "tools.rules:",
		"tools: {mcp: {a: {url: 'localhost:3000/mcp'}}}":                   "tools.mcp.a.url: must be an address",
		"heartbeat: {injectInto: '@me'}":                                   "heartbeat.injectInto: must be a chat",
	} {
		if _, err := parseText(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", text, err, want)
		}
	}
}
