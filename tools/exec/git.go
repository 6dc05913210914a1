package exec

import (
	"context"
	"embed"
	"encoding/json"
	"slices"
	"strings"

	"klawbot/tools"
	"klawbot/tools/sandbox"
)

//go:embed git.*.md
var gitTexts embed.FS

// GitConfig is what NewGit needs.
type GitConfig struct {
	// Workspace is the folder whose repository the tool works on. It may be
	// missing: every call looks again.
	Workspace string
	// Gate is closed while git runs, so that no command in a sandbox changes the
	// repository after it was looked at; nil: there is no sandbox.
	Gate *sandbox.Gate
	// Sandboxed says that what models run is in a sandbox: git then takes no
	// folder of the machine for a remote unless a person has agreed; nil: it is
	// not.
	Sandboxed func() bool
	// ReadOnly names files of the workspace that a call may not change; nil: none.
	ReadOnly func(tools.Call) []string
	// Confines says that the system can confine git where nobody is asked; nil:
	// sandbox.Confines.
	Confines func() bool
}

// gitArgs are the parameters of git.
type gitArgs struct {
	Action string `json:"action" enum:"status,diff,log,add,commit,branch,checkout,push,pull,fetch"`
	Extra  string `json:"extra,omitempty"`
}

// NewGit returns the tool git. It runs outside any sandbox, because it needs the
// owner's identity and credentials, and runs no program but git and ssh.
func NewGit(c GitConfig) tools.Tool {
	if c.ReadOnly == nil {
		c.ReadOnly = noneReadOnly
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
		Changes:   true, ChangesWhen: gitChanges, RequiresApproval: true,
		PreValidate: g.preValidate, Unconfined: func() bool { return true },
	}, gitTexts, g.run)
}

// git is the tool.
type git struct {
	config GitConfig
	runner sandbox.Runner
}

// gitReading are the actions that change nothing.
var gitReading = []string{"status", "diff", "log"}

func gitChanges(arguments json.RawMessage) bool {
	var args gitArgs
	return json.Unmarshal(arguments, &args) != nil || !slices.Contains(gitReading, args.Action)
}

// preValidate refuses what no approval makes right.
func (g *git) preValidate(c tools.Call, _ tools.Autonomy) *tools.Result {
	var args gitArgs
	err := json.Unmarshal(c.Arguments, &args)
	if err == nil {
		_, err = g.parse(args)
	}
	if err == nil {
		return nil
	}
	return gitFailed(err)
}

// run runs git on the repository of the workspace.
func (g *git) run(ctx context.Context, c tools.Call, args gitArgs) tools.Result {
	call, err := g.parse(args)
	if err != nil {
		return *gitFailed(err)
	}
	open, err := alone(ctx, g.config.Gate)
	if err != nil {
		return *gitFailed(err)
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
		return *gitFailed(err)
	}
	putBack, err := sandbox.Keep(repo.workspace, g.config.ReadOnly(c))
	if err != nil {
		return *gitFailed(err)
	}
	out, err := g.command(ctx, repo, call, c.Decided)
	out.PutBack = putBack()
	if err != nil {
		return *gitFailed(err)
	}
	return gitResult(args.Action, out)
}

// inside refuses remotes that are folders when models run things in a sandbox,
// which cannot read them: whoever writes .git/config there can name any.
func (g *git) inside(repo *gitRepository, c gitCall, d tools.Decision) error {
	if d.Verdict != tools.Ask && g.config.Sandboxed() && strings.HasSuffix(repo.protocols(c), ":file") {
		return gitDenied("the remote is a folder of this machine, which lies outside the sandbox; that needs a person's approval (tools.policy.ask: [git] asks for it)")
	}
	return nil
}
