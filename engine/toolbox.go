package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"klawbot/engine/internal/outbox"
	"klawbot/tools"
)

// toolbox builds the engine's own tools, puts them beside the world's, and
// returns the pipeline that runs them.
func toolbox(c Config, l lent) (*tools.Executor, error) {
	var executor *tools.Executor
	search := tools.NewSearch(
		func(c tools.Call) []tools.Tool { return executor.Offered(c) },
		func() string { return c.Settings().Language },
	)
	registry, err := tools.NewRegistry(slices.Concat(ownTools(c, l), c.Tools, []tools.Tool{search})...)
	if err != nil {
		return nil, fmt.Errorf("register the tools: %w", err)
	}
	executor = tools.NewExecutor(tools.ExecutorConfig{
		Policy:   func() tools.Policy { return c.Settings().Policy },
		Registry: registry, Sources: c.Sources, SpillDir: filepath.Join(c.Dir, "spill"), Redact: c.Redact, Log: c.Log,
		Keep: outbox.NewSentFiles(c.Dir).Put, ScratchDir: filepath.Join(c.Dir, scratchFolder),
		MaxOutputChars: func() int { return c.Settings().MaxOutputChars },
	})
	for _, name := range c.Settings().Policy.Names() {
		if _, _, known := executor.Registry().Find(name); !known {
			c.Log.Warn("the policy names a tool that does not exist", "tool", name, "near", registry.Near(name))
		}
	}
	return executor, nil
}

// inDoubt reports whether nobody could tell, after a crash, if a call has
// happened: it changes something that is not part of its result. The call is in
// canonical form.
func (t *turn) inDoubt(c tools.Call) bool {
	found, _, ok := t.executor.Registry().Find(c.Name)
	return ok && found.Spec().Alters(c.Arguments) && !found.Spec().Atomic
}

// scratchFolder holds the scratch folders of the calls that run, and scratchKept
// is how old one may become: no call takes so long, so its process was killed.
const (
	scratchFolder = "scratch"
	scratchKept   = 24 * time.Hour
)

// sweepScratch deletes the scratch folders that a kill has left.
func sweepScratch(data string) error {
	dir := filepath.Join(data, scratchFolder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, d := range entries {
		if info, gone := d.Info(); gone == nil && time.Since(info.ModTime()) > scratchKept {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, d.Name())))
		}
	}
	return err
}
