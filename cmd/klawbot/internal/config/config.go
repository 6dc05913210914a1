// Package config reads config.yaml and the environment, checks them, and tells the
// rest of the program what they mean while the bot runs.
package config

import (
	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/engine/settings"
	"klawbot/tools/find"
)

// Config is the whole configuration, complete and checked. Its keys are the
// names in config.yaml; their meaning and defaults stand in
// config.yaml.example, which a test compares with the code.
type Config struct {
	DataDir   string    `koanf:"dataDir"`
	Channels  Channels  `koanf:"channels"`
	Agent     Agent     `koanf:"agent"`
	Models    Models    `koanf:"models"`
	Memory    Memory    `koanf:"memory"`
	Media     Media     `koanf:"media"`
	Context   Context   `koanf:"context"`
	Files     Files     `koanf:"files"`
	Security  Security  `koanf:"security"`
	Tools     Tools     `koanf:"tools"`
	Scheduler Scheduler `koanf:"scheduler"`
	Heartbeat Heartbeat `koanf:"heartbeat"`
	Delivery  Delivery  `koanf:"delivery"`
	Backup    Backup    `koanf:"backup"`
	Standby   Standby   `koanf:"standby"`
	Health    Health    `koanf:"health"`
	Metrics   Metrics   `koanf:"metrics"`
	Log       Log       `koanf:"log"`
}

// Channels are the ways in and out.
type Channels struct {
	Telegram Telegram `koanf:"telegram"`
	Console  Console  `koanf:"console"`
	Web      Web      `koanf:"web"`
}

// Telegram is on when it has a token.
type Telegram struct {
	Token          string  `koanf:"token" secret:"true"`
	TokenFile      string  `koanf:"tokenFile"`
	AllowedChatIDs []int64 `koanf:"allowedChatIds"`
	AllowedUserIDs []int64 `koanf:"allowedUserIds"`
	OwnerIDs       []int64 `koanf:"ownerIds"`
	APIURL         string  `koanf:"apiURL"`
	FilesRoot      string  `koanf:"filesRoot"`
	Mode           string  `koanf:"mode"`
	Webhook        Webhook `koanf:"webhook"`
	Groups         Groups  `koanf:"groups"`
	Streaming      string  `koanf:"streaming"`
	Limits         Limits  `koanf:"limits"`
	Rich           bool    `koanf:"rich"`
	Strangers      string  `koanf:"strangers"`
}

// Webhook is where updates are brought in the mode "webhook".
type Webhook struct {
	Listen     string `koanf:"listen"`
	URL        string `koanf:"url"`
	Secret     string `koanf:"secret" secret:"true"`
	SecretFile string `koanf:"secretFile"`
}

// Groups says what the bot answers in groups: "mention" or "all".
type Groups struct {
	Respond string `koanf:"respond"`
}

// Limits are the paces of sending; 0 is none.
type Limits struct {
	PerChatPerSecond float64 `koanf:"perChatPerSecond"`
	GroupPerMinute   float64 `koanf:"groupPerMinute"`
	GlobalPerSecond  float64 `koanf:"globalPerSecond"`
}

// Console lets klawbot chat attach to klawbot run.
type Console struct {
	Enabled bool `koanf:"enabled"`
}

// Web is the page in the browser.
type Web struct {
	Enabled        bool      `koanf:"enabled"`
	Listen         string    `koanf:"listen"`
	SignInDays     int       `koanf:"signInDays"`
	MaxUploadBytes int64     `koanf:"maxUploadBytes"`
	Public         PublicWeb `koanf:"public"`
}

// PublicWeb is the page behind a reverse proxy.
type PublicWeb struct {
	URL     string   `koanf:"url"`
	Proxies []string `koanf:"proxies"`
	Hours   int      `koanf:"hours"`
}

// Agent is how the bot behaves.
type Agent struct {
	Language                string `koanf:"language"`
	Timezone                string `koanf:"timezone"`
	Workspace               string `koanf:"workspace"`
	DebounceMS              int    `koanf:"debounceMs"`
	MaxToolCallRounds       int    `koanf:"maxToolCallRounds"`
	MaxConcurrentModelCalls int    `koanf:"maxConcurrentModelCalls"`
}

