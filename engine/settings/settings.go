// Package settings holds what may change while the bot runs: the configuration as
// the engine reads it, checked by its builder.
package settings

import (
	"maps"
	"slices"
	"time"

	"klawbot/tools"
	"klawbot/tools/mcp"
)

// Settings are what may change while the bot runs.
type Settings struct {
	// Language of the bot's own texts and the tool descriptions: "en" or "ru".
	Language string
	// Location is the zone of times that people and models see; nil is UTC.
	Location *time.Location
	// Debounce is how long a chat queue waits for more messages; 0 does not wait. Messages
	// join a turn that has brought nothing all the same, unless it is negative.
	Debounce time.Duration
	// MaxToolCallRounds bounds the model calls of a turn that may call tools;
	// one last call without tools follows.
	MaxToolCallRounds int
	// Policy is what the owner lets the tools do.
	Policy tools.Policy
	// MCP are the MCP servers, by name.
	MCP map[string]mcp.Server
	// ApprovalTimeout is how long a person may think about a call; then it
	// counts as a no.
	ApprovalTimeout time.Duration
	// MaxConcurrentModelCalls bounds the model calls at one time.
	MaxConcurrentModelCalls int
	// ContextWindow is how many messages of history a model gets at most.
	ContextWindow int
	// CompactAt is the share of the room for messages from which a conversation
	// is summed up, 0 for never.
	CompactAt float64
	// MaxOutputChars caps what a model reads of one tool result.
	MaxOutputChars int
	// Streaming is, by channel, how an answer grows: StreamOff, StreamEdit or StreamDraft.
	Streaming map[string]string
	// Owners are, by channel, the user ids of the owners.
	Owners map[string][]int64
	// HoldAmbiguous keeps a send whose fate is unknown from being repeated.
	HoldAmbiguous bool
	Backup        Backups
	Models        Models
	Memory        Memory
	Scheduler     Scheduler
	Heartbeat     Heartbeat
	Media         Media
}

// Backups say when the bot copies its database.
type Backups struct {
	// Every is the time between two automatic backups, 0 for none; Keep is how
	// many are kept.
	Every time.Duration
	Keep  int
}

// The ways an answer shows while it grows. Where a channel or a chat has no
// drafts, StreamDraft is StreamEdit.
const (
	StreamOff   = "off"
	StreamEdit  = "edit"
	StreamDraft = "draft"
)

// Models is what is known of the models.
type Models struct {
	// Default is the name of the entry that answers when a chat chose none.
	// Empty means that there is no model: the bot says so in every reply and
	// does what needs none.
	Default string
	// MaxShownTools is how many tools a model is shown at most, 0 for all.
	MaxShownTools int
	// Small is the name of the entry for small tasks, such as taking something
	// out of a long text. Empty, or none of Entries: the default.
	Small string
	// Entries by name.
	Entries map[string]Model
	// Timeout is the longest silence of a model before its call is given up.
	Timeout time.Duration
	// Retries is how often a call that failed for a passing reason is repeated.
	Retries int
	// Fallback are the entries to ask, in order, when the chosen one fails for
	// a reason that another model can help with.
	Fallback []string
	Budget   Budget
}

// Model is one configured model.
type Model struct {
	// Provider is the name of the provider, for people.
	Provider string
	// Type is the protocol: "openai", "anthropic", "ollama" or "script"; "managed" runs
	// the model on this machine, as Local says.
	Type string
	// BaseURL is the address, with its /v1 for "openai"; for "script" it is
	// the file of the script, or empty for the demo.
	BaseURL string
	APIKey  string
	// Name is the provider's name for the model; for "managed" the name of a pulled model
	// or the path of a GGUF file.
	Name string
	// MaxTokens bounds an answer, 0 leaves it to the provider. ContextBudget is
	// how many tokens a request may have, answer included.
	MaxTokens     int
	ContextBudget int
	// Prices are what its tokens cost, nil when unknown.
	Prices *Prices
	// Compat overrides what is known of the provider's dialect, by the field
	// names of the configuration.
	Compat map[string]any
	// Tools is how many tools the model is shown: find.ShowAuto, which is also "",
	// ShowFew or ShowAll.
	Tools string
	// Vision says whether the model takes pictures: VisionAuto, which is also "", VisionOn
	// or VisionOff.
	Vision string
	// Local is for the type "managed".
	Local Local
}

// Whether a model takes pictures. With VisionAuto its provider is asked, and what nothing
// says is tried.
const (
	VisionAuto = "auto"
	VisionOn   = "on"
	VisionOff  = "off"
)

// Local says how llama-server runs a model of this machine.
type Local struct {
	// Program is its path; empty: the one among the assets, else that in PATH.
	Program string
	// Dir is the data directory, which holds the assets.
	Dir string
	// Threads and Slots are processors and requests at one time; 0: chosen.
	Threads, Slots int
	// UnloadAfter is how long the model may be idle; 0: it stays loaded.
	UnloadAfter time.Duration
}

