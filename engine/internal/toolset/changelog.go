package toolset

import (
	"context"
	"io/fs"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/store"
	"klawbot/tools"
)

// Changelog keeps in a store what the tools change of files.
type Changelog struct{ Store *store.Store }

var _ tools.Changelog = Changelog{}

// Record stores a change that is about to be made.
func (l Changelog) Record(ctx context.Context, c tools.Change, image []byte) (int64, error) {
	row := store.Change{
		Call: c.Call, Turn: store.TurnID(c.Turn), Chat: c.Chat, Tool: c.Tool, Path: c.Path,
		Before: c.Before, After: c.After, Size: c.Size, Mode: uint32(c.Mode), Kept: c.Kept, Undoes: converted[store.ChangeID](c.Undoes),
	}
	var id store.ChangeID
	err := l.Store.Write(ctx, func(tx *store.Tx) (err error) {
		id, err = tx.Changes().AddChange(row, image)
		return err
	})
	if err == nil {
		lifecycle.CrashPoint("change.recorded")
	}
	return int64(id), err
}

// Discard takes back the record of a change that was not made.
func (l Changelog) Discard(ctx context.Context, id int64) error {
	return l.Store.Write(ctx, func(tx *store.Tx) error { return tx.Changes().DropChange(store.ChangeID(id)) })
}

// Changes lists what is recorded, the newest first.
func (l Changelog) Changes(ctx context.Context) ([]tools.Change, error) {
	var rows []store.Change
	err := l.Store.Read(ctx, func(tx *store.Tx) (err error) {
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
func (l Changelog) Image(ctx context.Context, id int64) (image []byte, err error) {
	err = l.Store.Read(ctx, func(tx *store.Tx) error {
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
