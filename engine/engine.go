// Package engine answers messages: it keeps what comes in, runs one turn at a
// time per chat, and delivers what goes out.
//
// A message is stored before Accept returns (inbox), a lane per chat and topic
// runs turns in order, every model answer and every tool call is journaled
// before it is acted on, and the answer leaves from an outbox that is committed
// together with the turn. A kill at any point loses nothing, repeats no side
// effect and shows one final answer. The engine knows no messenger: whatever
// leaves it goes through the gateway, where the whitelist is asked again.
//
// # The placeholder
//
// While a turn runs its chat shows a placeholder, the fixed text "…", whose
// message becomes the answer by an edit. Edits may be repeated, so the answer
// of a person's turn cannot come twice. The state is stored with the turn:
//
//	state      event                                  next       who acts
//	none       the chat's pace has room               sending    committed, then sent beside the model call
//	none       the turn ends                          final      the answer is a plain send
//	sending    the channel returned the message id    shown
//	sending    refused or not sent, for certain       forgotten  never tried again
//	sending    written, but not answered              forgotten  it may be there; never repeated
//	sending    the process died                       forgotten  at the next start
//	shown      the turn ends with an answer           final      part 0 edits the message
//	shown      the turn ends without one              final      the message is deleted
//	shown      the process died                       shown      the resumed turn goes on with it
//	final      "message to edit not found"            final      part 0 is sent as a new message
//	forgotten  the turn ends                          final      the answer is a plain send
//
// The names of the edges are the crash points of the kill tests.
package engine

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"klawbot/gateway"
	"klawbot/internal/redact"
	"klawbot/tools"
)

// Config is what New needs.
type Config struct {
	// Dir is the data folder. It is made when it does not exist.
	Dir string
	// Gateway is the way out. Required.
	Gateway *gateway.Gateway
	// Tools are the world's: files and whatever else cmd wires. The engine
	// adds its own.
	Tools []tools.Tool
	// HTTP is the client for model providers. Required.
	HTTP *http.Client
	// Settings is asked for the settings as they are now. Required.
	Settings func() Settings
	// Workspace is the folder of the persona, the skills and the files. Required.
	Workspace string
	// Redact holds the known secrets. Required.
	Redact *redact.Set
	// Version is klawbot's own, for /status.
	Version string
	// Log is required.
	Log *slog.Logger
}

// Settings are what may change while the bot runs.
type Settings struct {
	// Language of the bot's own texts and the tool descriptions: "en" or "ru".
	Language string
	// Location is the zone of times that people and models see; nil is UTC.
	Location *time.Location
	// Debounce is how long a lane waits for more messages; 0 does not wait.
	Debounce time.Duration
	// MaxToolCallRounds bounds the model calls of a turn that may call tools;
	// one last call without tools follows.
	MaxToolCallRounds int
	// MaxConcurrentModelCalls bounds the model calls at one time.
	MaxConcurrentModelCalls int
	// ContextWindow is how many messages of history a model gets at most.
	ContextWindow int
	// MaxOutputChars caps what a model reads of one tool result.
	MaxOutputChars int
	// Streaming is, by channel, how an answer grows: StreamOff or StreamEdit.
	Streaming map[string]string
	// Owners are, by channel, the user ids of the owners.
	Owners map[string][]int64
	// HoldAmbiguous keeps a send whose fate is unknown from being repeated.
	HoldAmbiguous bool
	Models        Models
}

// The ways an answer shows while it grows.
const (
	StreamOff  = "off"
	StreamEdit = "edit"
)

// Models is what is known of the models.
type Models struct {
	// Default is the name of the entry that answers when a chat chose none.
	// Empty means that there is no model: the bot says so in every reply and
	// does what needs none.
	Default string
	// Entries by name.
	Entries map[string]Model
	// Timeout is the longest silence of a model before its call is given up.
	Timeout time.Duration
	// Retries is how often a call that failed for a passing reason is repeated.
	Retries int
}

// Model is one configured model.
type Model struct {
	// Provider is the name of the provider, for people.
	Provider string
	// Type is the wire protocol: "openai" or "script".
	Type string
	// BaseURL ends in /v1; for "script" it is the file of the script, or empty
	// for the demo.
	BaseURL string
	APIKey  string
	// Name is the provider's name for the model.
	Name string
	// MaxTokens bounds an answer, 0 leaves it to the provider. ContextBudget is
	// how many tokens a request may have, answer included.
	MaxTokens     int
	ContextBudget int
	// Compat overrides what is known of the provider's dialect, by the field
	// names of the configuration.
	Compat map[string]any
}

// Engine answers messages.
type Engine struct{}

var _ gateway.Handler = (*Engine)(nil)

// New opens the data folder and returns an Engine that accepts messages. They
// are answered while Run runs. Close it after Run returned.
func New(ctx context.Context, c Config) (*Engine, error) { panic("not yet") }

// Accept stores updates; see gateway.Handler.
func (e *Engine) Accept(ctx context.Context, updates []gateway.Update) error { panic("not yet") }

// Run answers messages and delivers replies until ctx ends. Then it lets
// running turns finish for up to ten seconds and parks the others; they are
// resumed at the next start.
func (e *Engine) Run(ctx context.Context) error { panic("not yet") }

// Close closes the data folder.
func (e *Engine) Close() error { panic("not yet") }
