package exec

import (
	"slices"
	"strings"

	"klawbot/tools/exec/command"
	"klawbot/tools/exec/host"
	"klawbot/tools/sandbox"
)

// step is one pipeline of a call, made ready to run.
type step struct {
	when    command.When
	command sandbox.Command
	// missing, if not empty, says that a program of it is not there.
	missing string
	// refusal, if not nil, says why the step may not start, right before it does.
	refusal func() string
	// keep, if not nil, remembers what the step may not change and no sandbox keeps
	// from it; putBack makes it what it was, and returns what was not.
	keep func() (putBack func() []string, err error)
}

// kept remembers what the step may not change.
func (s step) kept() (putBack func() []string, err error) {
	if s.keep == nil {
		return func() []string { return nil }, nil
	}
	return s.keep()
}

// skipped reports whether the step does not run after such an exit code.
func (s step) skipped(code int) bool {
	return s.when == command.IfOK && code != 0 || s.when == command.IfFailed && code == 0
}

// plan is what runs. A line of the approved list runs program by program as it
// was taken apart, and no shell reads it. Other text was agreed to by a person,
// or by the owner's settings, and a shell gets it as written.
func (s *Shell) plan(v view, sandboxed string) []step {
	finder := programs{dir: v.dir, inSandbox: sandboxed != "off"}
	if !finder.inSandbox {
		finder.folders = host.Folders(s.config.Workspace)
		finder.env = []string{"PATH=" + strings.Join(finder.folders, ":")}
	}
	if !v.listed {
		shell := "sh"
		if _, err := finder.find("bash"); err == nil && sandboxed != "docker" {
			shell = "bash"
		}
		return []step{finder.step(command.Pipeline{When: command.Always, Programs: []command.Program{
			{Argv: []string{shell, "-c", "--", v.line.Text}, Out: command.Stdout, Err: command.Stderr},
		}})}
	}
	var steps []step
	for _, p := range v.line.Plain {
		steps = append(steps, finder.step(p))
	}
	return steps
}

// programs finds programs.
type programs struct {
	folders   []string
	env       []string
	dir       string
	inSandbox bool // the sandbox finds them
}

// step makes a pipeline ready to run.
func (p programs) step(l command.Pipeline) step {
	s := step{when: l.When, command: sandbox.Command{Dir: p.dir, Env: p.env}}
	for i, prog := range l.Programs {
		argv := slices.Clone(prog.Argv)
		found, err := p.find(argv[0])
		if err != nil && s.missing == "" {
			s.missing = argv[0] + ": " + err.Error()
		}
		argv[0] = found
		argv = redirected(prog, argv)
		if i == 0 {
			s.command.Argv = argv
		} else {
			s.command.Pipe = append(s.command.Pipe, argv)
		}
	}
	return s
}

// find is the path of a program, or its name where the sandbox finds it.
func (p programs) find(name string) (string, error) {
	if p.inSandbox {
		return name, nil
	}
	return host.Find(name, p.dir, p.folders)
}

// redirected is a program with its streams led where they go. The little program
// of the shell that does it is ours; what it runs comes as its arguments.
func redirected(p command.Program, argv []string) []string {
	if !p.NoInput && p.Out == command.Stdout && p.Err == command.Stderr {
		return argv
	}
	to := map[command.Stream]string{command.Stdout: "&3", command.Stderr: "&4", command.Null: "/dev/null"}
	text := `exec "$@" 3>&1 4>&2 1>` + to[p.Out] + ` 2>` + to[p.Err] + ` 3>&- 4>&-`
	if p.NoInput {
		text += ` </dev/null`
	}
	return append([]string{"/bin/sh", "-c", text, "sh"}, argv...)
}
