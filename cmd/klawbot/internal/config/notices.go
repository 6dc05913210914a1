package config

import "klawbot/cmd/klawbot/internal/keys"

// notices are the lines about what was read. A key whose variable is not set matters
// only where a model uses its provider: the example of the configuration names the
// variables of all.
func notices(c *Config, notes []keys.Note) []string {
	var lines []string
	for _, n := range notes {
		if len(n.Path) == 4 && n.Path[1] == "providers" && n.Path[3] == "apiKey" && !c.uses(n.Path[2]) {
			continue
		}
		lines = append(lines, n.Text)
	}
	return lines
}

// uses reports whether something names the provider.
func (c *Config) uses(provider string) bool {
	for _, e := range c.Models.Entries {
		if e.Provider == provider {
			return true
		}
	}
	return c.Memory.Embedding.Type == "openai" && c.Memory.Embedding.Provider == provider
}

// oddities are lines about what is allowed and does not work, or not as it looks.
func (l *Loaded) oddities() []string { return nil }
