package config

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/gateway"
	"klawbot/tools/exec/command"
	"klawbot/whitelist"
)

// problems are what is allowed and does not work, a line for each with what to do. They
// do not stop the bot: the rest of it works. A file is not looked at here.
func (l *Loaded) problems(notes []keys.Note) []string {
	p := problems{config: &l.Config, origins: l.origins}
	for _, n := range notes {
		// The example of the configuration names the variables of all providers.
		if key := strings.Join(n.Path, "."); !strings.HasSuffix(key, ".apiKey") || p.uses(n.Path) {
			p.lines = append(p.lines, n.Text)
			p.noted = append(p.noted, key)
		}
	}
	p.models()
	p.people()
	p.heartbeat()
	p.addresses()
	p.rules()
	p.commands()
	if strings.Contains(l.DataDir, "$") {
		p.add("dataDir", "%q is taken as written; a variable is ${NAME}, such as ${HOME}", l.DataDir)
	}
	if s := l.Tools.Search; s.Backend == "" && s.URL+s.APIKey != "" {
		p.add("tools.search.backend", "is empty, so tools.search is off; name one of them")
	}
	return p.lines
}

type problems struct {
	config  *Config
	origins map[string]string
	lines   []string
	noted   []string // keys that have a line already
}

func (p *problems) add(key, format string, args ...any) {
	p.noted = append(p.noted, key)
	p.lines = append(p.lines, keys.Fault{Where: p.origins[key], Key: key, Text: fmt.Sprintf(format, args...)}.String())
}

// uses reports whether something names the provider whose key is at path.
func (p *problems) uses(path []string) bool {
	if len(path) < 3 || path[1] != "providers" {
		return true
	}
	e := p.config.Memory.Embedding
	return e.Type == "openai" && e.Provider == path[2] || slices.ContainsFunc(slices.Collect(maps.Values(p.config.Models.Entries)), func(e Entry) bool { return e.Provider == path[2] })
}

// models are entries that cannot be called, and addresses that lead nowhere.
func (p *problems) models() {
	m := p.config.Models
	named := map[string]string{}
	for _, name := range m.Fallback {
		named[name] = "models.fallback"
	}
	named[m.Small] = "models.small"
	if p.origins["models.default"]+p.origins["models.entries."+m.Default] != "" { // else no model was chosen yet
		named[m.Default] = "models.default"
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		e, there := m.Entries[name]
		if there && !m.Providers[e.Provider].usable() {
			p.unusable(named[name], name+" cannot be called", e.Provider)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Providers)) {
		u, err := url.Parse(m.Providers[name].BaseURL)
		known := err == nil && slices.Contains([]string{"", "api.deepseek.com", "api.perplexity.ai"}, u.Hostname())
		if m.Providers[name].Type == "openai" && !known && strings.Trim(u.Path, "/") == "" {
			p.add("models.providers."+name+".baseURL", "usually ends in /v1, such as %s/v1", strings.TrimRight(u.String(), "/"))
		}
	}
	if e := p.config.Memory.Embedding; e.Type == "openai" {
		if !m.Providers[e.Provider].usable() {
			p.unusable("memory.embedding.provider", "it cannot be asked for embeddings", e.Provider)
		}
		if e.Model == autoModel {
			p.add("memory.embedding.model", "auto is for the type onnx; name one of the provider's, such as text-embedding-3-small")
		}
	}
}

// unusable says that a provider has neither a key nor an address, unless its key has a
// line already.
func (p *problems) unusable(key, what, provider string) {
	if apiKey := "models.providers." + provider + ".apiKey"; !slices.Contains(p.noted, apiKey) {
		p.add(key, "%s: the provider %s has neither apiKey nor baseURL; set %s, or run klawbot init", what, provider, apiKey)
	}
}

