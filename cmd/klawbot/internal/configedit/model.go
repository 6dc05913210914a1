package configedit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/cmd/klawbot/internal/yamledit"
	"klawbot/engine/settings"
)

// Quote writes a text so that the configuration reads it back as it is.
func Quote(text string) string {
	quoted, err := json.Marshal(strings.ReplaceAll(text, "${", "$${"))
	if err != nil { // a string always has a form in JSON
		panic(err)
	}
	return string(quoted)
}

// Reference names the variable that holds the secret, or quotes the secret.
func Reference(secret string, environ []string) string {
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		known := strings.HasSuffix(name, "_API_KEY") || name == "TELEGRAM_BOT_TOKEN"
		if known && value == secret && secret != "" {
			return `"${` + name + `}"`
		}
	}
	return Quote(secret)
}

// SetDefault makes an entry of config.yaml the default model, "" for none.
func SetDefault(l *config.Live, entry string) error {
	return setModel(l, entry, nil)
}

// AddModel adds a model to config.yaml, with its provider, and makes it the default. It
// returns the name of the entry.
func AddModel(l *config.Live, m settings.Model) (entry string, err error) {
	entry = free(m.Name, l.Config().Models.Entries)
	return entry, setModel(l, entry, &m)
}

// SameModel reports whether two models are the same one at the same server.
func SameModel(a, b settings.Model) bool {
	return a.Provider == b.Provider && a.Type == b.Type && a.BaseURL == b.BaseURL && a.APIKey == b.APIKey && a.Name == b.Name &&
		a.MaxTokens == b.MaxTokens && a.ContextBudget == b.ContextBudget
}

// setModel edits the section models. The proof: the rest of the file means what it did.
func setModel(l *config.Live, entry string, m *settings.Model) error {
	s := l.Source
	if s.File == "" {
		return ErrNoFile
	}
	if where := l.Given("models.default"); strings.HasPrefix(where, "$") {
		return usage.Errorf("models.default comes from %s in the environment, which wins over config.yaml; change it there", where)
	}
	return change(s, config.Display(s.File), func(text []byte) ([]byte, error) {
		changed, before, after, err := proven(s, text, errModelByHand, func(before *config.Loaded) ([]byte, error) {
			return editModel(text, before, entry, m, s.Environ)
		})
		if err != nil {
			return nil, err
		}
		was, is := before.Config, after.Config
		if got := after.EngineModels().Entries[entry]; m != nil && !SameModel(got, *m) || is.Models.Default != entry {
			return nil, errModelByHand
		}
		for name := range was.Models.Entries {
			if _, there := is.Models.Entries[name]; !there { // the default entry, which stands in no file
				delete(was.Models.Entries, name)
			}
		}
		delete(is.Models.Entries, entry)
		delete(was.Models.Entries, entry)
		if m != nil && before.Given("models.providers."+m.Provider) == "" { // it is new in the file
			delete(is.Models.Providers, m.Provider)
			delete(was.Models.Providers, m.Provider)
		}
		was.Models.Default, is.Models.Default = "", ""
		if !reflect.DeepEqual(was, is) {
			return nil, errModelByHand
		}
		return changed, nil
	})
}

var (
	ErrNoFile      = usage.Errorf("there is no config.yaml yet; klawbot init writes one")
	errModelByHand = byHand("edit models")
)

