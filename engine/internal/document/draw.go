package document

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"klawbot/engine/internal/confined"
)

// MaxDrawn is how many pages Draw draws.
const MaxDrawn = 4

const (
	kindDraw      = "draw"
	optionMaxSide = "side"
)

// Draw draws the first pages of a PDF as JPEGs whose sides have at most maxSide pixels, for
// a model that sees. The error is a *confined.Fault, or what is wrong here.
func Draw(ctx context.Context, file string, maxSide int) (pages [][]byte, err error) {
	r, err := confined.Run(ctx, confined.Job{Kind: kindDraw, Input: file, Options: map[string]string{optionMaxSide: strconv.Itoa(maxSide)}})
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
	if !there("pdftoppm") {
		return confined.Result{}, &confined.Fault{Kind: confined.NoReader, Detail: installPoppler}
	}
	_, said, err := run(ctx, "pdftoppm", "-jpeg", "-scale-to", job.Options[optionMaxSide], "-l", strconv.Itoa(MaxDrawn), job.Input, filepath.Join(scratch, "drawn"))
	if err != nil {
		return confined.Result{}, pdfFault(err, said)
	}
	names, err := filepath.Glob(filepath.Join(scratch, "drawn*.jpg"))
	if err != nil {
		return confined.Result{}, err
	}
	slices.Sort(names) // they end in numbers of one length
	var pages [][]byte
	for _, name := range names {
		page, err := os.ReadFile(name)
		if err != nil {
			return confined.Result{}, err
		}
		pages = append(pages, page)
	}
	if len(pages) == 0 {
		return confined.Result{}, &confined.Fault{Kind: confined.Broken, Detail: "no pages"}
	}
	data, err := json.Marshal(pages)
	return confined.Result{Data: data}, err
}