// Models are the models and where they run.
type Models struct {
	Default        string              `koanf:"default"`
	Small          string              `koanf:"small"`
	Providers      map[string]Provider `koanf:"providers"`
	Entries        map[string]Entry    `koanf:"entries"`
	TimeoutSeconds int                 `koanf:"timeoutSeconds"`
	Retries        int                 `koanf:"retries"`
	Fallback       []string            `koanf:"fallback"`
	Budget         Budget              `koanf:"budget"`
}

// Budget bounds what the models may take in a day; 0 means no limit.
type Budget struct {
	PerDayUSD    float64 `koanf:"perDayUSD"`
	PerDayTokens int     `koanf:"perDayTokens"`
}

// Provider is a server of models.
type Provider struct {
	Type       string `koanf:"type"`
	BaseURL    string `koanf:"baseURL"`
	APIKey     string `koanf:"apiKey" secret:"true"`
	APIKeyFile string `koanf:"apiKeyFile"`
	// For the type managed: llama-server and how it runs; 0 and "": chosen.
	Program            string `koanf:"program"`
	Context            int    `koanf:"context"`
	Threads            int    `koanf:"threads"`
	Slots              int    `koanf:"slots"`
	UnloadAfterMinutes int    `koanf:"unloadAfterMinutes"`
}

// Entry is a model at a provider.
type Entry struct {
	Provider      string             `koanf:"provider"`
	Model         string             `koanf:"model"`
	MaxTokens     int                `koanf:"maxTokens"`
	ContextBudget int                `koanf:"contextBudget"`
	Prices        map[string]float64 `koanf:"prices"`
	Tools         string             `koanf:"tools"`
	Vision        string             `koanf:"vision"`
	Compat        map[string]any     `koanf:"compat"`
}

// Context is what a model gets of the past.
type Context struct {
	Window       int     `koanf:"window"`
	SubagentRuns int     `koanf:"subagentRuns"`
	CompactAt    float64 `koanf:"compactAt"`
}

// Scheduler bounds what runs by itself.
type Scheduler struct {
	MisfireThresholdSeconds float64 `koanf:"misfireThresholdSeconds"`
	MisfireGraceSeconds     float64 `koanf:"misfireGraceSeconds"`
	RunTimeoutSeconds       int     `koanf:"runTimeoutSeconds"`
	MinIntervalSeconds      int     `koanf:"minIntervalSeconds"`
	MaxSubagents            int     `koanf:"maxSubagents"`
	RunTokens               int     `koanf:"runTokens"`
}

// Heartbeat is what the bot looks after by itself.
type Heartbeat struct {
	Every        string `koanf:"every"`
	InjectInto   string `koanf:"injectInto"`
	QuietHours   string `koanf:"quietHours"`
	PerDayTokens int    `koanf:"perDayTokens"`
}

// Files bounds the file tools.
type Files struct {
	MaxFileSizeBytes int64 `koanf:"maxFileSizeBytes"`
	AllowHardlinks   bool  `koanf:"allowHardlinks"`
}

// Security is how much the tools may do without a person: "readonly",
// "supervised" or "full".
type Security struct {
	Autonomy string `koanf:"autonomy"`
}

// Tools bounds all tools.
type Tools struct {
	MaxShown               int                  `koanf:"maxShown"`
	MaxOutputChars         int                  `koanf:"maxOutputChars"`
	ApprovalTimeoutSeconds int                  `koanf:"approvalTimeoutSeconds"`
	Policy                 ToolPolicy           `koanf:"policy"`
	Exec                   Exec                 `koanf:"exec"`
	Sandbox                Sandbox              `koanf:"sandbox"`
	HTTP                   WebRequests          `koanf:"http"`
	Search                 WebSearch            `koanf:"search"`
	Browser                Browser              `koanf:"browser"`
	Rules                  []ToolRule           `koanf:"rules"`
	MCP                    map[string]MCPServer `koanf:"mcp"`
	Plugins                Plugins              `koanf:"plugins"`
}

// Plugins says what the owner knows of the plugins: the names of the tools that
// change nothing.
type Plugins struct {
	ReadOnly []string `koanf:"readOnly"`
}

