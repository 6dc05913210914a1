package configedit

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/self"
)

// kept is a configuration file with the tools config and self_info over it.
type kept struct {
	t        testing.TB
	file     string
	live     *config.Live
	executor *tools.Executor
}

const keptText = `# The bot of the family.
agent:   # how it behaves
  language: en # the tongue

  debounceMs: 800
models:
  default: main
  entries:
    main: {provider: openai, model: one}
    other: {provider: openai, model: two}
context: {window: 20} # messages
channels:
  telegram:
    token: 123456:token-of-the-test
    allowedChatIds: [11]   # Alice
security:
  autonomy: supervised # never by the bot
shared: &zone Europe/Berlin
`

func keep(t testing.TB, text string, environ ...string) *kept {
	t.Helper()
	k := &kept{t: t, file: filepath.Join(t.TempDir(), "config.yaml")}
	if err := os.WriteFile(k.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if k.live, err = config.Open(config.Source{File: k.file, Environ: environ, Redact: &redact.Set{}}); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	registry, err := tools.NewRegistry(self.New(self.Config{Configuration: NewTool(k.live, log)})...)
	if err != nil {
		t.Fatal(err)
	}
	k.executor = tools.NewExecutor(tools.ExecutorConfig{
		Registry: registry, Redact: &redact.Set{}, Log: log,
		Policy: func() tools.Policy { return tools.Policy{Autonomy: tools.Full} },
	})
	return k
}

func (k *kept) call(arguments map[string]any) tools.Result {
	k.t.Helper()
	source, err := json.Marshal(arguments)
	if err != nil {
		k.t.Fatal(err)
	}
	r, err := k.executor.Execute(context.Background(), tools.Call{ID: "c", Name: "config", Arguments: source}, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	return r
}

func (k *kept) set(key string, value any) tools.Result {
	k.t.Helper()
	return k.call(map[string]any{"action": "set", "key": key, "value": value})
}

func (k *kept) text() string {
	k.t.Helper()
	text, err := os.ReadFile(k.file)
	if err != nil {
		k.t.Fatal(err)
	}
	return string(text)
}

// restore writes the file anew and has it read.
func (k *kept) restore(text string) {
	k.t.Helper()
	if err := os.WriteFile(k.file, []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
	k.live.Reload(slog.New(slog.DiscardHandler))
}

func TestConfigSetKeepsCommentsOrderAndBlankLines(t *testing.T) {
	for name, c := range map[string]struct {
		key, old, new string
		value         any
	}{
		"a word":                {"agent.language", "language: en # the tongue", "language: ru # the tongue", "ru"},
		"a number":              {"agent.debounceMs", "debounceMs: 800", "debounceMs: 1200", 1200},
		"a number as text":      {"agent.debounceMs", "debounceMs: 800", "debounceMs: 0", " 0 "},
		"in braces":             {"context.window", "{window: 20} # messages", "{window: 30} # messages", "30"},
		"a name":                {"models.default", "default: main", "default: other", "other"},
		"a new key":             {"agent.timezone", "# how it behaves\n", "# how it behaves\n  timezone: Europe/Berlin\n", "Europe/Berlin"},
		"a new section":         {"log.level", "Europe/Berlin\n", "Europe/Berlin\nlog:\n  level: debug\n", "debug"},
		"no model":              {"models.default", "default: main", `default: ""`, ""},
		"what is there already": {"agent.language", "", "", "en"},
	} {
		t.Run(name, func(t *testing.T) {
			k := keep(t, keptText)
			r := k.set(c.key, c.value)
			if !r.Success || !strings.HasPrefix(r.Output, "OK: "+c.key+" = ") {
				t.Fatal(r.Output)
			}
			if want := strings.Replace(keptText, c.old, c.new, 1); k.text() != want {
				t.Errorf("the file is\n%s\nwant\n%s", k.text(), want)
			}
		})
	}
}

func TestConfigSetWorksAtOnceAndKeepsABackup(t *testing.T) {
	k := keep(t, keptText)
	if r := k.set("agent.language", "ru"); !r.Success {
		t.Fatal(r.Output)
	}
	if got := k.live.Config().Agent.Language; got != "ru" {
		t.Errorf("the language in use is %s", got)
	}
	if r := k.call(map[string]any{"action": "get", "key": "agent.language"}); r.Output != "agent.language = ru  (settable)" {
		t.Error(r.Output)
	}
	backup, err := os.ReadFile(k.file + ".bak")
	if err != nil || string(backup) != keptText {
		t.Errorf("the backup is %q, %v", backup, err)
	}
	if info, err := os.Stat(k.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

func TestConfigRefusals(t *testing.T) {
	const owners = " can only be changed by the owner, in config.yaml; this tool changes "
	for name, c := range map[string]struct {
		arguments map[string]any
		want      string
		kind      tools.ErrorKind
	}{
		"its own rights":        {map[string]any{"action": "set", "key": "security.autonomy", "value": "full"}, "security.autonomy" + owners, tools.PolicyDenied},
		"appended rights":       {map[string]any{"action": "append", "key": "security.autonomy", "value": "full"}, "security.autonomy" + owners, tools.PolicyDenied},
		"a whole section":       {map[string]any{"action": "set", "key": "security", "value": "{autonomy: full}"}, "security" + owners, tools.PolicyDenied},
		"the whitelist":         {map[string]any{"action": "append", "key": "channels.telegram.allowedChatIds", "value": 5}, "channels.telegram.allowedChatIds" + owners, tools.PolicyDenied},
		"a provider":            {map[string]any{"action": "set", "key": "models.providers.openai.baseURL", "value": "http://evil"}, "models.providers.openai.baseURL" + owners, tools.PolicyDenied},
		"another case":          {map[string]any{"action": "set", "key": "Agent.Language", "value": "ru"}, "unknown key 'Agent.Language'; did you mean agent.language?", tools.Validation},
		"another spelling":      {map[string]any{"action": "set", "key": "agent. language", "value": "ru"}, "unknown key 'agent. language'", tools.Validation},
		"a value out of range":  {map[string]any{"action": "set", "key": "agent.debounceMs", "value": -1}, "agent.debounceMs must be 0 to 60000", tools.Validation},
		"a value of other type": {map[string]any{"action": "set", "key": "context.window", "value": "many"}, "context.window must be a whole number", tools.Validation},
		"an unknown model":      {map[string]any{"action": "set", "key": "models.default", "value": "none"}, "models.default must be one of models.entries (main, other)", tools.Validation},
		"an unknown language":   {map[string]any{"action": "set", "key": "agent.language", "value": "de"}, "agent.language must be en or ru", tools.Validation},
		"the environment":       {map[string]any{"action": "set", "key": "models.default", "value": "${SECRET}"}, "models.default: a value with ${…} can only be written by the owner", tools.PolicyDenied},
		"another line":          {map[string]any{"action": "set", "key": "models.default", "value": "main\nsecurity: {autonomy: full}"}, "models.default must be one of", tools.Validation},
		"a list that is none":   {map[string]any{"action": "append", "key": "agent.language", "value": "ru"}, "agent.language is not a list; use the action set", tools.Validation},
		"no key":                {map[string]any{"action": "get"}, "Missing required parameter: key", tools.Validation},
		"no value":              {map[string]any{"action": "set", "key": "agent.language"}, "Missing required parameter: value", tools.Validation},
		"a key that is none":    {map[string]any{"action": "get", "key": "agent.colour"}, "unknown key 'agent.colour'", tools.NotFound},
		"a long value":          {map[string]any{"action": "set", "key": "agent.timezone", "value": strings.Repeat("x", 5000)}, "longer than 4096 bytes", tools.Validation},
	} {
		t.Run(name, func(t *testing.T) {
			k := keep(t, keptText, "SECRET=correct-horse-battery")
			r := k.call(c.arguments)
			if r.Success || r.ErrorKind != c.kind || !strings.Contains(r.Error, c.want) || strings.Contains(r.Output, "horse") {
				t.Errorf("%s: %s", r.ErrorKind, r.Output)
			}
			if k.text() != keptText {
				t.Errorf("the file is now\n%s", k.text())
			}
		})
	}
}

func TestConfigLeavesOddFilesAlone(t *testing.T) {
	for name, text := range map[string]string{
		"an anchor that others use":  "agent: {language: &l en}\nsecurity: {autonomy: *l}\n",
		"a value of several lines":   "agent:\n  language: >-\n    en\n",
		"lines that end with a CR":   "agent: {}\rlog: {}\r",
		"a section that is a scalar": "agent: en\n",
		"a file with faults":         "agent: {language: en, debounceMs: many}\n",
	} {
		t.Run(name, func(t *testing.T) {
			k := keep(t, "")
			if err := os.WriteFile(k.file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if r := k.set("agent.language", "ru"); r.Success || k.text() != text {
				t.Errorf("%s\n%s", r.Output, k.text())
			}
		})
	}
}

func TestConfigSaysThatTheEnvironmentWins(t *testing.T) {
	k := keep(t, keptText, "KLAWBOT_AGENT__LANGUAGE=en")
	r := k.set("agent.language", "ru")
	if r.Success || !strings.Contains(r.Error, "KLAWBOT_AGENT__LANGUAGE in the environment") || k.text() != keptText {
		t.Errorf("%s", r.Output)
	}
	none := NewTool(config.Fixed(config.Defaults()), slog.New(slog.DiscardHandler))
	if err := none.Set("agent.language", "ru"); err == nil || !strings.Contains(err.Error(), "there is no config.yaml") {
		t.Errorf("without a file: %v", err)
	}
}

func TestConfigListMasksSecrets(t *testing.T) {
	k := keep(t, keptText, "OPENAI_API_KEY=short-key")
	r := k.call(map[string]any{"action": "list"})
	for _, want := range []string{
		"channels.telegram.token = 1234****\n", "models.providers.openai.apiKey = ****\n",
		"models.entries.other.model = two\n", "context.window = 20  (settable)\n", "channels.telegram.allowedChatIds = [11]\n",
	} {
		if !strings.Contains(r.Output, want) {
			t.Errorf("%q is missing in\n%s", want, r.Output)
		}
	}
	if strings.Contains(r.Output, "token-of-the-test") || strings.Contains(r.Output, "short-key") {
		t.Error("a secret is shown")
	}
}

// TestProofComparesMeaning wants that a change of anything else is seen,
// however it came about.
func TestProofComparesMeaning(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"a setting":           {"token: 123456", "token: 654321", "channels.telegram.token can only"},
		"a list":              {"[11]", "[11, 5]", "channels.telegram.allowedChatIds"},
		"a later part":        {"autonomy: supervised", "autonomy: full", "security.autonomy can only"},
		"a key nobody knows":  {"shared: &zone Europe/Berlin", "shared: &zone UTC", "shared can only"},
		"a new section":       {"shared:", "tools: {policy: {allow: [shell]}}\nshared:", "tools.policy.allow"},
		"a part taken away":   {"security:\n  autonomy: supervised # never by the bot\n", "", "security.autonomy can only"},
		"a table":             {"model: two}", "model: three}", "models.entries.other.model can only"},
		"what can be changed": {"language: en", "language: ru", ""},
		"a broken file":       {"agent:", "agent", "must hold keys"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := proveChange(config.Source{}, []byte(keptText), []byte(strings.Replace(keptText, c.old, c.new, 1)))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// FuzzConfigChangesOnlyWhatIsSettable wants that no action, key or value
// changes anything of the configuration that is the owner's, nor leaves a file
// that cannot be read.
func FuzzConfigChangesOnlyWhatIsSettable(f *testing.F) {
	f.Add("SET", "agent.language", "ru")
	f.Add("list", "security.autonomy", "full")
	for _, action := range []string{"set", "append"} {
		for _, key := range []string{
			"agent.language", "agent.timezone", "agent.debounceMs", "models.default", "context.window", "log.level", "security.autonomy",
			"channels.telegram.allowedChatIds", "channels.telegram.token", "models", "context", "context.window.x", "agent.language\n", " log.level", "memory.search.topK", "memory.embedding.path",
			"security", "models.default: main\nsecurity", "shared", "",
		} {
			for _, value := range []string{"ru", "1", "other", "*zone", "ru\nsecurity:\n  autonomy: full", "\u0085"} {
				f.Add(action, key, value)
			}
		}
	}
	k := keep(f, keptText)
	before, err := k.live.Source.Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, action, key, value string) {
		k.t = t
		r := k.call(map[string]any{"action": action, "key": key, "value": value})
		text := k.text()
		if text == keptText {
			return // as most calls leave it
		}
		defer k.restore(keptText)
		if !r.Success {
			t.Errorf("%s, and yet the file is\n%s", r.Output, text)
		}
		after, err := k.live.Source.Load()
		if err != nil {
			t.Fatalf("%s: the configuration is broken: %v", r.Output, err)
		}
		paths, err := keys.Changes(before.Config, after.Config, []byte(keptText), []byte(text))
		if err != nil {
			t.Fatalf("%s: the file is broken: %v", r.Output, err)
		}
		allowed := regexp.MustCompile(`^(agent\.(language|timezone|debounceMs)|models\.(default|small)|(context|memory\.search|memory\.autoRecall)\.[A-Za-z]+|log\.level)$`)
		for _, path := range paths {
			if name := strings.Join(path, "."); !allowed.MatchString(name) || name != key || action != "set" {
				t.Errorf("%s %q = %q changed %s: %s", action, key, value, name, r.Output)
			}
		}
	})
}
