package config

import (
	"cmp"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"klawbot/engine"
	"klawbot/gateway/console"
	"klawbot/gateway/telegram"
	"klawbot/whitelist"
)

// whitelist is who may talk to the bot.
func (c *Config) whitelist() whitelist.List {
	t := c.Channels.Telegram
	return whitelist.List{
		"telegram": {Chats: t.AllowedChatIDs, Users: t.AllowedUserIDs},
		"console":  {Local: true},
	}
}

// WebhookSettings is the webhook as the channel wants it.
func (t *Telegram) WebhookSettings() telegram.Webhook {
	return telegram.Webhook{Listen: t.Webhook.Listen, URL: t.Webhook.URL, Secret: t.Webhook.Secret}
}

// settings are what the engine asks for while it runs.
func (c *Config) settings() engine.Settings {
	return engine.Settings{
		Language:                c.Agent.Language,
		Location:                c.Location(),
		Debounce:                time.Duration(c.Agent.DebounceMS) * time.Millisecond,
		MaxToolCallRounds:       c.Agent.MaxToolCallRounds,
		MaxConcurrentModelCalls: c.Agent.MaxConcurrentModelCalls,
		ContextWindow:           c.Context.Window,
		CompactAt:               c.Context.CompactAt,
		MaxOutputChars:          c.Tools.MaxOutputChars,
		MaxShownTools:           c.Tools.MaxShown,
		Policy:                  c.policy(),
		MCP:                     c.servers(),
		ApprovalTimeout:         time.Duration(c.Tools.ApprovalTimeoutSeconds) * time.Second,
		Streaming:               map[string]string{"telegram": c.Channels.Telegram.Streaming, "console": engine.StreamEdit},
		Owners:                  map[string][]int64{"telegram": c.Channels.Telegram.OwnerIDs, "console": {console.User}},
		HoldAmbiguous:           c.Delivery.Ambiguous == "hold",
		BackupEvery:             time.Duration(c.Backup.EveryHours * float64(time.Hour)),
		BackupKeep:              c.Backup.Keep,
		Models:                  c.EngineModels(),
		Memory:                  c.EngineMemory(),
		Scheduler: engine.Scheduler{
			MisfireThreshold: time.Duration(c.Scheduler.MisfireThresholdSeconds * float64(time.Second)),
			MisfireGrace:     time.Duration(c.Scheduler.MisfireGraceSeconds * float64(time.Second)),
			RunTimeout:       time.Duration(c.Scheduler.RunTimeoutSeconds) * time.Second,
			MinInterval:      time.Duration(c.Scheduler.MinIntervalSeconds) * time.Second,
			MaxSubagents:     c.Scheduler.MaxSubagents,
			RunTokens:        c.Scheduler.RunTokens,
			History:          c.Context.SubagentRuns,
		},
		Heartbeat: c.heartbeat(),
	}
}

// Location is the zone of the times that people see, by its name: schedules keep
// theirs.
func (c *Config) Location() *time.Location {
	name := c.Agent.Timezone
	if name == "" {
		name = GuessTimezone(os.Getenv, "/etc/localtime")
	}
	loc, err := time.LoadLocation(name)
	if err != nil { // checked when it was read; the zone files went away since
		return time.UTC
	}
	return loc
}

// GuessTimezone reads the system's zone from $TZ or the link at localtime.
func GuessTimezone(getenv func(string) string, localtime string) string {
	guesses := []string{strings.TrimPrefix(getenv("TZ"), ":")}
	if target, err := filepath.EvalSymlinks(localtime); err == nil {
		_, zone, _ := strings.Cut(filepath.ToSlash(target), "/zoneinfo/")
		guesses = append(guesses, zone)
	}
	for _, zone := range guesses {
		if zone == "" {
			continue
		}
		if _, err := time.LoadLocation(zone); err == nil {
			return zone
		}
	}
	return "UTC"
}

// OpenAI is where a provider of that type without an address of its own is.
const OpenAI = "https://api.openai.com/v1"

// usualAddress is where providers without an address of their own are, by type.
var usualAddress = map[string]string{
	"openai": OpenAI, "anthropic": "https://api.anthropic.com", "ollama": "http://127.0.0.1:11434",
}

// EngineModels are the entries that can be called. Without the default among them the
// bot is in no-model mode.
func (c *Config) EngineModels() engine.Models {
	m := engine.Models{
		Small:   c.Models.Small,
		Entries: map[string]engine.Model{},
		Timeout: time.Duration(c.Models.TimeoutSeconds) * time.Second,
		Retries: c.Models.Retries,
		Budget:  engine.Budget(c.Models.Budget),
	}
	for name, e := range c.Models.Entries {
		p := c.Models.Providers[e.Provider]
		if !p.usable() {
			continue
		}
		m.Entries[name] = engine.Model{
			Provider: e.Provider, Type: p.Type, BaseURL: cmp.Or(p.BaseURL, usualAddress[p.Type]), APIKey: p.APIKey,
			Name: e.Model, MaxTokens: e.MaxTokens, ContextBudget: e.ContextBudget, Prices: e.prices(), Compat: e.Compat,
		}
	}
	for _, name := range c.Models.Fallback {
		if _, ok := m.Entries[name]; ok {
			m.Fallback = append(m.Fallback, name)
		}
	}
	if _, ok := m.Entries[c.Models.Default]; ok {
		m.Default = c.Models.Default
	}
	return m
}

// usable says that there is an address to call or a key for the usual one.
func (p Provider) usable() bool {
	return p.Type == "script" || p.Type == "ollama" || p.BaseURL != "" || p.APIKey != ""
}

// prices are nil when nobody knows what the model costs. What the provider knew
// already costs as much as other input, unless the configuration says otherwise.
func (e Entry) prices() *engine.Prices {
	if len(e.Prices) == 0 {
		return nil
	}
	p := engine.Prices{Input: e.Prices["inputPerM"], Output: e.Prices["outputPerM"], Cached: e.Prices["inputPerM"]}
	if cached, ok := e.Prices["cachedPerM"]; ok {
		p.Cached = cached
	}
	return &p
}

// Level is how much is logged.
func (c *Config) Level() slog.Level {
	var l slog.Level
	if err := l.UnmarshalText([]byte(c.Log.Level)); err != nil { // checked when it was read
		return slog.LevelInfo
	}
	return l
}
