package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// drainTime bounds how long the output of a command is read after its last
// process ended.
const drainTime = time.Second

// job is a Command made ready to start.
type job struct {
	// stages are the programs of the pipeline.
	stages []*stage
	// kill, if not nil, ends what signals do not reach.
	kill func()
	// watch, if not nil, checks the command while it runs.
	watch *patrol
	// putBack, if not nil, is called when nothing runs any more; it returns what
	// the outcome names.
	putBack func() []string
	// cleanup, if not nil, is called when nothing runs any more.
	cleanup func()
}

// stage is one program of a pipeline. On Linux it starts under a guard, which ends
// with it and with all processes that come from it (guard_linux.c).
type stage struct {
	*exec.Cmd
	bounds bounds
}

// Process is a command that runs, or did.
type Process struct {
	// Stdin and Stdout belong to the caller of a command with Piped, who
	// closes them; else they are nil.
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	job            job
	begun          time.Time
	stdout, stderr *buffer
	drains         []*os.File // the read ends that are copied into the buffers
	drained        sync.WaitGroup
	timedOut       atomic.Bool
	stopped        atomic.Bool
	done           chan struct{}
	outcome        Outcome // set before done is closed
}

// Done is closed when the command has ended and all its processes are gone.
func (p *Process) Done() <-chan struct{} { return p.done }

// Kill ends the command and all its processes. It does not wait for it.
func (p *Process) Kill() {
	p.stopped.Store(true)
	p.kill()
}

// Stop asks the command to end, ends it with all its processes when it takes longer than
// grace, and waits for its end.
func (p *Process) Stop(grace time.Duration) {
	p.stopped.Store(true)
	for _, s := range p.job.stages {
		s.ask()
	}
	t := time.AfterFunc(grace, p.kill)
	defer t.Stop()
	<-p.done
}

// Output is what the command has written so far.
func (p *Process) Output() (stdout, stderr Output) { return p.stdout.output(), p.stderr.output() }

// Outcome waits for the end of the command.
func (p *Process) Outcome() Outcome {
	<-p.done
	return p.outcome
}

// run starts a command and waits for it.
func run(ctx context.Context, r Runner, c Command) (Outcome, error) {
	if c.Piped {
		return Outcome{}, errors.New("a command with Piped is for Start")
	}
	p, err := r.Start(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	return p.Outcome(), nil
}

// check says what is wrong with a command before anything is made for it.
func (c Command) check() error {
	for _, argv := range c.argvs() {
		if len(argv) == 0 || argv[0] == "" {
			return errors.New("no program to run")
		}
	}
	if !filepath.IsAbs(c.Dir) {
		return fmt.Errorf("the directory to run in is not an absolute path: %q", c.Dir)
	}
	return nil
}

// start starts the stages of a job, joined by pipes.
func start(ctx context.Context, c Command, j job) (*Process, error) {
	p := &Process{
		job: j, begun: time.Now(), stdout: newBuffer(c), stderr: newBuffer(c),
		done: make(chan struct{}),
	}
	childEnds, err := p.connect(c)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = p.startStages()
	}
	for _, f := range childEnds {
		f.Close()
	}
	if err != nil {
		p.abandon()
		return nil, err
	}
	for i, f := range p.drains {
		p.drained.Go(func() { _, _ = io.Copy([]*buffer{p.stderr, p.stdout}[i], f) }) // it ends with the command
	}
	go p.supervise(ctx, c)
	return p, nil
}

// connect makes the pipes of the stages. It returns the files that only the
// stages need, which are to be closed once these run.
func (p *Process) connect(c Command) (childEnds []*os.File, err error) {
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		r, w, err = os.Pipe()
		return r, w
	}
	first, last := p.job.stages[0], p.job.stages[len(p.job.stages)-1]
	errRead, errWrite := pipe()
	outRead, outWrite := pipe()
	var inRead, inWrite *os.File
	if c.Piped {
		inRead, inWrite = pipe()
	}
	childEnds = []*os.File{errWrite, outWrite, inRead}
	for i, s := range p.job.stages {
		s.Stderr = errWrite
		if i > 0 {
			r, w := pipe()
			p.job.stages[i-1].Stdout, s.Stdin = w, r
			childEnds = append(childEnds, r, w)
		}
	}
	last.Stdout = outWrite
	p.drains = []*os.File{errRead, outRead}
	if c.Piped {
		first.Stdin = inRead
		p.Stdin, p.Stdout, p.drains = inWrite, outRead, p.drains[:1]
	} else if c.Stdin != nil {
		first.Stdin = c.Stdin
		first.WaitDelay = drainTime
	}
	return childEnds, err
}