// minWindow is the least that a request may have when the configuration does not say.
const minWindow = 4000

// Window is how many tokens a request may have, answer included.
func (m Model) Window() int { return max(m.ContextBudget, minWindow) }

// Budget bounds what the models may take in a day, over all chats; 0 is no
// bound. A call that is running when a bound is reached is not cut off.
type Budget struct {
	PerDayUSD    float64
	PerDayTokens int
}

// Prices are in dollars for a million tokens.
type Prices struct {
	Input, Output float64
	// Cached is the price of input that the provider knew already.
	Cached float64
}

// Today is the day in the bot's time zone.
func (s Settings) Today() string { return time.Now().In(s.Zone()).Format(time.DateOnly) }

// MemorySettings say how things are kept and found.
type Memory struct {
	Embedding Embedding
	// ChunkSize and ChunkOverlap say how texts are cut, in tokens; 0 means 400
	// and 80.
	ChunkSize, ChunkOverlap int
	// TopK is how much a search of a person finds.
	TopK int
	// Fusion is how the two sides of the search come together: score or rrf.
	Fusion     string
	AutoRecall AutoRecall
	// RecallWithin is how long a person waits for it; 0 is a second.
	RecallWithin time.Duration
}

// AutoRecall says what the model is reminded of without asking.
type AutoRecall struct {
	Enabled bool
	// TopK and MaxTokens bound it; MinScore is how near a text must be, 0 to 1.
	TopK, MaxTokens int
	MinScore        float64
}

// Owns reports whether a person is an owner on a channel.
func (s Settings) Owns(channel string, user int64) bool {
	return slices.Contains(s.Owners[channel], user)
}

// Embedding says which sentence model makes the vectors of the memory.
type Embedding struct {
	// Type is "onnx" for a model on this machine, "openai" for one of a server
	// with that interface, "off" for none.
	Type string
	// Model is the name of a model, or its folder. Fallback is used while its files are
	// missing, "" for none.
	Model, Fallback string
	// Foreign is the model to use instead if most stored texts are not English, "" for
	// none: then Model is the fallback.
	Foreign string
	// Runtime is the file of the ONNX Runtime library and Path the folder of the
	// model; empty looks for them in the folders of assets.
	Runtime, Path string
	// BaseURL and APIKey are those of the server for "openai".
	BaseURL, APIKey string
}

// Scheduler bounds what runs by itself.
type Scheduler struct {
	// MisfireThreshold is how late a run may begin and still be in time;
	// MisfireGrace how late it may be made up for, 0 for however late.
	MisfireThreshold, MisfireGrace time.Duration
	// RunTimeout is how long a run may take; the time of people does not count.
	// 0 is 5 minutes.
	RunTimeout time.Duration
	// MinInterval is the shortest time between two runs of a job that a chat may
	// ask for.
	MinInterval time.Duration
	// MaxSubagents is how many subagents there may be at one time; 0 is 5.
	MaxSubagents int
	// RunTokens is how many tokens a run may take with its subagents, a subagent
	// too; 0 means no limit.
	RunTokens int
	// History is how many completed runs of the same name a run knows.
	History int
}

// Heartbeat is what the bot looks after by itself, as HEARTBEAT.md says.
type Heartbeat struct {
	// Every is the time between two runs for a file that holds a text without
	// tasks, from the end of one to the beginning of the next; 0 is none.
	Every time.Duration
	// InjectInto is the chat that gets the results of tasks that name none, in
	// its text form; empty: they are only logged.
	InjectInto string
	// Quiet are the hours in which nothing runs.
	Quiet QuietHours
	// PerDayTokens bounds what all runs of a day may take, 0 means no limit.
	PerDayTokens int
}

// QuietHours are a part of each day, by the time since midnight. The zero value,
// and any other whose ends are the same, is none.
type QuietHours struct{ From, To time.Duration }

// Hold reports whether a time of the wall clock is quiet.
func (q QuietHours) Hold(wall time.Time) bool {
	at := time.Duration(wall.Hour())*time.Hour + time.Duration(wall.Minute())*time.Minute + time.Duration(wall.Second())*time.Second
	if q.From <= q.To {
		return q.From <= at && at < q.To
	}
	return q.From <= at || at < q.To
}

// Zone is the zone of times that people and models see.
func (s Settings) Zone() *time.Location {
	if s.Location == nil {
		return time.UTC
	}
	return s.Location
}

// Names are the models that are configured, in order.
func (m Models) Names() []string { return slices.Sorted(maps.Keys(m.Entries)) }

// For returns the name and the entry of the model that a chat chose, or the
// default's when the chosen one is not configured any more.
func (m Models) For(chosen string) (string, Model) {
	if entry, ok := m.Entries[chosen]; ok {
		return chosen, entry
	}
	return m.Default, m.Entries[m.Default]
}