// editModel writes the entry and its provider, when they are new, and the default. A
// provider of the same name with another address or key keeps them: other entries use it.
func editModel(text []byte, before *config.Loaded, entry string, m *settings.Model, environ []string) (_ []byte, err error) {
	if m != nil {
		p, taken := before.Models.Providers[m.Provider]
		same := p.Type == m.Type && p.BaseURL == m.BaseURL && p.APIKey == m.APIKey
		if used := before.Given("models.providers." + m.Provider); taken && !same && used != "" {
			m.Provider = free(m.Provider, before.Models.Providers)
		}
		provider := fmt.Sprintf("{type: %s, baseURL: %s, apiKey: %s}", m.Type, Quote(m.BaseURL), Reference(m.APIKey, environ))
		if m.Type == "managed" {
			provider = "{type: managed}"
		}
		if text, err = yamledit.Add(text, []string{"models", "providers", m.Provider}, provider); err != nil {
			return nil, err
		}
		about := fmt.Sprintf("{provider: %s, model: %s, maxTokens: %d, contextBudget: %d}", m.Provider, Quote(m.Name), m.MaxTokens, m.ContextBudget)
		if text, err = yamledit.Add(text, []string{"models", "entries", entry}, about); err != nil {
			return nil, err
		}
	}
	return yamledit.Set(text, []string{"models", "default"}, Quote(entry))
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// free is a name for a table that is not taken, made of a text.
func free[V any](text string, taken map[string]V) string {
	base := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(text), "-"), "-")
	if base == "" {
		base = "model"
	}
	name := base
	for n := 2; ; n++ {
		if _, is := taken[name]; !is {
			return name
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
}

// SetToken sets the token of the bot in config.yaml, "" for no Telegram.
func SetToken(l *config.Live, token string) error {
	const key = "channels.telegram.token"
	if l.Source.File != "" && (strings.HasPrefix(l.Given(key), "$") || l.Given(key+"File") != "") {
		return usage.Errorf("the token does not come from config.yaml; change it where it is: a variable, or the file of channels.telegram.tokenFile")
	}
	return setOne(l, key, Reference(token, l.Source.Environ), "edit "+key, func(c *config.Config) { c.Channels.Telegram.Token = token })
}

// SetAPIURL sets the address of the Bot API server in config.yaml.
func SetAPIURL(l *config.Live, address string) error {
	const key = "channels.telegram.apiURL"
	return setOne(l, key, Quote(address), "edit "+key, func(c *config.Config) { c.Channels.Telegram.APIURL = address })
}

// SetTimezone sets the time zone of the bot in config.yaml.
func SetTimezone(l *config.Live, zone string) error {
	return setOne(l, "agent.timezone", Quote(zone), "edit agent.timezone", func(c *config.Config) { c.Agent.Timezone = zone })
}

// EnableWeb turns the web page on in config.yaml.
func EnableWeb(l *config.Live) error {
	return setOne(l, "channels.web.enabled", "true", "set channels.web.enabled: true", func(c *config.Config) { c.Channels.Web.Enabled = true })
}

// SetEmbedding names the embedding model in config.yaml.
func SetEmbedding(l *config.Live, model string) error {
	const key = "memory.embedding.model"
	return setOne(l, key, Quote(model), "edit "+key, func(c *config.Config) { c.Memory.Embedding.Model = model })
}

// AddOwner makes a person an owner in config.yaml.
func AddOwner(l *config.Live, id int64) error {
	const key = "channels.telegram.ownerIds"
	return editOne(l, key, "edit "+key, func(text []byte) ([]byte, error) {
		return yamledit.AddItem(text, strings.Split(key, "."), strconv.FormatInt(id, 10), sameID(id))
	}, func(c *config.Config) {
		c.Channels.Telegram.OwnerIDs = config.Unique(append(c.Channels.Telegram.OwnerIDs, id))
	})
}

// setOne sets a key of config.yaml to a value as it is written there.
func setOne(l *config.Live, key, written, instead string, set func(*config.Config)) error {
	return editOne(l, key, instead, func(text []byte) ([]byte, error) { return yamledit.Set(text, strings.Split(key, "."), written) }, set)
}

// editOne edits what stands at a key of config.yaml. The proof: read back, the file means
// what it did, but for what set sets. instead is what a person can do.
func editOne(l *config.Live, key, instead string, edit func(text []byte) ([]byte, error), set func(*config.Config)) error {
	s, hand := l.Source, byHand(instead)
	if s.File == "" {
		return ErrNoFile
	}
	if where := l.Given(key); strings.HasPrefix(where, "$") {
		return usage.Errorf("%s comes from %s in the environment, which wins over config.yaml; change it there", key, where)
	}
	return change(s, config.Display(s.File), func(text []byte) ([]byte, error) {
		changed, before, after, err := proven(s, text, hand, func(*config.Loaded) ([]byte, error) { return edit(text) })
		if err != nil {
			return nil, err
		}
		if set(&before.Config); !reflect.DeepEqual(before.Config, after.Config) {
			return nil, hand
		}
		return changed, nil
	})
}
