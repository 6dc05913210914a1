package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"klawbot/tools"
	"klawbot/tools/exec/command"
	"klawbot/tools/exec/host"
	"klawbot/tools/sandbox"
	"klawbot/tools/sandbox/keep"
)

// run runs a command.
func (s *Shell) run(ctx context.Context, c tools.Call, _ shellArgs) tools.Result {
	v, refusal := s.look(c.Arguments)
	if refusal != nil {
		return *refusal
	}
	if why := v.undecided(c.Decided); why != "" {
		return tools.Fail(tools.PolicyDenied, why)
	}
	runner := s.config.Runner()
	v, open, refusal := s.settle(ctx, c, v, runner)
	if refusal != nil {
		return *refusal
	}
	steps, err := s.steps(c, v, runner)
	if err != nil {
		open()
		return tools.Fail(tools.Execution, err.Error())
	}
	if v.args.Background {
		return s.background(ctx, c, v, runner, steps, open)
	}
	defer open()
	t := &transcript{limit: maxOutput}
	begun := time.Now()
	end := t.follow(ctx, runner, steps)
	r := end.result("the command", t, time.Since(begun), s.timeout(c.Arguments))
	if end.timedOut {
		hint := fmt.Sprintf("; timeout takes up to %.0f seconds, background=true runs it without one", tools.MaxTimeout.Seconds())
		r.Output, r.Error = strings.Replace(r.Output, r.Error, r.Error+hint, 1), r.Error+hint
	}
	return r
}

// steps is the plan of a call, with what bounds each of its steps.
func (s *Shell) steps(c tools.Call, v view, runner sandbox.Runner) ([]step, error) {
	steps := s.plan(v, runner.Name())
	w, err := s.enter(v.args.Workdir)
	if err != nil {
		return nil, err
	}
	defer w.root.Close()
	unasked := v.listed && c.Decided.Verdict != tools.Ask
	for i := range steps {
		cmd := &steps[i].command
		cmd.ReadOnly = s.config.ReadOnly(c)
		if !v.listed {
			continue
		}
		p := v.line.Plain[i]
		if unasked && runner.Name() == sandbox.TypeOff && w.changes(v, p) {
			steps[i].keep = func() (func() []string, error) { return keep.Files(s.config.Workspace, s.config.ReadOnly(c)) }
		}
		steps[i].refusal = func() string { return s.refusal(v, p) }
		if v.harmless {
			cmd.MaxMemory = w.memory(v, p)
		}
		if unasked && runner.Name() == sandbox.TypeOff && s.config.Confines() {
			cmd.Reach = w.reach(v, p)
			if slices.Contains(cmd.MaxMemory, harmlessMemory) {
				cmd.Reach.MaxDisk = harmlessDisk
			}
		}
	}
	return steps, nil
}

// refusal says why a pipeline of the approved list may not start any more, "" when it
// may: what it names, its folder or the list may have changed since it was checked.
func (s *Shell) refusal(v view, p command.Pipeline) string {
	w, err := s.enter(v.args.Workdir)
	if err != nil {
		return err.Error()
	}
	defer w.root.Close()
	if w.dir != v.dir {
		return "the directory of the command has changed; call it again"
	}
	if _, unlisted := w.listed(p, s.config.Settings(), oneLine(v.line.Text)); unlisted != "" {
		return "Command not in approved list: " + unlisted
	}
	return ""
}

// settle keeps the sandbox still while a harmless command runs outside it, and
// checks its files again, which a command there could have changed. open ends
// that.
func (s *Shell) settle(ctx context.Context, c tools.Call, v view, runner sandbox.Runner) (_ view, open func(), refusal *tools.Result) {
	if !v.harmless || runner.Name() != sandbox.TypeOff {
		return v, func() {}, nil
	}
	open, err := host.Alone(ctx, s.config.Gate)
	if err != nil {
		return v, nil, tools.Refused(tools.Execution, err.Error())
	}
	if v, refusal = s.look(c.Arguments); refusal == nil && !v.listed {
		refusal = tools.Refused(tools.PolicyDenied, "Command not in approved list: "+v.unlisted)
	}
	if refusal != nil {
		open()
	}
	return v, open, refusal
}

// undecided says why a call may not run although it passed the policy: its settings or
// files have changed since.
func (v view) undecided(d tools.Decision) string {
	switch {
	case v.mode == ModeDeny:
		return "All exec calls are blocked"
	case v.listed:
		return ""
	case v.mode != ModeFull && d.Verdict != tools.Ask:
		return "Command not in approved list: " + v.unlisted
	case d.Binds != v.binds:
		return "the directory or a script of the command has changed since it was approved; call it again"
	}
	return ""
}

// harmlessMemory bounds a program that runs without approval, in bytes: a regular
// expression for grep can take all memory.
const harmlessMemory = 256 << 20

// harmlessDisk bounds the temporary files of the read-only programs of a pipeline, in
// bytes: sort stores its input there.
const harmlessDisk = 512 << 20

// changes reports whether a pipeline may write into the workspace without a question:
// a pattern of the owner allows one of its programs.
func (w where) changes(v view, p command.Pipeline) bool {
	for i := range p.Programs {
		if _, away, is := w.owners(v.allow, p, i); is && away == "" {
			return true
		}
	}
	return false
}

// memory bounds the harmless programs of a pipeline. What the owner has put on the
// list is not bounded.
func (w where) memory(v view, p command.Pipeline) []uint64 {
	bounds := make([]uint64, len(p.Programs))
	for i := range p.Programs {
		if _, away, is := w.owners(v.allow, p, i); !is || away != "" {
			bounds[i] = harmlessMemory
		}
	}
	return bounds
}

