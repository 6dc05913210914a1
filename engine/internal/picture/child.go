package picture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"klawbot/engine/internal/confined"
)

// Kind is the kind of the jobs of this package.
const Kind = "picture"

// The names of what a job says and answers.
const (
	optionSide = "maxSide"
	metaWidth  = "width"
	metaHeight = "height"
)

// Prepare makes the picture in a file fit for a model, in a child process. The error is
// a *confined.Fault for all that the file has caused.
func Prepare(ctx context.Context, file string, maxSide int) (Picture, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return Picture{}, err
	}
	r, err := confined.Run(ctx, confined.Job{Kind: Kind, Input: path, Options: map[string]string{optionSide: strconv.Itoa(maxSide)}})
	if err != nil {
		return Picture{}, err
	}
	p := Picture{JPEG: r.Data}
	for name, into := range map[string]*int{metaWidth: &p.Width, metaHeight: &p.Height} {
		if *into, err = strconv.Atoi(r.Meta[name]); err != nil || *into <= 0 {
			return Picture{}, fmt.Errorf("the child says no %s of the picture", name)
		}
	}
	return p, nil
}

// Child does a job of Prepare.
func Child(_ context.Context, job confined.Job, _ string) (confined.Result, error) {
	side, err := strconv.Atoi(job.Options[optionSide])
	if err != nil {
		return confined.Result{}, err
	}
	f, err := os.Open(job.Input)
	if err != nil {
		return confined.Result{}, err
	}
	defer f.Close() // nothing was written
	p, err := Make(io.Reader(f), side)
	switch {
	case errors.Is(err, ErrTooMuch):
		return confined.Result{}, &confined.Fault{Kind: confined.TooMuch}
	case errors.Is(err, ErrBroken):
		return confined.Result{}, &confined.Fault{Kind: confined.Broken}
	case err != nil:
		return confined.Result{}, err
	}
	return confined.Result{Data: p.JPEG, Meta: map[string]string{metaWidth: strconv.Itoa(p.Width), metaHeight: strconv.Itoa(p.Height)}}, nil
}
