package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store"
	"klawbot/internal/wait"
	"klawbot/tools"
)

// changelog lends the store to the tools that change files.
type changelog struct{ store *store.Store }

var _ tools.Changelog = changelog{}

// Record stores a change that is about to be made.
func (l changelog) Record(ctx context.Context, c tools.Change, image []byte) (int64, error) {
	row := store.Change{
		Call: c.Call, Turn: store.TurnID(c.Turn), Chat: c.Chat, Tool: c.Tool, Path: c.Path,
		Before: c.Before, After: c.After, Size: c.Size, Mode: uint32(c.Mode), Kept: c.Kept, Undoes: converted[store.ChangeID](c.Undoes),
	}
	var id store.ChangeID
	err := l.store.Write(ctx, func(tx *store.Tx) (err error) {
		id, err = tx.Changes().AddChange(row, image)
		return err
	})
	if err == nil {
		lifecycle.CrashPoint("change.recorded")
	}
	return int64(id), err
}

// Discard takes back the record of a change that was not made.
func (l changelog) Discard(ctx context.Context, id int64) error {
	return l.store.Write(ctx, func(tx *store.Tx) error { return tx.Changes().DropChange(store.ChangeID(id)) })
}

// Changes lists what is recorded, the newest first.
func (l changelog) Changes(ctx context.Context) ([]tools.Change, error) {
	var rows []store.Change
	err := l.store.Read(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.Changes().Changes()
		return err
	})
	all := make([]tools.Change, len(rows))
	for i, r := range rows {
		all[i] = tools.Change{
			ID: int64(r.ID), At: r.At, Call: r.Call, Turn: int64(r.Turn), Chat: r.Chat, Tool: r.Tool, Path: r.Path,
			Before: r.Before, After: r.After, Size: r.Size, Mode: fs.FileMode(r.Mode), Kept: r.Kept, Undoes: converted[int64](r.Undoes),
		}
	}
	return all, err
}

// Image returns what a file held before a change.
func (l changelog) Image(ctx context.Context, id int64) (image []byte, err error) {
	err = l.store.Read(ctx, func(tx *store.Tx) error {
		image, err = tx.Changes().ChangeImage(store.ChangeID(id))
		return err
	})
	return image, err
}

// converted changes the type of ids.
func converted[To, From ~int64](ids []From) []To {
	to := make([]To, len(ids))
	for i, id := range ids {
		to[i] = To(id)
	}
	return to
}

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
	return changelog{d.store}, nil
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