// maxOutput is how much is kept of what one call writes, in bytes, of each
// stream.
const maxOutput = 1 << 20

// minOutput is kept of each program, however much the ones before it wrote.
const minOutput = 8 << 10

// transcript is what the programs of one call have written.
type transcript struct {
	limit int

	mu             sync.Mutex
	stdout, stderr strings.Builder  // of the programs that ended; guarded by mu
	now            *sandbox.Process // the one that runs; guarded by mu
}

// ending is how a call ended.
type ending struct {
	code              int
	timedOut, stopped bool
	broken            string // the limit of the sandbox that ended it
	fault             error  // a program could not be started at all
	refused           string // why a step may not start any more
}

// follow runs the steps one after the other.
func (t *transcript) follow(ctx context.Context, runner sandbox.Runner, steps []step) (e ending) {
	for _, s := range steps {
		if s.skipped(e.code) {
			continue
		}
		if s.missing != "" {
			t.say(s.missing)
			e.code = 127
			continue
		}
		if s.refusal != nil {
			if why := s.refusal(); why != "" {
				e.refused = why
				return e
			}
		}
		cmd := s.command
		cmd.MaxOutput = t.room()
		putBack, err := s.kept()
		if err != nil {
			e.fault = err
			return e
		}
		p, err := runner.Start(ctx, cmd)
		if err != nil {
			e.fault = err
			if ctx.Err() != nil {
				e = ending{code: notStarted, timedOut: errors.Is(ctx.Err(), context.DeadlineExceeded), stopped: true}
			}
			return e
		}
		t.begin(p)
		o := p.Outcome()
		o.PutBack = append(o.PutBack, putBack()...)
		t.end(o)
		if o.Broken != "" {
			t.say("the command broke a limit of the sandbox: " + o.Broken)
		}
		e.code = o.ExitCode
		if o.TimedOut || o.Stopped {
			e.timedOut, e.stopped = o.TimedOut, o.Stopped
			return e
		}
	}
	return e
}

// room is how much the next program may write of each stream.
func (t *transcript) room() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(t.limit-max(t.stdout.Len(), t.stderr.Len()), minOutput)
}

func (t *transcript) begin(p *sandbox.Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = p
}

func (t *transcript) end(o sandbox.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = nil
	t.stdout.WriteString(o.Stdout.Text())
	t.stderr.WriteString(o.Stderr.Text())
	t.stderr.WriteString(o.PutBackNotes())
}

// say adds a line to standard error.
func (t *transcript) say(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stderr.WriteString(line + "\n")
}

// text is what was written so far, standard error after standard output.
func (t *transcript) text() string {
	t.mu.Lock()
	stdout, stderr := t.stdout.String(), t.stderr.String()
	now := t.now
	t.mu.Unlock()
	if now != nil {
		o, e := now.Output()
		stdout, stderr = stdout+o.Text(), stderr+e.Text()
	}
	text := strings.TrimRight(stdout, "\n")
	if stderr = strings.TrimRight(stderr, "\n"); stderr != "" {
		text = strings.TrimPrefix(text+tools.Stderr+stderr, "\n")
	}
	if text == "" {
		return "(no output)"
	}
	return text
}

// notStarted is the exit code of a command that was stopped before it started.
const notStarted = 126

// result is what the model reads of a command, or of code, that ended. The last line
// is the exit code, also when it was stopped.
func (e ending) result(what string, t *transcript, took, timeout time.Duration) tools.Result {
	var r tools.Result
	text := fmt.Sprintf("%s\n[%s, %s]", t.text(), exitCode(e.code), shortly(took))
	switch {
	case e.fault != nil:
		r = tools.Fail(tools.Execution, what+" did not start: "+e.fault.Error())
		text = t.text()
	case e.refused != "":
		r = tools.Fail(tools.PolicyDenied, e.refused)
		text = t.text()
	case e.broken != "":
		r = tools.Fail(tools.Execution, what+" broke a limit of the sandbox: "+e.broken)
	case e.timedOut:
		timeout = min(timeout, max(took.Truncate(time.Second), time.Second)) // a sandbox has a limit of its own
		r = tools.Fail(tools.Timeout, fmt.Sprintf("%s did not end within %s and was stopped with all its processes", what, timeout))
	case e.stopped:
		r = tools.Fail(tools.Execution, what+" was stopped")
	case e.code == 0:
		return tools.Result{Success: true, ExitCode: &e.code, Output: text}
	default:
		return tools.Result{ExitCode: &e.code, Output: text, Error: exitCode(e.code), ErrorKind: tools.Execution}
	}
	if e.fault == nil && e.refused == "" {
		r.ExitCode = &e.code
	}
	r.Output += "\n" + text
	return r
}

// exitCode is an exit code in words, with the name of the signal.
func exitCode(code int) string {
	if name := signals[syscall.Signal(code-128)]; name != "" {
		return fmt.Sprintf("exit code %d, killed by %s", code, name)
	}
	return fmt.Sprintf("exit code %d", code)
}

var signals = map[syscall.Signal]string{
	syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGILL: "SIGILL", syscall.SIGTRAP: "SIGTRAP",
	syscall.SIGABRT: "SIGABRT", syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE", syscall.SIGKILL: "SIGKILL", syscall.SIGUSR1: "SIGUSR1",
	syscall.SIGSEGV: "SIGSEGV", syscall.SIGUSR2: "SIGUSR2", syscall.SIGPIPE: "SIGPIPE", syscall.SIGALRM: "SIGALRM", syscall.SIGTERM: "SIGTERM",
	syscall.SIGXCPU: "SIGXCPU", syscall.SIGXFSZ: "SIGXFSZ", syscall.SIGSYS: "SIGSYS",
}

// shortly is a duration for people.
func shortly(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}