func (p *problems) people() {
	t := p.config.Channels.Telegram
	for _, list := range []struct {
		key string
		ids []int64
	}{{"allowedChatIds", t.AllowedChatIDs}, {"allowedUserIds", t.AllowedUserIDs}, {"ownerIds", t.OwnerIDs}} {
		for _, id := range list.ids {
			switch {
			case id < 0 && list.key != "allowedChatIds":
				p.add("channels.telegram."+list.key, "%d is a group; this list takes the IDs of people, which are positive", id)
			case id >= firstLargeGroup:
				p.add("channels.telegram."+list.key, "%d looks like a group without its minus sign: -%[1]d", id)
			}
		}
	}
	for _, id := range t.OwnerIDs {
		if id > 0 && t.Token != "" && len(t.AllowedChatIDs) > 0 && !slices.Contains(t.AllowedChatIDs, id) {
			p.add("channels.telegram.ownerIds", "%d is not in allowedChatIds, so alerts do not reach this owner; run klawbot allow %[1]d", id)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.config.Tools.Policy.Chats)) {
		if chat, err := PolicyChat(name); err == nil {
			p.reaches("tools.policy.chats."+name, chat)
		}
	}
}

// firstLargeGroup is where the ids of supergroups begin, without their sign. Those of
// people are smaller.
const firstLargeGroup = 1_000_000_000_000

func (p *problems) reaches(key, chat string) {
	id, err := gateway.ParseChatID(chat)
	if err == nil && id.Channel == "telegram" && !slices.Contains(p.config.Channels.Telegram.AllowedChatIDs, id.ID) {
		p.add(key, "%s is not an allowed chat; run klawbot allow %d", whitelist.FormatID(id.Channel, id.ID), id.ID)
	}
}

func (p *problems) heartbeat() {
	if into := p.config.Heartbeat.InjectInto; into != "" {
		p.reaches("heartbeat.injectInto", into)
	}
}

// expression is what regular expressions have and commands and paths have not.
var expression = regexp.MustCompile(`^\^|\.[*+]|\\[bdsw]`)

// glob matches the signs of file patterns, which commands rarely contain.
var glob = regexp.MustCompile(`^\*\*?[./]|/\*\*?$`)

// rules are expressions that are compared as words, and so forbid nothing.
func (p *problems) rules() {
	for i, r := range p.config.Tools.Rules {
		for _, text := range r.Forbidden {
			where := p.origins[fmt.Sprintf("tools.rules.%d", i)]
			if strings.HasPrefix(text, "re:") {
				continue
			}
			if glob.MatchString(text) {
				p.lines = append(p.lines, fmt.Sprintf("%s: tools.rules: rule %s: %q looks like a pattern of names; write a name or a directory, or re: and a regular expression", where, r.Name, text))
			}
			if expression.MatchString(text) {
				p.lines = append(p.lines, fmt.Sprintf("%s: tools.rules: rule %s: %q looks like a regular expression; write re:%[3]s", where, r.Name, text))
			}
		}
	}
}

// commands are patterns of tools.exec.allow that allow nothing.
func (p *problems) commands() {
	for _, text := range p.config.Tools.Exec.Allow {
		word := strings.TrimSpace(text)
		switch pattern, err := command.NewPattern(text); {
		case text == harmless || err != nil: // an error has stopped the start
		case strings.EqualFold(word, harmless):
			p.add("tools.exec.allow", "%q is the program of this name; write %s for the built-in list", text, harmless)
		case word == "":
			p.add("tools.exec.allow", "an empty pattern allows nothing; name a command, such as \"git status\"")
		case pattern.Idle():
			p.add("tools.exec.allow", "%q allows no command; begin with the name of a program, such as \"git status\" or \"npm run *\"", text)
		}
	}
}

func (p *problems) addresses() {
	t := p.config.Channels.Telegram
	if t.Mode != "webhook" {
		return
	}
	for _, other := range [][2]string{{"health.listen", p.config.Health.Listen}, {"metrics.listen", p.config.Metrics.Listen}} {
		if _, port, err := net.SplitHostPort(other[1]); err == nil && port != "0" && strings.HasSuffix(t.Webhook.Listen, ":"+port) {
			p.add(other[0], "has the port of channels.telegram.webhook.listen; choose another port")
		}
	}
}
