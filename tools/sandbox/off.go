package sandbox

import (
	"context"
	"os/exec"
)

// Off returns the Runner that confines nothing.
func Off() Runner { return off{} }

type off struct{}

func (off) Name() string { return "off" }

func (off) Describe() string { return "commands run as the bot itself does, with a clean environment" }

func (o off) Run(ctx context.Context, c Command) (Outcome, error) { return run(ctx, o, c) }

func (off) Start(ctx context.Context, c Command) (*Process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Reach != nil {
		return startWithin(ctx, c)
	}
	j := job{}
	for i, argv := range c.argvs() {
		s := &stage{exec.Command(argv[0], argv[1:]...), bounds{Reports: true, DataBytes: c.maxMemory(i)}}
		s.Dir, s.Env = c.Dir, environ(c.Env)
		j.stages = append(j.stages, s)
	}
	return start(ctx, c, j)
}

// maxMemory bounds one program of the pipeline; 0 does not.
func (c Command) maxMemory(i int) uint64 {
	if i < len(c.MaxMemory) {
		return c.MaxMemory[i]
	}
	return 0
}

// Refusing returns a Runner that starts nothing, because the configured sandbox is
// unavailable.
func Refusing(why error) Runner { return refusing{why} }

type refusing struct{ why error }

func (refusing) Name() string { return "refusing" }

func (r refusing) Describe() string { return r.why.Error() }

func (r refusing) Run(context.Context, Command) (Outcome, error) { return Outcome{}, r.why }

func (r refusing) Start(context.Context, Command) (*Process, error) { return nil, r.why }
