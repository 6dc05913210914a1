package exec

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"klawbot/tools"
	"klawbot/tools/sandbox"
)

// Bounds of commands in the background.
const (
	maxRunning = 8                // at once, of all chats
	maxJobs    = 32               // kept, those that ended included
	maxJobAge  = time.Hour        // how long one may run
	keepEnded  = time.Hour        // how long its output can be read afterwards
	jobOutput  = 256 << 10        // how much of each stream is kept, in bytes
	killTime   = 10 * time.Second // how long an end is waited for
)

// job is a command in the background.
type job struct {
	id, chat, command string
	begun             time.Time
	transcript        transcript
	cancel            context.CancelFunc
	done              chan struct{}
	// end and ended are set before done is closed.
	end   ending
	ended time.Time
}

// over reports whether the command has ended.
func (j *job) over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// background starts a command that outlives its call, and calls over when it has
// ended.
func (s *Shell) background(ctx context.Context, c tools.Call, v view, runner sandbox.Runner, steps []step, over func()) tools.Result {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxJobAge)
	j := &job{
		id: strings.ToLower(rand.Text()[:6]), chat: c.Chat, command: v.args.Command, begun: time.Now(),
		transcript: transcript{limit: jobOutput}, cancel: cancel, done: make(chan struct{}),
	}
	if refusal := s.admit(j); refusal != "" {
		cancel()
		over()
		return tools.Fail(tools.Execution, refusal)
	}
	go func() {
		defer s.work.Done()
		defer cancel()
		defer over()
		j.end = j.transcript.follow(ctx, runner, steps)
		j.ended = time.Now()
		close(j.done)
	}()
	return tools.OK("OK: running as job " + j.id)
}

// admit takes a job up, unless there are too many.
func (s *Shell) admit(j *job) (refusal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := 0
	for id, other := range s.jobs {
		switch {
		case !other.over():
			running++
		case time.Since(other.ended) > keepEnded:
			delete(s.jobs, id)
		}
	}
	switch {
	case s.closed:
		return "the bot is stopping"
	case running >= maxRunning:
		return fmt.Sprintf("%d commands run in the background already; end one with shell_manage", running)
	}
	for len(s.jobs) >= maxJobs {
		oldest := slices.MinFunc(s.list(func(o *job) bool { return o.over() }), func(a, b *job) int { return a.ended.Compare(b.ended) })
		delete(s.jobs, oldest.id)
	}
	s.jobs[j.id] = j
	s.work.Add(1)
	return ""
}

// list are some of the jobs, the first begun first. The caller holds mu.
func (s *Shell) list(want func(*job) bool) []*job {
	var all []*job
	for _, j := range s.jobs {
		if want(j) {
			all = append(all, j)
		}
	}
	slices.SortFunc(all, func(a, b *job) int { return a.begun.Compare(b.begun) })
	return all
}

// Close ends every command in the background and waits for that.
func (s *Shell) Close() {
	s.mu.Lock()
	s.closed = true
	for _, j := range s.jobs {
		j.cancel()
	}
	s.mu.Unlock()
	s.work.Wait()
}

// manage shows and ends commands in the background, those of the same chat.
func (s *Shell) manage(ctx context.Context, c tools.Call, args manageArgs) tools.Result {
	s.mu.Lock()
	own := s.list(func(j *job) bool { return j.chat == c.Chat })
	s.mu.Unlock()
	if args.ID == "" {
		if args.Action != "status" {
			return tools.Fail(tools.Validation, args.Action+" needs the id of a job; status lists them")
		}
		return tools.OK(overview(own))
	}
	i := slices.IndexFunc(own, func(j *job) bool { return j.id == args.ID })
	if i < 0 {
		return tools.Fail(tools.NotFound, "job '"+oneLine(args.ID)+"' not found; status without an id lists the jobs of this chat")
	}
	j := own[i]
	switch args.Action {
	case "kill":
		return j.kill(ctx)
	case "output":
		state := j.state() // first: a command that is over has written all of its output
		return tools.OK(j.transcript.text() + "\n[" + state + "]")
	}
	return tools.OK(j.line())
}

// InBackground are the jobs of a chat that run, the first begun first, and their
// commands.
func (s *Shell) InBackground(chat string) (ids, commands []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.list(func(j *job) bool { return j.chat == chat && !j.over() }) {
		ids, commands = append(ids, j.id), append(commands, oneLine(j.command))
	}
	return ids, commands
}

// overview lists jobs.
func overview(jobs []*job) string {
	if len(jobs) == 0 {
		return "No commands in the background."
	}
	var lines []string
	for _, j := range jobs {
		lines = append(lines, j.line())
	}
	return strings.Join(lines, "\n")
}

func (j *job) line() string {
	return fmt.Sprintf("job %s: %s: %s", j.id, j.state(), oneLine(j.command))
}

// state says how the command fares.
func (j *job) state() string {
	if !j.over() {
		return fmt.Sprintf("running for %s", shortly(time.Since(j.begun)))
	}
	took := shortly(j.ended.Sub(j.begun))
	switch {
	case j.end.fault != nil:
		return "did not start: " + j.end.fault.Error()
	case j.end.refused != "":
		return fmt.Sprintf("stopped after %s: %s", took, j.end.refused)
	case j.end.timedOut:
		return fmt.Sprintf("stopped after %s, which is as long as one may run, %s", took, exitCode(j.end.code))
	case j.end.stopped:
		return fmt.Sprintf("killed after %s, %s", took, exitCode(j.end.code))
	}
	return fmt.Sprintf("ended with %s after %s", exitCode(j.end.code), took)
}

// kill ends the command and waits for it.
func (j *job) kill(ctx context.Context) tools.Result {
	if j.over() {
		return tools.OK("OK: job " + j.id + " has ended already: " + j.state())
	}
	j.cancel()
	select {
	case <-j.done:
		return tools.OK("OK: job " + j.id + " killed")
	case <-time.After(killTime):
	case <-ctx.Done():
	}
	return tools.Fail(tools.Execution, "job "+j.id+" was told to end and has not yet")
}
