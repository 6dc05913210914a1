// Package self holds the tools with which the bot looks at itself: config for
// its settings and self_info for everything else.
//
// What may be changed, how a file is edited and what a setting means is decided
// by the implementation of Configuration. No secret reaches this package unmasked
// but through Mask.
package self

import (
	"context"
	"embed"

	"klawbot/tools"
)

//go:embed *.md
var texts embed.FS

// Entry is a setting or another fact with its name.
type Entry struct {
	Key, Value string
	// Settable says that the config tool may change it.
	Settable bool
}

// Configuration is the configuration as the bot may see and change it. It may
// be used from several goroutines. Its errors are for the model, a *Refusal
// among them says which kind they are.
type Configuration interface {
	// Entries lists all settings as they are now, by key, with secrets masked.
	Entries() []Entry
	// Settable reports why a key may not be changed by the tool, nil when it
	// may. It looks at the key alone.
	Settable(key string) error
	// Set changes one setting in the configuration file. Whatever comes of it,
	// no other setting is different afterwards.
	Set(key, value string) error
}

// Body is the rest of the bot as it may be told about. It may be used from
// several goroutines.
type Body interface {
	// Paths are the files and folders of the bot.
	Paths() []Entry
	// Sandbox says where commands run: what is in use, its limits, and what
	// else this machine could use.
	Sandbox() []Entry
	// Provider says which model answers a chat and where it runs. Keys are
	// masked.
	Provider(ctx context.Context, chat string) []Entry
	// Stats are how the bot is doing.
	Stats(ctx context.Context) ([]Entry, error)
}

// Config is what New needs. All of it is required.
type Config struct {
	Configuration Configuration
	Body          Body
}

// New returns the tools config and self_info.
func New(c Config) []tools.Tool {
	k := settingsTool{c.Configuration}
	i := informer{c.Configuration, c.Body}
	return []tools.Tool{
		tools.New(tools.Spec{
			Name: "config", Group: tools.GroupSystem,
			Changes: true, ChangesWhen: writes, RequiresApproval: true, PreValidate: k.precheck,
			Permit: func(tools.Call, tools.Autonomy) tools.Decision {
				return tools.Decision{Verdict: tools.Allow, OwnerOnly: true}
			},
		}, texts, k.run),
		tools.New(tools.Spec{
			Name: "self_info", Group: tools.GroupSystem, Aliases: []tools.Alias{{Name: "engine_health"}},
		}, texts, i.run),
	}
}

// Mask shows enough of a secret to tell it from another one: its first four
// characters when it has twelve or more, else none.
func Mask(secret string) string {
	const shown, long = 4, 12
	runes := []rune(secret)
	switch {
	case len(runes) == 0:
		return ""
	case len(runes) < long:
		return "****"
	}
	return string(runes[:shown]) + "****"
}
