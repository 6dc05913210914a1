package document

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document/pdf"
)

// MaxDrawn is how many pages Draw draws.
const MaxDrawn = 4

const (
	kindDraw      = "draw"
	optionMaxSide = "side"
)

// Draw draws the first pages of a PDF as JPEGs whose sides have at most maxSide pixels, for
// a model that sees. The error is a *confined.Fault, or what is wrong here.
func Draw(ctx context.Context, file string, maxSide int, o Options) (pages [][]byte, err error) {
	job := o.job(kindDraw, file, "", "")
	job.Options[optionMaxSide] = strconv.Itoa(maxSide)
	r, err := confined.Run(ctx, job)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(r.Data, &pages); err != nil {
		return nil, fmt.Errorf("read drawn pages: %w", err)
	}
	return pages, nil
}

// drawPages is the child for Draw.
func drawPages(ctx context.Context, job confined.Job, scratch string) (confined.Result, error) {
	maxSide, err := strconv.Atoi(job.Options[optionMaxSide])
	if err != nil {
		return confined.Result{}, err
	}
	in, err := open(job, scratch)
	if err != nil {
		return confined.Result{}, err
	}
	defer in.Close()
	reader, _, err := pdf.Open(ctx, in.options.pdf(), in.File.Name())
	if err != nil {
		return confined.Result{}, err
	}
	pages, err := reader.Pictures(ctx, MaxDrawn, maxSide, filepath.Join(scratch, "drawn"))
	if err == nil && len(pages) == 0 {
		err = &confined.Fault{Kind: confined.Broken, Detail: "no pages"}
	}
	if err != nil {
		return confined.Result{}, err
	}
	data, err := json.Marshal(pages)
	return confined.Result{Data: data}, err
}
