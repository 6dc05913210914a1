package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/toolset"
	"klawbot/internal/wait"
	"klawbot/tools"
)

// changelog is for a call of a tool at the command line, nil when the tool
// changes nothing and the bot has never run. For one that does, the database is
// begun, so that what a command changes can be undone, too.
func (d *Data) changelog(ctx context.Context, tool string) (tools.Changelog, error) {
	if d.store == nil {
		t, _, ok := d.executor.Registry().Find(tool)
		if !ok || !t.Spec().Changes {
			return nil, nil
		}
		if err := d.begin(ctx); err != nil {
			return nil, err
		}
	}
	return toolset.Changelog{Store: d.store}, nil
}

// Another command that begins the data folder is done soon; a bot keeps it.
const (
	beginWithin = 5 * time.Second
	beginAgain  = 20 * time.Millisecond
)

// begin makes the database, or brings it up to date, and lets go of it again: a bot
// may start meanwhile. Others that do the same are waited for.
func (d *Data) begin(ctx context.Context) error {
	for began := time.Now(); ; {
		err := d.beginNow(ctx)
		if held := (*sqlite.LockedError)(nil); !errors.As(err, &held) || time.Since(began) > beginWithin {
			return err
		}
		if d.store, err = store.OpenBeside(ctx, d.config); err == nil {
			d.missing = nil
			return nil
		}
		if !wait.For(ctx, beginAgain) {
			return context.Cause(ctx)
		}
	}
}

func (d *Data) beginNow(ctx context.Context) error {
	made, _, err := archive.Open(ctx, d.config, false)
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		return err
	}
	if d.store, err = store.OpenBeside(ctx, d.config); err != nil {
		return fmt.Errorf("begin the data folder: %w", err)
	}
	d.missing = nil
	return nil
}
