package sandbox

import (
	"context"
	"os/exec"
)

// Off returns the Runner that confines nothing. Only the owner chooses it.
func Off() Runner { return off{} }

type off struct{}

func (off) Name() string { return "off" }

func (off) Describe() string { return "commands run as the bot itself does, with a clean environment" }

func (o off) Run(ctx context.Context, c Command) (Outcome, error) { return run(ctx, o, c) }

func (off) Start(ctx context.Context, c Command) (*Process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	id := newRun()
	if c.Reach != nil {
		return startWithin(ctx, c, id)
	}
	j := job{run: id, memory: c.MaxMemory}
	for _, argv := range c.argvs() {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = c.Dir, environ(id, c.Env)
		j.stages = append(j.stages, cmd)
	}
	return start(ctx, c, j)
}

// Refusing returns a Runner that starts nothing: there should be a sandbox, and
// there is none.
func Refusing(why error) Runner { return refusing{why} }

type refusing struct{ why error }

func (refusing) Name() string { return "refusing" }

func (r refusing) Describe() string { return r.why.Error() }

func (r refusing) Run(context.Context, Command) (Outcome, error) { return Outcome{}, r.why }

func (r refusing) Start(context.Context, Command) (*Process, error) { return nil, r.why }
