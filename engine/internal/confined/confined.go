// Package confined reads a foreign file in a child process of this program: a
// document, a picture, a recording. Whatever such a file does to its reader, the bot
// keeps running and loses nothing.
//
// The child runs under tools/sandbox, whatever tools.sandbox.type says. It reads its
// input, what the job names and the programs of the system, writes into a scratch
// directory, opens no socket, and has bounds of memory, time, disk and output. Where
// the kernel has no Landlock, the bounds of memory, time and output remain. What the
// child starts is confined as it is, and ends with it; all of it ends with the bot.
//
// The package knows no formats. Main gets a function for each kind of job.
package confined

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"klawbot/tools/sandbox"
)

// Job is one reading.
type Job struct {
	// Kind names the function in the child.
	Kind string
	// Input is the file to read, an absolute path.
	Input string
	// Read are further paths that the child may read: models, libraries. What does not
	// exist is left out.
	Read []string
	// Options are small settings of the kind.
	Options map[string]string
	// Limit is how long it may take; 0: a minute. A function that keeps to the
	// deadline of its context can still return what it has.
	Limit time.Duration
}

// Result is what came out of the file.
type Result struct {
	Text string
	Meta map[string]string
	// Data is what is no text: a picture, say.
	Data []byte
}

const (
	// maxMemory bounds what the child and all that it starts hold in memory.
	maxMemory = 512 << 20
	// maxOwnMemory bounds what one of these processes reserves for itself. Allocators
	// reserve more than they use.
	maxOwnMemory = 1 << 30
	// maxScratch bounds the files that a child writes.
	maxScratch = 1 << 30
	// MaxOutput bounds an answer, as the child writes it.
	MaxOutput = 64 << 20
	// usualLimit is for jobs without one.
	usualLimit = time.Minute
	// answerTime is the end of a limit that is kept for the answer.
	answerTime = 5 * time.Second
	// scratchPrefix begins the names of scratch directories.
	scratchPrefix = "klawbot-media-"
	// sweepAge is the age from which a scratch directory belongs to no running job.
	sweepAge = 6 * time.Hour
)

// task is what the child reads.
type task struct {
	Job Job
	// Deadline is when the context of the function ends.
	Deadline time.Time
}

// Run does a job in a child. The error is a *Fault for everything that the file or the
// bounds have caused, the cause of ctx when that ended, and else what is wrong here.
func Run(ctx context.Context, job Job) (Result, error) {
	if !filepath.IsAbs(job.Input) {
		return Result{}, fmt.Errorf("the input of a reading is not an absolute path: %q", job.Input)
	}
	if !prepared.Load() {
		return Result{}, errors.New("this program does not call confined.Main, so it cannot be a child")
	}
	if job.Limit <= 0 {
		job.Limit = usualLimit
	}
	words, err := json.Marshal(task{job, time.Now().Add(job.Limit - min(job.Limit/4, answerTime))})
	if err != nil {
		return Result{}, err
	}
	sweep()
	scratch, err := os.MkdirTemp("", scratchPrefix)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // what stays is swept later
	out, err := sandbox.Off().Run(ctx, command(job, words, scratch))
	if err != nil {
		return Result{}, err
	}
	return understand(ctx, job, out)
}

// command is the child of a job.
func command(job Job, words []byte, scratch string) sandbox.Command {
	c := sandbox.Command{
		Argv: []string{self(), childName}, Dir: scratch, Stdin: bytes.NewReader(words),
		Env:     []string{"HOME=" + scratch, "TMPDIR=" + scratch, "OMP_THREAD_LIMIT=1", "MALLOC_ARENA_MAX=2"},
		Timeout: job.Limit, MaxOutput: MaxOutput, HeadOnly: true,
	}
	if raceEnabled { // its detector reserves more than there is, and waits at the end
		c.Env = append(c.Env, "GORACE=atexit_sleep_ms=10")
	} else {
		c.MaxMemory = []uint64{maxOwnMemory}
	}
	if sandbox.Confines() {
		c.Reach = &sandbox.Reach{
			Scratch: scratch, MaxDisk: maxScratch, MaxMemory: maxMemory,
			Programs: []sandbox.Grant{{Read: append([]string{self(), job.Input}, job.Read...)}},
		}
	}
	return c
}

// understand reads how the child ended.
func understand(ctx context.Context, job Job, out sandbox.Outcome) (Result, error) {
	switch {
	case out.Stopped:
		return Result{}, stopped(ctx)
	case out.TimedOut:
		if ctx.Err() != nil {
			return Result{}, stopped(ctx)
		}
		return Result{}, &Fault{GaveUp, "it took more than " + job.Limit.String()}
	case out.Broken != "":
		return Result{}, &Fault{GaveUp, "limit of " + out.Broken}
	case out.Stdout.Total > MaxOutput:
		return Result{}, &Fault{TooMuch, "more than 64 MB of text"}
	case out.ExitCode == notStarted:
		return Result{}, fmt.Errorf("start a child process: %s", firstLine(out.Stderr))
	case out.ExitCode != 0:
		return Result{}, died(out)
	}
	return read(out.Stdout.Head)
}

// notStarted is the exit code of a child that did not start (tools/sandbox).
const notStarted = 126

// died says how a child ended that gave no answer. What it wrote may quote the file, so
// only the words of Go's own faults are looked for.
func died(out sandbox.Outcome) *Fault {
	said := out.Stderr.String()
	switch {
	case strings.Contains(said, "out of memory"), strings.Contains(said, "cannot allocate memory"), out.ExitCode == 128+int(syscall.SIGKILL):
		return &Fault{GaveUp, "limit of memory"}
	case strings.Contains(said, "stack overflow"), strings.Contains(said, "stack exceeds"):
		return &Fault{GaveUp, "nested too deep"}
	case strings.Contains(said, "SIGSEGV"), strings.Contains(said, "SIGBUS"): // of a library
		return &Fault{Broken, "its reader crashed"}
	}
	return &Fault{GaveUp, fmt.Sprintf("its reader ended with code %d", out.ExitCode)}
}

func firstLine(o sandbox.Output) string {
	line, _, _ := strings.Cut(strings.TrimSpace(o.String()), "\n")
	return line[:min(len(line), 200)]
}

// stopped is why a job ended that was stopped.
func stopped(ctx context.Context) error {
	return cmp.Or(context.Cause(ctx), context.Canceled)
}

// sweep removes the scratch directories that killed bots have left.
func sweep() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), scratchPrefix+"*")) // the pattern is well-formed
	for _, dir := range left {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < sweepAge {
			continue
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) == os.Geteuid() {
			_ = os.RemoveAll(dir) // the next one tries again
		}
	}
}
