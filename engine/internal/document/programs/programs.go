// Package programs runs the programs of the system that read documents, within the child
// process of package confined.
package programs

import (
	"bytes"
	"context"
	"errors"
	"os/exec"

	"klawbot/engine/internal/confined"
)

// maxProgramOutput bounds what a program writes.
const maxProgramOutput = 24 << 20

// Run runs a program of the system within the child, and returns what it writes.
func Run(ctx context.Context, name string, args ...string) (stdout []byte, stderr string, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, errs bounded
	out.most, errs.most = maxProgramOutput, 8<<10
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, "", &confined.Fault{Kind: confined.GaveUp, Detail: name + " took too long"}
	case out.full:
		return nil, "", &confined.Fault{Kind: confined.TooMuch, Detail: "more than 24 MB of text"}
	}
	return out.text.Bytes(), errs.text.String(), err
}

// bounded keeps the begin of an output.
type bounded struct {
	text bytes.Buffer
	most int
	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - b.text.Len()
	if len(p) > room {
		b.full = true
		b.text.Write(p[:room])
		return len(p), nil
	}
	return b.text.Write(p)
}

// There reports whether a program is installed.
func There(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// ExitCode is the exit code of a program that ran.
func ExitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}
