package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/engine/settings"
	"klawbot/internal/redact"
)

// parseText reads a configuration as if it stood in config.yaml.
func parseText(t *testing.T, text string, environ ...string) (*Loaded, error) {
	t.Helper()
	return Source{File: "config.yaml", Environ: environ, Redact: &redact.Set{}}.Parse([]byte(text))
}

func mustParse(t *testing.T, text string, environ ...string) *Loaded {
	t.Helper()
	l, err := parseText(t, text, environ...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestExampleIsTheDefaultsAndComplete(t *testing.T) {
	text, err := os.ReadFile("../../../../config.yaml.example")
	if err != nil {
		t.Fatal(err)
	}
	environ := []string{"TELEGRAM_BOT_TOKEN=123456:token-of-the-test", "OPENAI_API_KEY=key-of-the-test", "ANTHROPIC_API_KEY=other-key-of-the-test"}
	example := mustParse(t, string(text), environ...)
	empty := mustParse(t, "", environ...)
	if diff := cmp.Diff(empty.Config, example.Config, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the example differs from the defaults:\n%s", diff)
	}
	if len(example.Notices) > 0 {
		t.Errorf("the example has notices: %q", example.Notices)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for _, path := range keyPaths(reflect.TypeFor[Config](), nil) {
		if !has(doc.Content[0], path) {
			t.Errorf("the example lacks %s", strings.Join(path, "."))
		}
	}
}

// keyPaths are the paths of all values; the name in a table is "*".
func keyPaths(t reflect.Type, path []string) (all [][]string) {
	switch {
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			all = append(all, keyPaths(t.Field(i).Type, append(slices.Clone(path), t.Field(i).Tag.Get("koanf")))...)
		}
		return all
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		return keyPaths(t.Elem(), append(slices.Clone(path), "*"))
	}
	return [][]string{path}
}

func has(n *yaml.Node, path []string) bool {
	if len(path) == 0 || path[0] == "*" && len(n.Content) == 0 { // a table may be empty
		return true
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if (path[0] == "*" || n.Content[i].Value == path[0]) && has(n.Content[i+1], path[1:]) {
			return true
		}
	}
	return false
}

func TestChecksNameKeysThatExist(t *testing.T) {
	known := map[string]bool{}
	for _, path := range keyPaths(reflect.TypeFor[Config](), nil) {
		known[strings.Join(path, ".")] = true
	}
	for name := range checks {
		if !known[name] {
			t.Errorf("there is a check for %s, which is no key", name)
		}
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := parseText(t, `channels:
  telegram:
    allowedChatIds: [123, "@anna"]
    token: nonsense-canary
models:
  retries: x
  timeoutSeconds: 0
agent:
  language: de
  timezone: Mars/Base
  workspace: [1]
log: loud
`, "KLAWBOT_CONTEXT__WINDOW=many")
	var faults keys.Faults
	if !errors.As(err, &faults) {
		t.Fatalf("got %v, want faults", err)
	}
	want := []string{
		`config.yaml:3: channels.telegram.allowedChatIds: "@anna" isn't a chat ID. Use a number, e.g. 123456, -1001234567890 or telegram_123456; ` + FindID,
		`config.yaml:4: channels.telegram.token: does not look like a bot token, such as 123456:ABC-DEF (BotFather shows it)`,
		`config.yaml:6: models.retries: must be a whole number, got "x"`,
		`config.yaml:7: models.timeoutSeconds: must be 1 to 3600, got "0"`,
		`config.yaml:9: agent.language: must be en or ru, got "de"`,
		`config.yaml:10: agent.timezone: must be a time zone such as Europe/Berlin or UTC, got "Mars/Base"`,
		`config.yaml:11: agent.workspace: must be a text`,
		`config.yaml:12: log: must hold keys, such as "format: …"`,
		`$KLAWBOT_CONTEXT__WINDOW: context.window: must be a whole number, got "many"`,
	}
	if diff := cmp.Diff(want, strings.Split(faults.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestFaultsThatNeedSeveralKeys(t *testing.T) {
	_, err := parseText(t, `models:
  default: other
  providers:
    claude: {type: anthropic, apiKey: key-of-the-test}
    home: {type: ollama, baseURL: localhost}
  entries:
    a: {provider: nowhere, model: x}
    b: {provider: claude, model: x}
    c: {provider: home, maxTokens: 5000, contextBudget: 5000}
  fallback: [b, d]
  budget: {perDayUSD: 1}
`)
	want := []string{
		`config.yaml:5: models.providers.home.baseURL: must be an address such as http://127.0.0.1:8000/v1, got "localhost"`,
		`config.yaml:7: models.entries.a.provider: must be one of models.providers (anthropic, claude, home, openai), got "nowhere"`,
		`models.entries.c.model: must name a model of the provider`,
		`config.yaml:9: models.entries.c.maxTokens: must be below contextBudget (5000), got 5000`,
		`config.yaml:2: models.default: must be one of models.entries (a, b, c), got "other"`,
		`config.yaml:10: models.fallback: must name some of models.entries (a, b, c), got "d"`,
		`config.yaml:11: models.budget.perDayUSD: counts money, so models.entries.b needs prices: {inputPerM: …, outputPerM: …}`,
	}
	if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestModelsOfAllKinds(t *testing.T) {
	l := mustParse(t, `models:
  default: claude
  providers:
    home: {type: ollama}
  entries:
    claude: {provider: anthropic, model: x, prices: {inputPerM: 3, outputPerM: 15}}
    gpt: {provider: openai, model: y, prices: {inputPerM: 0.25, outputPerM: 2, cachedPerM: 0}}
    local: {provider: home, model: z}
  fallback: [gpt, local]
  budget: {perDayUSD: 2.5, perDayTokens: 1000}
`, "ANTHROPIC_API_KEY=key-of-the-test")
	m := l.Config.EngineModels()
	want := settings.Models{
		Default: "claude", MaxShownTools: 40, Fallback: []string{"local"}, Budget: settings.Budget{PerDayUSD: 2.5, PerDayTokens: 1000}, Timeout: 2 * time.Minute, Retries: 3,
		Entries: map[string]settings.Model{
			"claude": {
				Provider: "anthropic", Type: "anthropic", BaseURL: "https://api.anthropic.com", APIKey: "key-of-the-test", Name: "x",
				MaxTokens: 4096, ContextBudget: 32000, Tools: "auto", Vision: "auto", Prices: &settings.Prices{Input: 3, Output: 15, Cached: 3},
			},
			"local": {Provider: "home", Type: "ollama", BaseURL: "http://127.0.0.1:11434", Name: "z", MaxTokens: 4096, ContextBudget: 32000, Tools: "auto", Vision: "auto"},
		},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	if p := l.Config.Models.Entries["gpt"].prices(); *p != (settings.Prices{Input: 0.25, Output: 2}) {
		t.Errorf("a price of 0 is a price: %+v", *p)
	}
	for _, wrong := range []string{"{inputPerM: -1}", "{input: 1}", "{inputPerM: dear}"} {
		if _, err := parseText(t, "models: {entries: {main: {prices: "+wrong+"}}}"); err == nil || !strings.Contains(err.Error(), "models.entries.main.prices: must hold inputPerM") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestUnknownKeysAreNotices(t *testing.T) {
	l := mustParse(t, `chanels: {}
channels:
  telegram:
    allowedChatIDs: [1]
    mode: polling
retries: 3
models:
  entries:
    main: {provder: openai, prices: {}}
`, "KLAWBOT_CHANNELS__TELEGRAM__TOKN=x", "KLAWBOT_BENCH=1", "OPENAI_API_KEY=key-of-the-test")
	want := []string{
		"config.yaml:1: chanels: unknown key; did you mean channels?",
		"config.yaml:4: channels.telegram.allowedChatIDs: unknown key; did you mean channels.telegram.allowedChatIds?",
		"config.yaml:6: retries: unknown key; did you mean models.retries?",
		"config.yaml:9: models.entries.main.provder: unknown key; did you mean models.entries.main.provider?",
		"$KLAWBOT_CHANNELS__TELEGRAM__TOKN: channels.telegram.tokn: unknown key; did you mean channels.telegram.token?",
	}
	if diff := cmp.Diff(want, l.Notices); diff != "" {
		t.Error(diff)
	}
}

func TestMoreFaultsOfTheFile(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ text, want string }{
		{"context: {window: 5}\n---\ncontext: {window: 6}\n", "config.yaml:2: a second document begins here; keep one"},
		{"channels: {telegram: {allowedChatIds: [1.5, 7, \"@name\"]}}\n", `"1.5" isn't a chat ID. Use a number, e.g. 123456, -1001234567890 or telegram_123456; "@name" isn't a chat ID`},
		{"channels: {telegram: {tokenFile: " + empty + "}}\n", "channels.telegram.tokenFile: " + empty + " is empty"},
	} {
		_, err := Source{File: "config.yaml", Redact: &redact.Set{}}.Parse([]byte(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q gives %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestEnvironmentWins(t *testing.T) {
	l := mustParse(t, `models:
  retries: 1
  providers: {Home: {baseURL: "http://127.0.0.1:1/v1"}}
  entries: {main: {provider: Home, model: "${MODEL:-small}"}}
channels: {telegram: {allowedChatIds: [1]}}
agent: {debounceMs: 0, timezone: "${NOBODY_SET_THIS}"}
`,
		"KLAWBOT_MODELS__RETRIES=0",
		"klawbot_models__retries=7",
		"KLAWBOT_CHANNELS__TELEGRAM__ALLOWEDCHATIDS=5, telegram_6",
		"KLAWBOT_CHANNELS__TELEGRAM__OWNERIDS=[7]",
		"KLAWBOT_MODELS__PROVIDERS__HOME__APIKEY=sesame",
		"KLAWBOT_MODELS__ENTRIES__FAST={\"provider\": \"Home\", \"model\": \"tiny\", \"maxTokens\": 0}",
		"KLAWBOT_LOG={\"level\": \"debug\"}",
		"KLAWBOT_DATADIR=/srv/bot",
	)
	want := Defaults()
	want.DataDir = "/srv/bot"
	want.Models.Retries = 0
	want.Models.Providers = map[string]Provider{
		"openai":    {Type: "openai", Slots: 1, UnloadAfterMinutes: 15},
		"anthropic": {Type: "anthropic", Slots: 1, UnloadAfterMinutes: 15},
		"Home":      {Type: "openai", BaseURL: "http://127.0.0.1:1/v1", APIKey: "sesame", Slots: 1, UnloadAfterMinutes: 15},
	}
	want.Models.Entries = map[string]Entry{
		"main": {Provider: "Home", Model: "small", MaxTokens: 4096, ContextBudget: 32000, Tools: "auto", Vision: "auto"},
		"fast": {Provider: "Home", Model: "tiny", MaxTokens: 0, ContextBudget: 32000, Tools: "auto", Vision: "auto"},
	}
	want.Channels.Telegram.AllowedChatIDs = []int64{5, 6}
	want.Channels.Telegram.OwnerIDs = []int64{7}
	want.Agent.DebounceMS = 0
	want.Log.Level = "debug"
	if diff := cmp.Diff(want, l.Config, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestSecretsFromFiles(t *testing.T) {
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("123456:from-the-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	known := &redact.Set{}
	read := func(text string, environ ...string) (string, error) {
		l, err := Source{File: "config.yaml", Environ: environ, Redact: known}.Parse([]byte(text))
		if err != nil {
			return "", err
		}
		return l.Channels.Telegram.Token, nil
	}
	inFile := "channels: {telegram: {tokenFile: " + token + "}}"
	for _, c := range []struct{ name, text, env, want string }{
		{"file", inFile, "A=b", "123456:from-the-file"},
		{"file before the usual variable", inFile, "TELEGRAM_BOT_TOKEN=1:usual-variable", "123456:from-the-file"},
		{"override before file", inFile, "KLAWBOT_CHANNELS__TELEGRAM__TOKEN=1:override", "1:override"},
		{"file by override", "channels: {telegram: {token: '1:config'}}", "KLAWBOT_CHANNELS__TELEGRAM__TOKENFILE=" + token, "123456:from-the-file"},
		{"empty is a value", `channels: {telegram: {token: ""}}`, "TELEGRAM_BOT_TOKEN=1:usual-variable", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := read(c.text, c.env); err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	if got := known.Text("it is 123456:from-the-file"); strings.Contains(got, "from-the-file") {
		t.Errorf("the token is not known as a secret: %s", got)
	}
	for name, text := range map[string]string{
		"missing": "channels: {telegram: {tokenFile: " + dir + "/none}}",
		"twice":   "channels: {telegram: {token: '1:canary', tokenFile: " + token + "}}",
	} {
		_, err := read(text)
		var faults keys.Faults
		if !errors.As(err, &faults) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: got %v, want a fault", name, err)
		}
	}
}

func TestBadFiles(t *testing.T) {
	deep := strings.Repeat("a: {", 3000) + strings.Repeat("}", 3000)
	for name, c := range map[string]struct{ text, want string }{
		"no YAML":    {"a: 1\n b: 2\n", "config.yaml:2: invalid YAML: mapping values are not allowed in this context"},
		"tabs":       {"agent:\n\tlanguage: en\n", "config.yaml:2: a tab indents this line; YAML needs spaces"},
		"Latin-1":    {"log:\n  level: info # d\xe9faut\n", "config.yaml:2: isn't text in UTF-8; save the file as UTF-8"},
		"NUL":        {"log: {}\nagent: {}\n\x00", "config.yaml:3: isn't text in UTF-8; save the file as UTF-8"},
		"a circle":   {"log: &a\n  <<: *a\n", "config.yaml:1: is nested too deep or too large"},
		"a list":     {"- a\n", `config.yaml:1: must hold keys, such as "agent: …"`},
		"twice":      {"log: {}\nlog: {}\n", "config.yaml:2: log: duplicate key; keep one"},
		"nested map": {"models: {entries: {main: {compat: {" + deep + "}}}}", "config.yaml:1: is nested too deep or too large"},
	} {
		_, err := parseText(t, c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	big := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(big, make([]byte, keys.MaxBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (Source{File: big, Redact: &redact.Set{}}).Load(); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a huge file: %v", err)
	}
}

// TestMergeKeys takes over what merge keys bring; a section's own keys win.
func TestMergeKeys(t *testing.T) {
	c, err := parseText(t, `
x-base: &base {type: openai, baseURL: "http://a/v1", apiKey: k}
x-more: &more {<<: *base, baseURL: "http://b/v1"}
models:
  default: a
  providers:
    own: {<<: *base, baseURL: "http://c/v1"}
    inherits: {<<: *more}
    several: {<<: [{apiKey: first}, *more]}
  entries:
    a: &a {provider: own, model: x}
    b:
      <<: *a
      model: y
`)
	if err != nil {
		t.Fatal(err)
	}
	p, e := c.Models.Providers, c.Models.Entries
	if p["own"].BaseURL != "http://c/v1" || p["own"].APIKey != "k" || p["inherits"].BaseURL != "http://b/v1" || p["several"].APIKey != "first" || p["several"].BaseURL != "http://b/v1" {
		t.Errorf("providers: %+v", p)
	}
	if e["b"].Provider != "own" || e["b"].Model != "y" {
		t.Errorf("entries: %+v", e)
	}
}

func TestFindConfig(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	env := map[string]string{"HOME": dir}
	getenv := func(name string) string { return env[name] }
	want := func(flag, file string) {
		t.Helper()
		if got, err := Find(flag, getenv); err != nil || got != file {
			t.Errorf("got %q, %v, want %q", got, err, file)
		}
	}
	want("", "")
	want("", write("config.yaml"))
	want("", write(".config/klawbot/config.yaml"))
	env["XDG_CONFIG_HOME"] = filepath.Join(dir, "xdg")
	want("", write("xdg/klawbot/config.yaml"))
	env["KLAWBOT_HOME"] = filepath.Join(dir, "home")
	want("", write("home/config.yaml"))
	env["KLAWBOT_CONFIG"] = write("named.yaml")
	want("", env["KLAWBOT_CONFIG"])
	want("flag.yaml", write("flag.yaml"))
	if _, err := Find("missing.yaml", getenv); err == nil {
		t.Error("a missing file that was named is taken")
	}
}

func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("../../../../config.yaml.example")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example, "KLAWBOT_MODELS={}")
	f.Add([]byte("a: &a [*a]"), "KLAWBOT_A__B__C={")
	f.Add([]byte("models: {entries: {x: null}}"), "KLAWBOT___=")
	f.Fuzz(func(t *testing.T, text []byte, pair string) {
		l, err := Source{File: "config.yaml", Environ: []string{pair}, Redact: &redact.Set{}}.Parse(text)
		if err == nil && l.Models.TimeoutSeconds < 1 {
			t.Error("a configuration outside its bounds is taken")
		}
	})
}