// MCPServer is a server of tools that speaks the Model Context Protocol: a
// program, or a service at an address.
type MCPServer struct {
	Command          string            `koanf:"command"`
	Args             []string          `koanf:"args" whole:"true"`
	Env              map[string]string `koanf:"env"`
	URL              string            `koanf:"url"`
	Headers          map[string]string `koanf:"headers"`
	ClientID         string            `koanf:"clientId"`
	ClientSecret     string            `koanf:"clientSecret" secret:"true"`
	ClientSecretFile string            `koanf:"clientSecretFile"`
	Issuer           string            `koanf:"issuer"`
	GrantType        string            `koanf:"grantType"`
	ProtocolVersion  string            `koanf:"protocolVersion"`
	TimeoutSeconds   int               `koanf:"timeoutSeconds"`
	ReadOnly         []string          `koanf:"readOnly" whole:"true"`
	Show             string            `koanf:"show"`
}

// ToolPolicy says which tools may be called: by everyone, in scheduled runs,
// and in single chats.
type ToolPolicy struct {
	Allow     []string              `koanf:"allow"`
	Deny      []string              `koanf:"deny"`
	Ask       []string              `koanf:"ask"`
	Groups    ToolGroups            `koanf:"groups"`
	Scheduled ToolLimits            `koanf:"scheduled"`
	Chats     map[string]ToolLimits `koanf:"chats"`
}

// ToolLimits narrow a ToolPolicy.
type ToolLimits struct {
	Allow  []string   `koanf:"allow"`
	Deny   []string   `koanf:"deny"`
	Ask    []string   `koanf:"ask"`
	Groups ToolGroups `koanf:"groups"`
}

// ToolGroups are families of tools.
type ToolGroups struct {
	Allow []string `koanf:"allow"`
	Deny  []string `koanf:"deny"`
}

// ToolRule forbids what commands and paths hold. Its entries are taken whole:
// patterns hold commas.
type ToolRule struct {
	Name      string   `koanf:"name"`
	Tools     []string `koanf:"tools"`
	Arguments []string `koanf:"arguments"`
	Forbidden []string `koanf:"forbidden" whole:"true"`
}

// Exec says which commands the tool shell runs: "deny", "allowlist" or "full".
// The entries of the list are taken whole: commands hold commas. Approvers says
// who approves calls that act outside a sandbox: "owner" or "anyone".
type Exec struct {
	Mode           string   `koanf:"mode"`
	Approvers      string   `koanf:"approvers"`
	Allow          []string `koanf:"allow" whole:"true"`
	TimeoutSeconds int      `koanf:"timeoutSeconds"`
}

// Delivery says what becomes of a message that may have arrived: "resend" or
// "hold".
type Delivery struct {
	Ambiguous string `koanf:"ambiguous"`
}

// Backup says how often the database is backed up and how many backups are kept.
type Backup struct {
	EveryHours float64 `koanf:"everyHours"`
	Keep       int     `koanf:"keep"`
}

// Standby is where a second host finds what it needs to take over; empty: nowhere.
type Standby struct {
	To              string  `koanf:"to"`
	Host            string  `koanf:"host"`
	LeaseSeconds    float64 `koanf:"leaseSeconds"`
	Litestream      string  `koanf:"litestream"`
	Endpoint        string  `koanf:"endpoint"`
	Region          string  `koanf:"region"`
	AccessKeyID     string  `koanf:"accessKeyId"`
	SecretAccessKey string  `koanf:"secretAccessKey" secret:"true"`
}

// Health is the endpoint that says whether the bot is well.
type Health struct {
	Listen string `koanf:"listen"`
}

// Metrics is the endpoint for Prometheus.
type Metrics struct {
	Listen string `koanf:"listen"`
}

// Log is how much is logged, and in which form.
type Log struct {
	Level  string `koanf:"level"`
	Format string `koanf:"format"`
}

