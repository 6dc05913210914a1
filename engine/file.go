package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/toolset"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
)

// captionUnits is how long the caption of a file may be, in UTF-16 units.
const captionUnits = 1024

// documentOf is a kept file as a part carries it.
func documentOf(name, mime, path string) (*gateway.Document, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the file %s that waits to be sent: %w", name, err)
	}
	return &gateway.Document{Name: name, MIME: mime, Sum: filepath.Base(path), Size: info.Size()}, nil
}

// withFile are the parts of a file and of what is written to it: below it when
// that is short enough for a caption, else after it.
func withFile(d *gateway.Document, written []gateway.Part) []gateway.Part {
	if len(written) == 1 && written[0].Document == nil && clip.UTF16Len(repeatMark+written[0].Text) <= captionUnits {
		p := written[0]
		p.Document = d
		return []gateway.Part{p}
	}
	return append([]gateway.Part{{Document: d}}, written...)
}

// keepArtifacts notes the files that a call hands over with the answer, each
// once.
func (t *turn) keepArtifacts(r tools.Result) {
	for _, a := range r.Artifacts {
		if !slices.Contains(t.artifacts, a) {
			t.artifacts = append(t.artifacts, a)
		}
	}
}

// files are the parts of the turn's artifacts. One that is gone, as after a
// backup was restored, is left out.
func (t *turn) files() []gateway.Part {
	var parts []gateway.Part
	for _, a := range t.artifacts {
		d, err := documentOf(a.Name, a.MIME, a.Path)
		if err != nil {
			t.log.Warn("file not sent", "err", err)
			continue
		}
		parts = append(parts, gateway.Part{Document: d})
	}
	return parts
}

// locate finds the file that a part carries, if it carries one that waits.
func (e *Engine) locate(p *gateway.Part) (err error) {
	if p.Document == nil || p.Document.Sum == "" {
		return nil
	}
	if p.Document.Path, err = e.spool.Path(p.Document.Sum); err != nil {
		return &gateway.SendError{Kind: gateway.Rejected, Err: err}
	}
	return nil
}

// scratchKept is how old the scratch folder of a call may become: no call takes so
// long, so its process was killed.
const scratchKept = 24 * time.Hour

// sweepScratch deletes the scratch folders that a kill has left.
func (e *Engine) sweepScratch() error {
	dir := filepath.Join(e.config.Dir, toolset.ScratchFolder)
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

// sweepFiles deletes the files that no part and no running turn needs any more.
func (e *Engine) sweepFiles(ctx context.Context) error {
	named := map[string]bool{}
	err := e.store.Read(ctx, func(tx *store.Tx) error {
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
	n, err := e.spool.Sweep(named)
	err = errors.Join(err, e.sweepScratch())
	if n > 0 {
		e.log.Info("sent files deleted", "files", n)
	}
	return err
}
