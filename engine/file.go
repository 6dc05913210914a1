package engine

import (
	"context"
	"encoding/json"
	"path/filepath"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
)

// locate finds the file that a part carries, if it carries one that waits.
func (d *delivery) locate(p *gateway.Part) (err error) {
	if p.Document == nil || p.Document.Sum == "" {
		return nil
	}
	if p.Document.Path, err = d.config.Files.Path(p.Document.Sum); err != nil {
		return &gateway.SendError{Kind: gateway.Rejected, Err: err}
	}
	return nil
}

// sweepFiles deletes the files that no part and no running turn needs any more.
func (d *delivery) sweepFiles(ctx context.Context) error {
	named := map[string]bool{}
	err := d.store.Read(ctx, func(tx *store.Tx) error {
		waiting, err := tx.Outbox().PendingOut(nil, -1)
		if err != nil {
			return err
		}
		for _, o := range waiting {
			var p gateway.Part
			if err := json.Unmarshal(o.Body, &p); err == nil && p.Document != nil {
				named[p.Document.Sum] = true
			}
		}
		results, err := tx.Turns().CallResults()
		if err != nil {
			return err
		}
		for _, text := range results {
			var r tools.Result
			if err := json.Unmarshal(text, &r); err != nil {
				return err
			}
			for _, a := range r.Artifacts {
				named[filepath.Base(a.Path)] = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	n, err := d.config.Files.Sweep(named)
	if n > 0 {
		d.log.Info("sent files deleted", "files", n)
	}
	return err
}