// startStages starts all programs, or none.
func (p *Process) startStages() error {
	for i, s := range p.job.stages {
		if err := s.start(); err != nil {
			for _, before := range p.job.stages[:i] {
				before.stop()
				_ = before.Wait() // it was killed
			}
			return err
		}
	}
	return nil
}

// abandon frees what was made for a command that did not start.
func (p *Process) abandon() {
	for _, f := range p.drains {
		f.Close()
	}
	if p.Stdin != nil {
		p.Stdin.Close()
		p.Stdout.Close()
	}
	p.cleanup()
}

func (p *Process) cleanup() {
	if p.job.cleanup != nil {
		p.job.cleanup()
	}
}

// supervise waits for the command, kills it at its deadline and cleans up.
func (p *Process) supervise(ctx context.Context, c Command) {
	ended := make(chan struct{})
	go p.watch(ctx, c.Timeout, ended)
	patrolled := p.patrol(ended)
	for _, s := range p.job.stages {
		_ = s.Wait() // the exit code is in ProcessState
	}
	close(ended)
	broken := <-patrolled
	p.kill() // left-over processes, where there are no guards
	p.drain()
	last := p.job.stages[len(p.job.stages)-1]
	p.outcome = Outcome{
		Stdout: p.stdout.output(), Stderr: p.stderr.output(), ExitCode: exitCode(last.ProcessState),
		TimedOut: p.timedOut.Load(), Stopped: p.stopped.Load(), Duration: time.Since(p.begun), Broken: broken,
	}
	if p.job.watch != nil && broken == "" {
		p.outcome.Broken = p.job.watch.broken(p.outcome.ExitCode)
	}
	if p.job.putBack != nil {
		p.outcome.PutBack = p.job.putBack()
	}
	p.cleanup()
	close(p.done)
}

// patrol checks the command until it has ended, and kills it when it breaks a
// limit. The channel brings which.
func (p *Process) patrol(ended <-chan struct{}) <-chan string {
	broken := make(chan string, 1)
	if p.job.watch == nil {
		broken <- ""
		return broken
	}
	pids := make([]int, len(p.job.stages))
	for i, s := range p.job.stages {
		pids[i] = s.Process.Pid
	}
	go func() {
		limit := p.job.watch.walk(pids, ended)
		if limit != "" {
			p.kill()
		}
		broken <- limit
	}()
	return broken
}

// drain waits for the rest of the output, but not long: without a guard, or when the
// command has killed both of its guards, an escaped process may hold a pipe open.
func (p *Process) drain() {
	for _, f := range p.drains {
		_ = f.SetReadDeadline(time.Now().Add(drainTime)) // a pipe has deadlines
	}
	p.drained.Wait()
	for i, f := range p.drains {
		rest(f, []*buffer{p.stderr, p.stdout}[i])
		f.Close()
	}
}

// rest takes what a pipe holds, which a loaded machine may not have read in time.
func rest(f *os.File, to *buffer) {
	_ = f.SetReadDeadline(time.Time{}) // a pipe has deadlines
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Read(func(fd uintptr) bool {
			held := make([]byte, 64<<10)        // as much as a pipe holds
			n, _ := syscall.Read(int(fd), held) // it does not wait
			_, _ = to.Write(held[:max(n, 0)])
			return true
		})
	}
}

// watch kills the command at its deadline.
func (p *Process) watch(ctx context.Context, timeout time.Duration, ended <-chan struct{}) {
	var alarm <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		alarm = t.C
	}
	select {
	case <-ended:
		return
	case <-alarm:
		p.timedOut.Store(true)
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			p.timedOut.Store(true)
		} else {
			p.stopped.Store(true)
		}
	}
	p.kill()
}

// kill ends every process of the command.
func (p *Process) kill() {
	for _, s := range p.job.stages {
		s.stop()
	}
	if p.job.kill != nil {
		p.job.kill()
	}
}

// exitCode is the exit code as a shell says it.
func exitCode(s *os.ProcessState) int {
	if s == nil {
		return -1
	}
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}
