package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"klawbot/tools"
	"klawbot/tools/exec/host"
	"klawbot/tools/sandbox"
)

// environment is what git sees besides the few variables that every command
// sees: no configuration of the system, no questions, no pager, no editor.
func environment(workspace string) []string {
	env := []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "PAGER=cat", "GIT_EDITOR=:",
		"GIT_SEQUENCE_EDITOR=:", "GIT_MERGE_AUTOEDIT=no", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_SSH_COMMAND=ssh -oBatchMode=yes",
		"GIT_SSH_VARIANT=ssh", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(workspace), "GIT_LFS_SKIP_SMUDGE=1", "LC_ALL=C.UTF-8",
	}
	// A global configuration is the owner's, unless it lies where tools write.
	home, err := os.UserHomeDir()
	if rest, e := filepath.Rel(workspace, home); err != nil || e == nil && filepath.IsLocal(rest) {
		env = append(env, "GIT_CONFIG_GLOBAL=/dev/null")
	}
	return env
}

// hardening are settings that stand above every file of the repository.
var hardening = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "core.askPass=", "core.attributesFile=/dev/null",
	"protocol.ext.allow=never", "protocol.fd.allow=never", "credential.interactive=false", "submodule.recurse=false",
	"diff.ignoreSubmodules=all", "status.submoduleSummary=false", "fetch.recurseSubmodules=false", "push.recurseSubmodules=no",
	"gc.auto=0", "maintenance.auto=false", "safe.bareRepository=explicit", "log.showSignature=false", "commit.gpgSign=false",
	"push.gpgSign=false", "http.followRedirects=false", "tag.gpgSign=false", "merge.verifySignatures=false", "advice.detachedHead=false",
}

// added are options that each action gets from us.
var added = map[string][]string{
	"status":   {"--ignore-submodules=all"},
	"diff":     {"--no-ext-diff", "--no-textconv", "--ignore-submodules=all"},
	"log":      {"--no-ext-diff", "--no-textconv", "--no-show-signature", "--ignore-submodules=all"},
	"commit":   {"--no-gpg-sign"},
	"checkout": {"--no-recurse-submodules"},
	"push":     {"--recurse-submodules=no", "--receive-pack=git-receive-pack", "--no-signed"},
	"pull":     {"--no-recurse-submodules", "--upload-pack=git-upload-pack", "--no-verify-signatures", "--no-gpg-sign"},
	"fetch":    {"--no-recurse-submodules", "--upload-pack=git-upload-pack"},
}

var errNoGit = errors.New("git cannot be run; install git")

// runGit runs git to its end.
func (g *git) runGit(ctx context.Context, c sandbox.Command) (sandbox.Outcome, error) {
	p, err := g.startGit(ctx, c)
	if err != nil {
		return sandbox.Outcome{}, err
	}
	return p.Outcome(), nil
}

// startGit starts git as the shell finds programs, and lets it find others: in no
// folder that the commands of models can write into.
func (g *git) startGit(ctx context.Context, c sandbox.Command) (*sandbox.Process, error) {
	folders := host.Folders(g.config.Workspace)
	found, err := host.Find(c.Argv[0], "", folders)
	if err != nil {
		return nil, errNoGit
	}
	c.Argv = append([]string{found}, c.Argv[1:]...)
	if c.Reach != nil {
		c.Reach.Programs[0].Read = append(c.Reach.Programs[0].Read, found)
	}
	c.Env = append(slices.Clone(c.Env), "PATH="+strings.Join(folders, ":"))
	p, err := g.runner.Start(ctx, c)
	if err != nil {
		return nil, errNoGit
	}
	return p, nil
}

// environment is what git sees on this repository.
func (r *repository) environment() []string {
	return append(environment(r.workspace), "GIT_DIR="+filepath.Join(r.workspace, ".git"), "GIT_WORK_TREE="+r.workspace)
}

// readingMemory bounds git without approval, in bytes: a regular expression for its log
// can take all memory.
const readingMemory = 512 << 20

