// Package git is the tool git, which works on the repository of the workspace.
package git

import (
	"context"
	"embed"
	"encoding/json"
	"slices"
	"strings"

	"klawbot/tools"
	"klawbot/tools/exec/host"
	"klawbot/tools/sandbox"
	"klawbot/tools/sandbox/keep"
)

//go:embed git.*.md
var texts embed.FS

// Config is what New needs.
type Config struct {
	// Workspace is the folder whose repository the tool works on. It may be
	// missing: every call looks again.
	Workspace string
	// Gate is closed while git runs, so that no command in a sandbox changes the
	// repository after it was checked; nil: there is no sandbox.
	Gate *sandbox.Gate
	// Sandboxed says that what models run is in a sandbox: git then takes no
	// folder of the machine for a remote unless a person has agreed; nil: it is
	// not.
	Sandboxed func() bool
	// ReadOnly names files of the workspace that a call may not change; nil: none.
	ReadOnly func(tools.Call) []string
	// Confines says that the system can confine git without approval; nil:
	// sandbox.Confines.
	Confines func() bool
}

// args are the parameters of git.
type args struct {
	Action string `json:"action" enum:"status,diff,log,add,commit,branch,checkout,push,pull,fetch"`
	Extra  string `json:"extra,omitempty"`
}

// New returns the tool git. It runs outside any sandbox, because it needs the
// owner's identity and credentials, and runs no program but git and ssh.
func New(c Config) tools.Tool {
	if c.ReadOnly == nil {
		c.ReadOnly = func(tools.Call) []string { return nil }
	}
	if c.Sandboxed == nil {
		c.Sandboxed = func() bool { return false }
	}
	if c.Gate == nil {
		c.Gate = new(sandbox.Gate)
	}
	if c.Confines == nil {
		c.Confines = sandbox.Confines
	}
	g := &git{config: c, runner: sandbox.Off()}
	return tools.New(tools.Spec{
		Name: "git", Group: tools.GroupRuntime, Outside: true,
		Arguments: map[string]string{"args": "extra"},
		Changes:   true, ChangesWhen: changes, RequiresApproval: true,
		PreValidate: g.preValidate, Unconfined: func() bool { return true },
	}, texts, g.run)
}

// git is the tool.
type git struct {
	config Config
	runner sandbox.Runner
}

// reading are the actions that change nothing.
var reading = []string{"status", "diff", "log"}

func changes(arguments json.RawMessage) bool {
	var args args
	return json.Unmarshal(arguments, &args) != nil || !slices.Contains(reading, args.Action)
}

// preValidate refuses what no approval makes right.
func (g *git) preValidate(c tools.Call, _ tools.Autonomy) *tools.Result {
	var args args
	err := json.Unmarshal(c.Arguments, &args)
	if err == nil {
		_, err = g.parse(args)
	}
	if err == nil {
		return nil
	}
	return failed(err)
}

// run runs git on the repository of the workspace.
func (g *git) run(ctx context.Context, c tools.Call, args args) tools.Result {
	call, err := g.parse(args)
	if err != nil {
		return *failed(err)
	}
	open, err := host.Alone(ctx, g.config.Gate)
	if err != nil {
		return *failed(err)
	}
	defer open()
	repo, err := g.open(ctx)
	if err == nil {
		err = repo.permits(call)
	}
	if err == nil {
		err = g.inside(repo, call, c.Decided)
	}
	if err == nil {
		err = g.gitlinks(ctx, repo, call)
	}
	if err != nil {
		return *failed(err)
	}
	putBack, err := keep.Files(repo.workspace, g.config.ReadOnly(c))
	if err != nil {
		return *failed(err)
	}
	out, err := g.command(ctx, repo, call, c.Decided)
	out.PutBack = putBack()
	if err != nil {
		return *failed(err)
	}
	return result(args.Action, out)
}

// inside refuses remotes that are folders when models run things in a sandbox,
// which cannot read them: a command there can write any folder into .git/config.
func (g *git) inside(repo *repository, c call, d tools.Decision) error {
	if d.Verdict != tools.Ask && g.config.Sandboxed() && strings.HasSuffix(repo.protocols(c), ":file") {
		return denied("the remote is a directory of this machine, which lies outside the sandbox; that needs a person's approval (tools.policy.ask: [git] asks for it)")
	}
	return nil
}
