package config

import (
	"cmp"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"klawbot/engine/settings"

	"klawbot/engine/data"
	"klawbot/gateway"
	"klawbot/gateway/console"
	"klawbot/gateway/telegram"
	"klawbot/gateway/web"
	"klawbot/whitelist"
)

func (c *Config) whitelist() whitelist.List {
	t := c.Channels.Telegram
	return whitelist.List{
		"telegram": {Chats: t.AllowedChatIDs, Users: t.AllowedUserIDs},
		"console":  {Local: true},
		"web":      {Local: true},
	}
}

// WebhookSettings is the webhook as the channel wants it.
func (t *Telegram) WebhookSettings() telegram.Webhook {
	return telegram.Webhook{Listen: t.Webhook.Listen, URL: t.Webhook.URL, Secret: t.Webhook.Secret}
}

// settings are what the engine asks for while it runs.
func (c *Config) settings() settings.Settings {
	return settings.Settings{
		Language:                c.Agent.Language,
		Location:                c.Location(),
		Debounce:                time.Duration(c.Agent.DebounceMS) * time.Millisecond,
		MaxToolCallRounds:       c.Agent.MaxToolCallRounds,
		MaxConcurrentModelCalls: c.Agent.MaxConcurrentModelCalls,
		ContextWindow:           c.Context.Window,
		CompactAt:               c.Context.CompactAt,
		MaxOutputChars:          c.Tools.MaxOutputChars,
		Policy:                  c.policy(),
		MCP:                     c.servers(),
		ApprovalTimeout:         time.Duration(c.Tools.ApprovalTimeoutSeconds) * time.Second,
		Streaming:               map[string]string{"telegram": c.Channels.Telegram.Streaming, "console": settings.StreamEdit, "web": settings.StreamEdit},
		Owners:                  map[string][]int64{"telegram": c.Channels.Telegram.OwnerIDs, "console": {console.User}, "web": {web.User}},
		HoldAmbiguous:           c.Delivery.Ambiguous == "hold",
		Backup:                  settings.Backups{Every: time.Duration(c.Backup.EveryHours * float64(time.Hour)), Keep: c.Backup.Keep},
		Models:                  c.EngineModels(),
		Memory:                  c.EngineMemory(),
		Scheduler: settings.Scheduler{
			MisfireThreshold: time.Duration(c.Scheduler.MisfireThresholdSeconds * float64(time.Second)),
			MisfireGrace:     time.Duration(c.Scheduler.MisfireGraceSeconds * float64(time.Second)),
			RunTimeout:       time.Duration(c.Scheduler.RunTimeoutSeconds) * time.Second,
			MinInterval:      time.Duration(c.Scheduler.MinIntervalSeconds) * time.Second,
			MaxSubagents:     c.Scheduler.MaxSubagents,
			RunTokens:        c.Scheduler.RunTokens,
			History:          c.Context.SubagentRuns,
		},
		Heartbeat: c.heartbeat(),
		Media:     c.engineMedia(),
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
func (c *Config) EngineModels() settings.Models {
	m := settings.Models{
		Small:         c.Models.Small,
		MaxShownTools: c.Tools.MaxShown,
		Entries:       map[string]settings.Model{},
		Timeout:       time.Duration(c.Models.TimeoutSeconds) * time.Second,
		Retries:       c.Models.Retries,
		Budget:        settings.Budget(c.Models.Budget),
	}
	for name, e := range c.Models.Entries {
		p := c.Models.Providers[e.Provider]
		if !p.usable() {
			continue
		}
		m.Entries[name] = settings.Model{
			Provider: e.Provider, Type: p.Type, BaseURL: cmp.Or(p.BaseURL, usualAddress[p.Type]), APIKey: p.APIKey,
			Name: e.Model, MaxTokens: min(e.MaxTokens, p.window(e)/2), ContextBudget: p.window(e), Prices: e.prices(), Compat: e.Compat,
			Tools: e.Tools, Vision: e.Vision, Local: p.local(),
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

// managed is the type of a provider that klawbot runs on this machine.
const managed = "managed"

// localContext is the window of a model on this machine when the configuration does not
// say, in tokens: more takes memory, and minutes to read.
const localContext = 8192

// window is how many tokens a request may have.
func (p Provider) window(e Entry) int {
	if p.Type != managed {
		return e.ContextBudget
	}
	return min(e.ContextBudget, cmp.Or(p.Context, localContext))
}

// local is how a model runs on this machine.
func (p Provider) local() settings.Local {
	if p.Type != managed {
		return settings.Local{}
	}
	return settings.Local{
		Program: p.Program, Threads: p.Threads, Slots: p.Slots, UnloadAfter: time.Duration(p.UnloadAfterMinutes) * time.Minute,
	}
}

// usable says that there is an address to call or a key for the usual one.
func (p Provider) usable() bool {
	return p.Type == "script" || p.Type == "ollama" || p.Type == managed || p.BaseURL != "" || p.APIKey != ""
}

// prices are nil when the price of the model is unknown. What the provider knew
// already costs as much as other input, unless the configuration says otherwise.
func (e Entry) prices() *settings.Prices {
	if len(e.Prices) == 0 {
		return nil
	}
	p := settings.Prices{Input: e.Prices["inputPerM"], Output: e.Prices["outputPerM"], Cached: e.Prices["inputPerM"]}
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

func (c *Config) heartbeat() settings.Heartbeat {
	h := settings.Heartbeat{InjectInto: c.Heartbeat.InjectInto, PerDayTokens: c.Heartbeat.PerDayTokens}
	// Both were checked when they were read.
	h.Every, _ = parseInterval(c.Heartbeat.Every)
	h.Quiet, _ = parseQuietHours(c.Heartbeat.QuietHours)
	return h
}

var errInterval = errors.New(`must be a time of a minute at least, such as 30m, 2h or PT1H, or "" for off`)

// parseInterval reads a time such as 30m, 2h or PT1H; "" and off are 0.
func parseInterval(text string) (time.Duration, error) {
	if text == "" || text == "off" {
		return 0, nil
	}
	if iso, ok := strings.CutPrefix(text, "PT"); ok {
		text = strings.ToLower(iso)
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Minute || d > 31*24*time.Hour {
		return 0, errInterval
	}
	return d, nil
}

func interval(v any) error {
	_, err := parseInterval(v.(string))
	return err
}

// chatWithChannel is the text form of a chat, or nothing.
func chatWithChannel(v any) error {
	if v.(string) == "" {
		return nil
	}
	if _, err := gateway.ParseChatID(v.(string)); err != nil {
		return errors.New(`must be a chat with its channel, such as telegram_123456, or ""`)
	}
	return nil
}

var quietForm = regexp.MustCompile(`^\s*([01]?\d|2[0-4]):([0-5]\d)\s*[-–]\s*([01]?\d|2[0-4]):([0-5]\d)\s*$`)

// parseQuietHours reads "22:00-07:00"; "" is none.
func parseQuietHours(text string) (q settings.QuietHours, err error) {
	if text == "" {
		return q, nil
	}
	m := quietForm.FindStringSubmatch(text)
	if m == nil {
		return q, errors.New(`must be two times of the day such as 22:00-07:00, or "" for none`)
	}
	at := func(hours, minutes string) time.Duration {
		d, _ := time.ParseDuration(hours + "h" + minutes + "m") // the pattern has only digits there
		return d
	}
	q = settings.QuietHours{From: at(m[1], m[2]), To: at(m[3], m[4])}
	if q.From > 24*time.Hour || q.To > 24*time.Hour || q.From == q.To {
		return settings.QuietHours{}, errors.New("must be two different times of the day such as 22:00-07:00")
	}
	return q, nil
}

func quietHours(v any) error {
	_, err := parseQuietHours(v.(string))
	return err
}

// Memory is how things are kept and found.
type Memory struct {
	Embedding  Embedding    `koanf:"embedding"`
	Chunk      Chunk        `koanf:"chunk"`
	Search     MemorySearch `koanf:"search"`
	AutoRecall AutoRecall   `koanf:"autoRecall"`
}

// Embedding is the sentence model that makes the vectors: "onnx", "openai" or
// "off".
type Embedding struct {
	Type     string `koanf:"type"`
	Model    string `koanf:"model"`
	Runtime  string `koanf:"runtime"`
	Path     string `koanf:"path"`
	Provider string `koanf:"provider"`
}

// Chunk says how texts are cut, in tokens.
type Chunk struct {
	Size    int `koanf:"size"`
	Overlap int `koanf:"overlap"`
}

// MemorySearch says how much is found, and how the two sides of the search come
// together: "score" or "rrf".
type MemorySearch struct {
	TopK   int    `koanf:"topK"`
	Fusion string `koanf:"fusion"`
}

// AutoRecall is what the model is reminded of without asking.
type AutoRecall struct {
	Enabled   bool    `koanf:"enabled"`
	TopK      int     `koanf:"topK"`
	MaxTokens int     `koanf:"maxTokens"`
	MinScore  float64 `koanf:"minScore"`
}

// autoModel is the embedding model for agent.language and for the stored texts.
const autoModel = "auto"

func defaultMemory() Memory {
	return Memory{
		Embedding:  Embedding{Type: "onnx", Model: autoModel, Provider: "openai"},
		Chunk:      Chunk{Size: 400, Overlap: 80},
		Search:     MemorySearch{TopK: 10, Fusion: "score"},
		AutoRecall: AutoRecall{Enabled: true, TopK: 3, MaxTokens: 400, MinScore: 0.5},
	}
}

// EngineMemory are the settings of the memory as the engine wants them.
func (c *Config) EngineMemory() settings.Memory {
	m := c.Memory
	p := c.Models.Providers[m.Embedding.Provider]
	e := settings.Embedding{
		Type: m.Embedding.Type, Model: expandHome(m.Embedding.Model, os.Getenv),
		Runtime: expandHome(m.Embedding.Runtime, os.Getenv), Path: expandHome(m.Embedding.Path, os.Getenv),
	}
	if e.Model == autoModel {
		e.Model, e.Fallback = data.EmbeddingFor(c.Agent.Language)
		switch {
		case e.Path != "": // a model of one's own is known by the default's name
			e.Model, e.Fallback = data.EmbeddingFor("en")
		case e.Type == "onnx" && e.Model != data.MultilingualEmbedding:
			e.Foreign = data.MultilingualEmbedding
		}
	}
	if e.Type == "openai" {
		e.BaseURL, e.APIKey = cmp.Or(p.BaseURL, usualAddress[p.Type]), p.APIKey
	}
	return settings.Memory{
		Embedding: e, ChunkSize: m.Chunk.Size, ChunkOverlap: m.Chunk.Overlap,
		TopK: m.Search.TopK, Fusion: m.Search.Fusion, AutoRecall: settings.AutoRecall(m.AutoRecall),
	}
}

// checkMemory looks at what several keys of the memory say together.
func checkMemory(c *Config, add func(key, format string, args ...any)) {
	m := c.Memory
	if m.Chunk.Overlap >= m.Chunk.Size {
		add("memory.chunk.overlap", "must be below memory.chunk.size (%d), got %d", m.Chunk.Size, m.Chunk.Overlap)
	}
	if _, ok := c.Models.Providers[m.Embedding.Provider]; m.Embedding.Type == "openai" && !ok {
		add("memory.embedding.provider", "must be one of models.providers (%s), got %q", names(c.Models.Providers), m.Embedding.Provider)
	}
	if m.Embedding.Model == "" && m.Embedding.Type != "off" {
		add("memory.embedding.model", "must name a model")
	}
}