// reach is what git reaches without approval: the workspace, not the owner's settings.
// It is nil where the system cannot confine.
func (g *git) reach(workspace string) *sandbox.Reach {
	if !g.config.Confines() {
		return nil
	}
	return &sandbox.Reach{Workspace: workspace, Programs: []sandbox.Grant{{Read: slices.Concat(host.UserFiles, host.Software)}}}
}

// command runs a call on a repository that permits it.
func (g *git) command(ctx context.Context, repo *repository, c call, d tools.Decision) (sandbox.Outcome, error) {
	env := append(repo.environment(), "GIT_ALLOW_PROTOCOL="+repo.protocols(c))
	var memory []uint64
	var reach *sandbox.Reach
	if slices.Contains(reading, c.action) {
		env = append(env, "GIT_OPTIONAL_LOCKS=0")
		memory = []uint64{readingMemory}
		if d.Verdict != tools.Ask {
			reach = g.reach(repo.workspace)
		}
	}
	if agent := os.Getenv("SSH_AUTH_SOCK"); c.network() && agent != "" {
		env = append(env, "SSH_AUTH_SOCK="+agent)
	}
	run := func(argv []string) (sandbox.Outcome, error) {
		return g.runGit(ctx, sandbox.Command{Argv: argv, Dir: repo.workspace, Env: env, MaxMemory: memory, Reach: reach})
	}
	settings := hardening
	if c.action == "commit" || c.action == "pull" {
		known, err := run([]string{"git", "config", "--get", "user.email"})
		if err != nil {
			return known, err
		}
		if known.ExitCode != 0 {
			settings = append(slices.Clone(settings), "user.name=klawbot", "user.email=klawbot@localhost")
		}
	}
	return run(c.argv(settings))
}

// argv is the whole command line of a call.
func (c call) argv(settings []string) []string {
	argv := []string{"git", "--no-pager"}
	for _, s := range settings {
		argv = append(argv, "-c", s)
	}
	argv = append(argv, c.action)
	argv = append(argv, added[c.action]...)
	argv = append(argv, c.options...)
	switch c.action {
	case "add": // all are paths
		return append(append(append(argv, "--"), c.operands...), c.paths...)
	case "commit":
		if paths := append(slices.Clone(c.operands), c.paths...); len(paths) > 0 {
			return append(append(argv, "--"), paths...)
		}
		return argv
	}
	argv = append(argv, c.operands...)
	if c.paths != nil {
		argv = append(append(argv, "--"), c.paths...)
	}
	return argv
}

// protocols are the transports that a call may use: files only when the remote
// that it names is a folder of the owner.
func (r *repository) protocols(c call) string {
	const net = "https:http:ssh"
	for name, urls := range r.urls {
		if !c.network() || c.remote() != "" && c.remote() != name {
			continue
		}
		for _, u := range urls {
			if _, is := folderOf(u); is {
				return net + ":file"
			}
		}
	}
	return net
}

// result puts what git wrote into a result.
func result(action string, out sandbox.Outcome) tools.Result {
	stdout, stderr := masked(out.Stdout.Text()), masked(out.Stderr.Text())
	text := strings.TrimRight(stdout, "\n")
	if stderr = strings.TrimSpace(stderr); stderr != "" {
		text = strings.TrimLeft(text+tools.Stderr+stderr, "\n")
	}
	text = strings.TrimLeft(text+strings.TrimRight("\n"+out.PutBackNotes(), "\n"), "\n")
	code := out.ExitCode
	r := tools.OK(text)
	switch {
	case out.TimedOut:
		r = tools.Fail(tools.Timeout, "git "+action+" did not finish in time; "+text)
	case code != 0 && !(action == "diff" && code == 1 && stderr == ""):
		r = tools.Fail(tools.Execution, fmt.Sprintf("git %s failed with exit code %d\n%s", action, code, text))
	case text == "":
		r.Output = quiet[action]
	}
	r.ExitCode, r.Source = &code, action
	return r
}

// quiet is the text of an action without output.
var quiet = map[string]string{
	"status": "(nothing to report)", "diff": "(no differences)", "log": "(no commits)", "add": "OK: added", "commit": "OK: committed",
	"branch": "OK", "checkout": "OK: checked out", "push": "OK: pushed", "pull": "OK: pulled", "fetch": "OK: fetched",
}
