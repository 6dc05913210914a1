package confined

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

const (
	// childName is the argument by which the program knows that it is a child.
	childName = "klawbot-media-child"
	// softMemory is from where on the child collects garbage instead of growing.
	softMemory = 320 << 20
	// maxStack bounds a reader that calls itself.
	maxStack = 64 << 20
)

// self is this program, on Linux also when its file has been replaced.
func self() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	program, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return program
}

// Kind does the jobs of one kind, in the child. It may return a *Fault. ctx ends a
// little before the limit of the job.
type Kind func(ctx context.Context, job Job, scratch string) (Result, error)

// prepared says that this program knows how to be a child. Any other one, a test say,
// would do again what it does, and start children of its own.
var prepared atomic.Bool

// Main does the job and ends the process, when this process is a child. Else it
// returns at once. It is called first in main.
func Main(kinds map[string]Kind) {
	prepared.Store(true)
	if len(os.Args) != 2 || os.Args[1] != childName {
		return
	}
	debug.SetMemoryLimit(softMemory)
	debug.SetMaxStack(maxStack)
	var t task
	if err := json.NewDecoder(os.Stdin).Decode(&t); err != nil {
		fmt.Fprintln(os.Stderr, "read the job:", err)
		os.Exit(1)
	}
	out := os.Stdout
	os.Stdout = os.Stderr // a library may have something to say
	a, result := do(kinds, t)
	if err := write(out, a, result); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// do does a job.
func do(kinds map[string]Kind, t task) (a answer, result Result) {
	kind, ok := kinds[t.Job.Kind]
	if !ok {
		return answer{Error: fmt.Sprintf("no reader for jobs of the kind %q", t.Job.Kind)}, Result{}
	}
	ctx, cancel := context.WithDeadline(context.Background(), t.Deadline)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			a, result = answer{Fault: &Fault{Broken, panicked(p)}}, Result{}
		}
	}()
	result, err := kind(ctx, t.Job, os.TempDir())
	var fault *Fault
	switch {
	case err == nil:
		return answer{}, result
	case errors.As(err, &fault):
		return answer{Fault: fault}, Result{}
	case ctx.Err() != nil:
		return answer{Fault: &Fault{GaveUp, "its time is over"}}, Result{}
	}
	return answer{Error: err.Error()}, Result{}
}

// panicked says what a reader failed with. Only faults of the language are named:
// others may quote the file.
func panicked(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return "its reader failed: " + err.Error()
	}
	return "its reader failed"
}