// Defaults is the configuration without a file. The tables of providers and
// entries have their defaults in tableDefaults.
func Defaults() Config {
	return Config{
		Channels: Channels{
			Telegram: Telegram{
				APIURL:    "https://api.telegram.org",
				Mode:      "polling",
				Webhook:   Webhook{Listen: "127.0.0.1:8443"},
				Groups:    Groups{Respond: "mention"},
				Streaming: "edit",
				Strangers: "ask",
				Limits:    Limits{PerChatPerSecond: 1, GroupPerMinute: 20, GlobalPerSecond: 25},
			},
			Web: Web{
				Listen: "127.0.0.1:8180", SignInDays: 30, MaxUploadBytes: 20 << 20,
				Public: PublicWeb{Proxies: []string{"127.0.0.1/32"}, Hours: 12},
			},
		},
		Agent: Agent{
			Language: "en", DebounceMS: 800, MaxToolCallRounds: 10, MaxConcurrentModelCalls: 4,
		},
		Models:    Models{Default: "main", TimeoutSeconds: 120, Retries: 3},
		Memory:    defaultMemory(),
		Media:     defaultMedia(),
		Context:   Context{Window: 20, SubagentRuns: 5, CompactAt: 0.75},
		Scheduler: Scheduler{MisfireThresholdSeconds: 60, RunTimeoutSeconds: 300, MinIntervalSeconds: 10, MaxSubagents: 5, RunTokens: 200_000},
		Files:     Files{MaxFileSizeBytes: 1 << 20},
		Security:  Security{Autonomy: "supervised"},
		Tools:     Tools{MaxShown: 40, MaxOutputChars: 10000, ApprovalTimeoutSeconds: 600, Exec: Exec{Mode: "allowlist", Approvers: "owner", Allow: []string{harmless}, TimeoutSeconds: 30}, Sandbox: defaultSandbox(), HTTP: WebRequests{MaxBodyBytes: 1 << 20}},
		Delivery:  Delivery{Ambiguous: "resend"},
		Backup:    Backup{EveryHours: 1, Keep: 24},
		Standby:   Standby{LeaseSeconds: 15, Litestream: "litestream", Region: "us-east-1"},
		Health:    Health{Listen: "127.0.0.1:8991"},
		Log:       Log{Level: "info", Format: "text"},
	}
}

// The bounds of a new entry; see config.yaml.example.
const (
	NewEntryMaxTokens     = 4096
	NewEntryContextBudget = 32000
)

// tableDefaults are the defaults below what was given: the token and the key
// that stand in the environment under their usual names, and what an entry
// leaves out. The entry "main" is there unless the given entries replace it.
func tableDefaults(given keys.Tree, getenv func(string) string) keys.Tree {
	providers := keys.Tree{"openai": keys.Tree{"apiKey": getenv("OPENAI_API_KEY")}, "anthropic": keys.Tree{"apiKey": getenv("ANTHROPIC_API_KEY")}}
	for name := range table(given, "providers") {
		if providers[name] == nil {
			providers[name] = keys.Tree{}
		}
	}
	for name, p := range providers {
		p.(keys.Tree)["type"], p.(keys.Tree)["slots"], p.(keys.Tree)["unloadAfterMinutes"] = "openai", 1, 15
		if name == "anthropic" {
			p.(keys.Tree)["type"] = "anthropic"
		}
	}
	entries := keys.Tree{}
	for name := range table(given, "entries") {
		entries[name] = keys.Tree{}
	}
	if len(entries) == 0 || entries["main"] != nil {
		entries["main"] = keys.Tree{"provider": "openai", "model": "gpt-5-mini"}
	}
	for name, e := range entries {
		shown := find.ShowAuto
		written, _ := table(given, "entries")[name].(keys.Tree)
		if provider, _ := written["provider"].(string); isManaged(given, provider) {
			shown = find.ShowFew
		}
		e.(keys.Tree)["maxTokens"], e.(keys.Tree)["contextBudget"], e.(keys.Tree)["tools"] = NewEntryMaxTokens, NewEntryContextBudget, shown
		e.(keys.Tree)["vision"] = settings.VisionAuto
	}
	return keys.Tree{
		"channels": keys.Tree{"telegram": keys.Tree{"token": getenv("TELEGRAM_BOT_TOKEN")}},
		"models":   keys.Tree{"providers": providers, "entries": entries},
		"tools":    keys.Tree{"mcp": serverDefaults(given)},
	}
}

func serverDefaults(given keys.Tree) keys.Tree {
	tools, _ := given["tools"].(keys.Tree)
	servers, _ := tools["mcp"].(keys.Tree)
	base := keys.Tree{}
	for name := range servers {
		base[name] = keys.Tree{"timeoutSeconds": defaultServerTimeout, "grantType": GrantPerson, "show": "found"}
	}
	return base
}

// table is the named table of models in t, nil when it is not there.
func table(t keys.Tree, name string) keys.Tree {
	models, _ := t["models"].(keys.Tree)
	found, _ := models[name].(keys.Tree)
	return found
}

// isManaged reports whether klawbot runs the models of a provider on this machine. Such
// models are small, and each tool takes them seconds to read.
func isManaged(given keys.Tree, provider string) bool {
	p, _ := table(given, "providers")[provider].(keys.Tree)
	return p["type"] == managed
}
