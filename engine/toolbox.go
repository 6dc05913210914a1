package engine

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/gateway"
	"klawbot/tools"
	"klawbot/tools/message"
)

// toolbox builds the engine's own tools, puts them beside the world's, and
// returns the pipeline that runs them.
func toolbox(c Config) (*tools.Registry, *tools.Executor, error) {
	own := message.New(message.Config{
		Door:     door{c.Gateway},
		Location: func() *time.Location { return zoneOf(c.Settings()) },
	})
	registry, err := tools.NewRegistry(slices.Concat(own, c.Tools)...)
	if err != nil {
		return nil, nil, fmt.Errorf("register the tools: %w", err)
	}
	executor := tools.NewExecutor(tools.ExecutorConfig{
		Registry: registry, SpillDir: filepath.Join(c.Dir, "spill"), Redact: c.Redact, Log: c.Log,
		MaxOutputChars: func() int { return c.Settings().MaxOutputChars },
	})
	return registry, executor, nil
}

// door lends the gateway's whitelist to the tool that sends messages.
type door struct{ gateway *gateway.Gateway }

// Check reports whether a message may leave for a chat in text form.
func (d door) Check(chat string) error {
	id, err := gateway.ParseChatID(chat)
	if err != nil {
		return err
	}
	return d.gateway.Reachable(id)
}

// toolsFor are the tools as a model is told about them, sorted by name, so that
// equal requests are equal to the byte.
func (e *Engine) toolsFor(language string) []llm.Tool {
	all := e.registry.All()
	offered := make([]llm.Tool, len(all))
	for i, t := range all {
		text := t.Spec().Text(language)
		offered[i] = llm.Tool{Name: t.Spec().Name, Description: text.Description, Parameters: text.Parameters}
	}
	return offered
}

// inDoubt reports whether nobody could tell, after a crash, if a call of the
// tool has happened: it changes something that is not part of its result.
func (e *Engine) inDoubt(name string) bool {
	t, _, ok := e.registry.Find(name)
	return ok && t.Spec().Changes && !t.Spec().Atomic
}

func zoneOf(s Settings) *time.Location {
	if s.Location == nil {
		return time.UTC
	}
	return s.Location
}
