// Package sandbox runs programs: directly, or confined by bwrap, docker,
// landlock or nsjail. It decides nothing about whether a program may run; that
// is the pipeline of package tools.
//
// A family of tools gets a Runner from the wiring and does not care which:
//
//	out, err := runner.Run(ctx, sandbox.Command{
//		Argv:    []string{"git", "status"},
//		Dir:     "/path/of/workspace",       // of the host
//		Timeout: 30 * time.Second,
//	})
//	if err != nil {        // it did not start: no such program, no such folder
//	}
//	out.ExitCode; out.Stdout.String(); out.TimedOut
//
// A pipeline has its further commands in Pipe. No shell is involved, ever: who
// wants one writes it into Argv.
//
// A process in the background, or one to talk with, is a Process:
//
//	p, err := runner.Start(ctx, sandbox.Command{Argv: argv, Dir: dir, Piped: true})
//	p.Stdin.Write(line); p.Stdout.Read(b) // only when Piped
//	stdout, stderr := p.Output()          // so far
//	p.Kill(); <-p.Done(); out := p.Outcome()
//
// It is killed when the ctx of Start ends, so that ctx is the one of the bot and
// not of the call. Whatever way a command ends, every process that it started is
// killed before Done is closed. On Linux a guard does this, and does it as well when
// the bot is killed (guard_linux.c); elsewhere the process group is killed.
//
// A command sees the environment variables PATH, HOME, LANG, TERM and TZ, and what
// Env adds. Output beyond the cap is read and thrown away in the middle, so any
// amount costs no more memory than the cap.
package sandbox

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"klawbot/tools/sandbox/keep"
)

// Runner runs commands. It may be used from several goroutines.
type Runner interface {
	// Run runs a command to its end. An error means that it did not start.
	Run(ctx context.Context, c Command) (Outcome, error)
	// Start starts a command and returns at once. The command is killed when
	// ctx ends.
	Start(ctx context.Context, c Command) (*Process, error)
	// Name is the kind of the sandbox as the configuration calls it: off,
	// docker, bwrap, landlock, nsjail.
	Name() string
	// Describe says in one line what confines a command.
	Describe() string
}

// Command is a program to run, or a pipeline of them.
type Command struct {
	// Argv is the program and its arguments. Required.
	Argv []string
	// Pipe are the further commands of a pipeline: each reads what the one
	// before it writes. The exit code is the last one's.
	Pipe [][]string
	// Dir is the directory to run in, an absolute path of the host. Required.
	Dir string
	// Binds are further folders and files that a sandbox shows to the command.
	Binds []Bind
	// ReadOnly are files and folders of the workspace, named as seen from it, that a
	// sandbox keeps as they are. Off does not.
	ReadOnly []string
	// Env is added to the environment, "NAME=value". It never comes from a
	// model.
	Env []string
	// Stdin is what the first command reads; nil: nothing. Not with Piped.
	Stdin io.Reader
	// Piped leaves standard input and output to the caller: Process.Stdin and
	// Process.Stdout. Only for Start.
	Piped bool
	// Timeout kills the command after so long; 0: only ctx ends it.
	Timeout time.Duration
	// MaxOutput is how many bytes of standard output and of standard error are
	// kept, each; 0 means 1 MiB. Of a longer output the begin and the end are
	// kept, in equal parts.
	MaxOutput int
	// HeadOnly keeps only the begin of a longer output.
	HeadOnly bool
	// MaxMemory is how much memory of its own each program of the pipeline may take
	// with Off, in bytes; 0, or none: as much as there is. A sandbox has limits of its
	// own.
	MaxMemory []uint64
	// Reach, if not nil, confines the programs with Off; see Confines. A sandbox has
	// bounds of its own.
	Reach *Reach
}

// argvs are the commands of the pipeline in order.
func (c Command) argvs() [][]string { return append([][]string{c.Argv}, c.Pipe...) }

// Outcome is how a command ended.
type Outcome struct {
	Stdout, Stderr Output
	// ExitCode is the program's, or 128 and the number of the signal that
	// killed it, as shells say it.
	ExitCode int
	// TimedOut says that Timeout, or the deadline of ctx, killed it.
	TimedOut bool
	// Stopped says that ctx or Kill ended it.
	Stopped bool
	// Broken is the limit of the sandbox that ended it: memory, processes, disk
	// or processor time. Empty: none that is known.
	Broken string
	// PutBack are the files of ReadOnly that had changed when the command ended,
	// and are as they were; what stood there is beside them, with keep.RefusedSuffix.
	PutBack  []string
	Duration time.Duration
}

// PutBackNotes says which files were put back, a line each.
func (o Outcome) PutBackNotes() string {
	var b strings.Builder
	for _, name := range o.PutBack {
		fmt.Fprintf(&b, "%s may not be changed here and is as it was; what was written is in %s\n", name, name+keep.RefusedSuffix)
	}
	return b.String()
}
