package git_test

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"klawbot/internal/needs"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/exec/git"
	"klawbot/tools/sandbox"
)

// gitTry is a workspace with a repository and the tool on it.
type gitTry struct {
	t         *testing.T
	workspace string
	policy    tools.Policy
	readOnly  []string
	gate      sandbox.Gate
	sandboxed bool
	approver  tools.Approver
	executor  *tools.Executor
}

// newGit makes a repository with one commit. git sees no configuration of
// whoever runs the tests.
func newGit(t *testing.T) *gitTry {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	for _, name := range []string{"XDG_CONFIG_HOME", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_GLOBAL"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	g := gitTool(t)
	g.host("init", "-q", "-b", "main")
	g.write("a.txt", "one\n")
	g.host("add", ".")
	g.host("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "first")
	return g
}

// gitTool is the tool on an empty workspace: enough for what is decided by the
// words alone.
func gitTool(t *testing.T) *gitTry {
	t.Helper()
	g := &gitTry{t: t, workspace: t.TempDir(), policy: tools.Policy{Autonomy: tools.Full}}
	registry, err := tools.NewRegistry(git.New(git.Config{Workspace: g.workspace, Gate: &g.gate, Sandboxed: func() bool { return g.sandboxed }, ReadOnly: func(tools.Call) []string { return g.readOnly }}))
	if err != nil {
		t.Fatal(err)
	}
	g.executor = tools.NewExecutor(tools.ExecutorConfig{
		Registry: registry, Policy: func() tools.Policy { return g.policy }, Redact: &redact.Set{}, Log: slog.New(slog.DiscardHandler),
	})
	return g
}

// host runs git as a person at the machine does.
func (g *gitTry) host(args ...string) string {
	g.t.Helper()
	cmd := osexec.Command("git", args...)
	cmd.Dir = g.workspace
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return string(out)
}

func (g *gitTry) write(name, content string) {
	g.t.Helper()
	path := filepath.Join(g.workspace, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		g.t.Fatal(err)
	}
}

func (g *gitTry) call(action, extra string) tools.Call {
	g.t.Helper()
	args, err := json.Marshal(map[string]string{"action": action, "extra": extra})
	if err != nil {
		g.t.Fatal(err)
	}
	return tools.Call{ID: "c1", Name: "git", Arguments: args, Approver: g.approver}
}

func (g *gitTry) run(action, extra string) tools.Result {
	g.t.Helper()
	r, err := g.executor.Execute(g.t.Context(), g.call(action, extra), nil)
	if err != nil {
		g.t.Fatal(err)
	}
	return r
}

// ok runs a call that must succeed.
func (g *gitTry) ok(action, extra string) string {
	g.t.Helper()
	r := g.run(action, extra)
	if !r.Success {
		g.t.Fatalf("git %s %s: %s", action, extra, r.Error)
	}
	return r.Output
}

func (g *gitTry) verdict(action, extra string) tools.Decision {
	g.t.Helper()
	return g.executor.Check(g.call(action, extra))
}

type gitLine struct {
	ID, Action, Extra, Expect, Class, Why string
	Doubtful                              bool
	Setup, Env                            map[string]string
}

func TestGitCorpus(t *testing.T) {
	f, err := os.Open("testdata/git.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	n := 0
	for s.Scan() {
		var l gitLine
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		n++
		t.Run(l.ID, func(t *testing.T) { gitCase(t, l) })
	}
	if s.Err() != nil || n < 100 {
		t.Fatalf("%d lines, %v", n, s.Err())
	}
}

func gitCase(t *testing.T, l gitLine) {
	if l.Expect != "no_exec" {
		if wrong := gitTool(t).disagrees(l); wrong != "" && l.Doubtful {
			t.Logf("doubtful: git %s %.100s wants %s: %s", l.Action, l.Extra, l.Expect, wrong)
		} else if wrong != "" {
			t.Errorf("git %s %.100s wants %s (%s): %s", l.Action, l.Extra, l.Expect, l.Why, wrong)
		}
		return
	}
	g := newGit(t)
	for name, value := range l.Env {
		t.Setenv(name, value)
	}
	if _, bare := l.Setup["HEAD"]; bare {
		if err := os.RemoveAll(filepath.Join(g.workspace, ".git")); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range l.Setup {
		if plain, more := strings.CutSuffix(name, "+"); more {
			old, err := os.ReadFile(filepath.Join(g.workspace, plain))
			if err != nil {
				t.Fatal(err)
			}
			name, content = plain, string(old)+content
		}
		g.write(name, content)
	}
	g.run(l.Action, l.Extra)
	if found := g.find("PWNED"); found != "" {
		t.Errorf("git %s %s (%s) ran a program: %s", l.Action, l.Extra, l.Why, found)
	}
}

// disagrees says how the verdict on a line is another than it wants.
func (g *gitTry) disagrees(l gitLine) string {
	switch d := g.verdict(l.Action, l.Extra); {
	case l.Expect == "allow" && d.Verdict == tools.Deny:
		return d.Reason
	case l.Expect == "deny" && d.Verdict != tools.Deny:
		return string(d.Verdict)
	}
	return ""
}

// find is the path of a file with a name below the workspace.
func (g *gitTry) find(name string) (found string) {
	err := filepath.WalkDir(g.workspace, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Name() == name {
			found = path
		}
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return found
}

func TestGitScenarios(t *testing.T) {
	for _, c := range []struct {
		name, action, extra string
		autonomy            tools.Autonomy
		want                tools.Verdict
		reason              string
	}{
		{"force push long", "push", "--force origin main", tools.Full, tools.Deny, "Force push is blocked"},
		{"force push short", "push", "-f origin main", tools.Full, tools.Deny, "Force push is blocked"},
		{"force push cluster", "push", "-fu origin main", tools.Full, tools.Deny, "Force push is blocked"},
		{"force push cluster at the end", "push", "-uf origin main", tools.Full, tools.Deny, "Force push is blocked"},
		{"force push with lease", "push", "--force-with-lease=main origin main", tools.Full, tools.Deny, "Force push is blocked"},
		{"force push by refspec", "push", "origin +HEAD:main", tools.Full, tools.Deny, "Force push is blocked"},
		{"force push mirror", "push", "--mirror", tools.Full, tools.Deny, "Force push is blocked"},
		{"force checkout long", "checkout", "--force main", tools.Full, tools.Deny, "Force checkout is blocked"},
		{"force checkout short", "checkout", "main -f", tools.Full, tools.Deny, "Force checkout is blocked"},
		{"force checkout cluster", "checkout", "-qf", tools.Full, tools.Deny, "Force checkout is blocked"},
		{"normal push", "push", "origin main", tools.Full, tools.Allow, ""},
		{"push of a branch with -f in its name", "push", "origin my-feature", tools.Full, tools.Allow, ""},
		{"checkout of a branch with -f in its name", "checkout", "feature-f", tools.Full, tools.Allow, ""},
		{"new branch with -f in its name", "checkout", "-b new-feature", tools.Full, tools.Allow, ""},
		{"status unasked", "status", "", tools.Supervised, tools.Allow, ""},
		{"diff unasked", "diff", "", tools.Supervised, tools.Allow, ""},
		{"log unasked", "log", "", tools.Supervised, tools.Allow, ""},
		{"push asks", "push", "origin main", tools.Supervised, tools.Ask, ""},
		{"fetch asks", "fetch", "", tools.Supervised, tools.Ask, ""},
		{"commit asks", "commit", "-m x", tools.Supervised, tools.Ask, ""},
		{"commit when read-only", "commit", "-m x", tools.ReadOnly, tools.Deny, "Read-only mode"},
		{"status when read-only", "status", "", tools.ReadOnly, tools.Allow, ""},
		{"signatures are not verified", "log", "--format=%H%G?", tools.Full, tools.Deny, "%G verifies signatures"},
		{"signatures are not verified, the other way", "log", "--pretty=format:%-GK", tools.Full, tools.Deny, "%G verifies signatures"},
		{"force push when supervised is not asked about", "push", "-f", tools.Supervised, tools.Deny, "Force push is blocked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gitTool(t)
			g.policy.Autonomy = c.autonomy
			d := g.verdict(c.action, c.extra)
			if d.Verdict != c.want || !strings.Contains(d.Reason, c.reason) {
				t.Errorf("git %s %s: %+v, want %s %q", c.action, c.extra, d, c.want, c.reason)
			}
		})
	}
}

// TestGitWork goes through a day's work, with a remote that is a folder of the
// owner's.
func TestGitWork(t *testing.T) {
	g := newGit(t)
	remote := filepath.Join(t.TempDir(), "remote.git")
	g.host("init", "-q", "--bare", "-b", "main", remote)
	g.host("remote", "add", "origin", remote)

	g.write("docs/my file.md", "text\n")
	if out := g.ok("status", "--short"); !strings.Contains(out, "?? docs/") {
		t.Errorf("status: %q", out)
	}
	g.ok("add", `'docs/my file.md'`)
	if out := g.ok("diff", "--cached --stat"); !strings.Contains(out, "my file.md") {
		t.Errorf("diff: %q", out)
	}
	g.ok("commit", "-m 'feat: a file\n\nWith `id` $HOME in it.'")
	if out := g.ok("log", "-1 --format='%an <%ae>%n%B'"); !strings.Contains(out, "klawbot <klawbot@localhost>") || !strings.Contains(out, "With `id` $HOME in it.") {
		t.Errorf("log: %q", out)
	}
	g.ok("push", "-u origin main")
	g.ok("checkout", "-b feature-f")
	g.write("a.txt", "two\n")
	g.ok("commit", "-am 'second'")
	g.ok("push", "origin feature-f")
	if out := g.ok("branch", "-a"); !strings.Contains(out, "remotes/origin/main") || !strings.Contains(out, "* feature-f") {
		t.Errorf("branch: %q", out)
	}
	if out := g.ok("checkout", "-"); !strings.Contains(out, "main") {
		t.Errorf("checkout: %q", out)
	}

	other := filepath.Join(t.TempDir(), "other")
	g.host("clone", "-q", remote, other)
	g.host("-C", other, "-c", "user.name=O", "-c", "user.email=o@example.com", "commit", "-q", "--allow-empty", "-m", "of others")
	g.host("-C", other, "push", "-q", "origin", "main")
	g.ok("fetch", "--all --prune")
	g.ok("pull", "--ff-only")
	if out := g.ok("log", "--oneline -1"); !strings.Contains(out, "of others") {
		t.Errorf("after the pull: %q", out)
	}
	if r := g.run("push", "origin nothing-such"); r.Success || r.ErrorKind != tools.Execution || !strings.Contains(r.Error, "failed with exit code") {
		t.Errorf("a push of nothing: %+v", r)
	}
}

// TestGitReadsWithLittleMemory: nobody is asked about a log, so no regular expression
// may fill the memory of the machine. Without a bound these take more than 8 GB.
func TestGitReadsWithLittleMemory(t *testing.T) {
	g := newGit(t)
	for _, extra := range []string{"-Ga{1,30000}{1,30000}", "-E --grep=a{1,30000}{1,30000}"} {
		if r := g.run("log", extra); r.ErrorKind != tools.Execution || r.ExitCode == nil || *r.ExitCode != 128 {
			t.Errorf("%s: %+v", extra, r)
		}
	}
}

func TestGitUsesTheConfiguredIdentity(t *testing.T) {
	g := newGit(t)
	g.host("config", "user.name", "Ann")
	g.host("config", "user.email", "ann@example.com")
	g.write("a.txt", "two\n")
	g.ok("commit", "-am x")
	if out := g.ok("log", "-1 --format=%ae"); !strings.Contains(out, "ann@example.com") {
		t.Errorf("the author is %q", out)
	}
}

// TestGitRunsNothingOfTheRepository plants a program at every place where git
// would look for one.
func TestGitRunsNothingOfTheRepository(t *testing.T) {
	const run = "touch PWNED #"
	configs := map[string]string{
		"fsmonitor":    "[core]\n\tfsmonitor = " + run,
		"pager":        "[core]\n\tpager = " + run,
		"editor":       "[core]\n\teditor = " + run,
		"ssh":          "[core]\n\tsshCommand = " + run + "\n[remote \"origin\"]\n\turl = ssh://h.example/x",
		"hooks":        "[core]\n\thooksPath = hooks",
		"worktree":     "[core]\n\tworktree = /",
		"gitproxy":     "[core]\n\tgitProxy = " + run,
		"attributes":   "[core]\n\tattributesFile = attr",
		"filter":       "[filter \"x\"]\n\tclean = " + run + "\n\tsmudge = " + run,
		"process":      "[filter \"x\"]\n\tprocess = " + run,
		"diff":         "[diff]\n\texternal = " + run,
		"diff driver":  "[diff \"x\"]\n\tcommand = " + run,
		"textconv":     "[diff \"x\"]\n\ttextconv = " + run,
		"merge driver": "[merge \"x\"]\n\tdriver = " + run,
		"alias":        "[alias]\n\tstatus = !" + run,
		"credential":   "[credential]\n\thelper = !" + run,
		"include":      "[include]\n\tpath = ../inc",
		"includeIf":    "[includeIf \"gitdir:**\"]\n\tpath = ../inc",
		"insteadOf":    "[url \"ext::sh -c touch% PWNED\"]\n\tinsteadOf = https://",
		"gpg":          "[gpg]\n\tprogram = " + run + "\n[commit]\n\tgpgSign = true",
		"uploadpack":   "[remote \"origin\"]\n\turl = https://h.example/x\n\tuploadpack = " + run,
		"receivepack":  "[remote \"origin\"]\n\turl = https://h.example/x\n\treceivepack = " + run,
		"vcs":          "[remote \"origin\"]\n\tvcs = x",
		"proxy":        "[http]\n\tproxy = http://127.0.0.1:1",
		"trailer":      "[trailer \"x\"]\n\tcommand = " + run,
		"sequence":     "[sequence]\n\teditor = " + run,
		"extension":    "[extensions]\n\tworktreeConfig = true",
		"partial":      "[extensions]\n\tpartialClone = origin",
		"protocol":     "[protocol \"ext\"]\n\tallow = always",
		"ext remote":   "[remote \"origin\"]\n\turl = ext::sh -c touch% PWNED",
		"broken":       "[core\n",
		"gc hook":      "[gc]\n\trecentObjectsHook = " + run,
		"upper case":   "[CORE]\n\tFSMonitor = " + run,
	}
	for name, config := range configs {
		t.Run(name, func(t *testing.T) {
			g := newGit(t)
			g.write(".gitattributes", "* filter=x diff=x merge=x\n")
			g.write("attr", "* filter=x\n")
			g.write("inc", "[core]\n\tfsmonitor = "+run+"\n")
			g.write("hooks/pre-commit", "#!/bin/sh\ntouch PWNED\n")
			g.write("a.txt", "changed\n")
			old, err := os.ReadFile(filepath.Join(g.workspace, ".git/config"))
			if err != nil {
				t.Fatal(err)
			}
			g.write(".git/config", string(old)+config+"\n")
			for _, call := range [][2]string{{"status", ""}, {"diff", ""}, {"log", "-p -1"}, {"add", "."}, {"commit", "-am x"}, {"checkout", "-b y"}, {"fetch", ""}, {"pull", ""}, {"push", "origin main"}} {
				if r := g.run(call[0], call[1]); r.Success && name != "ext remote" {
					t.Errorf("git %s worked with %s", call[0], config)
				}
			}
			if found := g.find("PWNED"); found != "" {
				t.Errorf("a program ran: %s", found)
			}
		})
	}
}

// TestGitRunsNoHooks: hooks lie in the repository, where its configuration need
// not name them.
func TestGitRunsNoHooks(t *testing.T) {
	g := newGit(t)
	for _, name := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "post-index-change", "reference-transaction"} {
		g.write(".git/hooks/"+name, "#!/bin/sh\ntouch "+g.workspace+"/PWNED\n")
	}
	g.write("a.txt", "changed\n")
	for _, call := range [][2]string{{"status", ""}, {"add", "a.txt"}, {"commit", "-m x"}, {"checkout", "-b y"}, {"branch", "z"}} {
		g.ok(call[0], call[1])
	}
	if found := g.find("PWNED"); found != "" {
		t.Error("a hook ran")
	}
}

func TestGitRefusesItsOwnFiles(t *testing.T) {
	g := newGit(t)
	for _, call := range [][2]string{
		{"add", ".git/config"}, {"add", "-- .git/config"}, {"checkout", "-- .GIT/config"}, {"log", "-- x/.git/HEAD"}, {"diff", "'.git /config'"},
	} {
		if r := g.run(call[0], call[1]); r.ErrorKind != tools.Security || !strings.Contains(r.Error, "the repository's own files") {
			t.Errorf("git %s %s: %+v", call[0], call[1], r)
		}
	}
}

func TestGitTransports(t *testing.T) {
	g := gitTool(t)
	for _, remote := range []string{
		"git://example.com/x.git", "ftp://example.com/x.git", "file:///srv/x.git", "ext::sh", "fd::7", "'ext::sh -c touch% x://h'", "rsync://example.com/x", "ssh+x://example.com/x",
	} {
		if d := g.verdict("fetch", remote+" main"); d.Verdict != tools.Deny {
			t.Errorf("fetch from %s: %+v", remote, d)
		}
	}
	for _, remote := range []string{"https://example.com/x.git", "ssh://git@example.com/x.git", "git@example.com:x.git"} {
		if d := g.verdict("fetch", remote+" main"); d.Verdict == tools.Deny {
			t.Errorf("fetch from %s: %+v", remote, d)
		}
	}
}

// TestGitKeepsToItsRepository refuses repositories that reach elsewhere.
func TestGitKeepsToItsRepository(t *testing.T) {
	for name, prepare := range map[string]func(g *gitTry){
		"a file that points elsewhere": func(g *gitTry) {
			g.host("clone", "-q", "--bare", ".", "real")
			if err := os.RemoveAll(filepath.Join(g.workspace, ".git")); err != nil {
				g.t.Fatal(err)
			}
			g.write(".git", "gitdir: real\n")
		},
		"a link": func(g *gitTry) {
			real := filepath.Join(g.t.TempDir(), "real")
			if err := os.Rename(filepath.Join(g.workspace, ".git"), real); err != nil {
				g.t.Fatal(err)
			}
			if err := os.Symlink(real, filepath.Join(g.workspace, ".git")); err != nil {
				g.t.Fatal(err)
			}
		},
		"a link to a whole one nearby": func(g *gitTry) {
			if err := os.Rename(filepath.Join(g.workspace, ".git"), filepath.Join(g.workspace, "real")); err != nil {
				g.t.Fatal(err)
			}
			if err := os.Symlink("real", filepath.Join(g.workspace, ".git")); err != nil {
				g.t.Fatal(err)
			}
		},
		"alternates": func(g *gitTry) { g.write(".git/objects/info/alternates", "/srv/objects\n") },
		"commondir":  func(g *gitTry) { g.write(".git/commondir", "../x\n") },
		"no repository": func(g *gitTry) {
			if err := os.RemoveAll(filepath.Join(g.workspace, ".git")); err != nil {
				g.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGit(t)
			prepare(g)
			if r := g.run("status", ""); r.Success {
				t.Errorf("git worked: %s", r.Output)
			}
		})
	}
}

func TestGitRemotesInTheWorkspaceAreRefused(t *testing.T) {
	g := newGit(t)
	g.host("init", "-q", "--bare", "remote.git")
	g.write("remote.git/hooks/post-receive", "#!/bin/sh\ntouch "+g.workspace+"/PWNED\n")
	g.host("remote", "add", "origin", filepath.Join(g.workspace, "remote.git"))
	g.host("remote", "add", "near", "./remote.git")
	for _, name := range []string{"origin", "near"} {
		if r := g.run("push", name+" main"); r.Success || r.ErrorKind != tools.Security {
			t.Errorf("push to %s: %+v", name, r)
		}
	}
	if found := g.find("PWNED"); found != "" {
		t.Error("the hook of the remote ran")
	}
}

// TestGitRefusesForcedPushOfTheConfiguration: a push without a branch does what
// the configuration says.
func TestGitRefusesForcedPushOfTheConfiguration(t *testing.T) {
	g := newGit(t)
	remote := filepath.Join(t.TempDir(), "remote.git")
	g.host("init", "-q", "--bare", remote)
	g.host("remote", "add", "origin", remote)
	g.host("push", "-q", "origin", "main", "main:keep")
	was := g.host("ls-remote", remote)
	g.host("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "--amend", "-m", "another")
	for _, refspec := range []string{"+main", "+refs/heads/*:refs/heads/*", ":keep", ":refs/heads/main"} {
		g.host("config", "remote.origin.push", refspec)
		for _, extra := range []string{"", "origin"} {
			if r := g.run("push", extra); r.Success || r.ErrorKind != tools.Security {
				t.Errorf("push %s with %s: %+v", extra, refspec, r)
			}
		}
	}
	if now := g.host("ls-remote", remote); now != was {
		t.Errorf("the remote was\n%s and is\n%s", was, now)
	}
	g.host("config", "remote.origin.push", "refs/heads/main:refs/heads/other")
	g.ok("push", "origin")
}

// TestGitChecksDefaultRemotes: branches, a setting and old files name remotes, too.
func TestGitChecksDefaultRemotes(t *testing.T) {
	g := newGit(t)
	outside := filepath.Join(t.TempDir(), "remote.git")
	near := filepath.Join(g.workspace, "near.git")
	for _, remote := range []string{outside, near} {
		g.host("init", "-q", "--bare", remote)
	}
	for _, hooks := range []string{"near.git/hooks/", ".git/hooks/"} {
		for _, hook := range []string{"pre-receive", "post-receive", "update"} {
			g.write(hooks+hook, "#!/bin/sh\ntouch "+g.workspace+"/PWNED\n")
		}
	}
	g.host("remote", "add", "backup", outside) // git may use folders from here on
	g.host("config", "push.default", "current")
	refused := func(what string) {
		t.Helper()
		for _, action := range []string{"push", "fetch", "pull"} {
			if r := g.run(action, ""); r.Success || r.ErrorKind != tools.Security {
				t.Errorf("git %s with %s: %+v", action, what, r)
			}
		}
	}
	for _, key := range []string{"branch.main.remote", "branch.main.pushRemote", "remote.pushDefault"} {
		for _, to := range []string{near, "./near.git", "near.git", "file://" + near, "https://127.0.0.1:9/x.git", "ext::sh -c x"} {
			g.host("config", key, to)
			refused(key + " " + to)
		}
		g.host("config", key, ".")
		if r := g.run("push", ""); r.Success || r.ErrorKind != tools.Security {
			t.Errorf("git push with %s .: %+v", key, r)
		}
		g.host("config", "--unset", key)
	}
	for _, name := range []string{"remotes/origin", "branches/origin"} {
		g.write(".git/"+name, near+"\n")
		refused(name)
		if err := os.Remove(filepath.Join(g.workspace, ".git", name)); err != nil {
			t.Fatal(err)
		}
	}
	if found := g.find("PWNED"); found != "" {
		t.Error("a hook of a repository in the workspace ran")
	}
	g.host("config", "branch.main.remote", "backup")
	g.ok("push", "")
}

// TestGitLeavesTheSandboxOnlyWithApproval: what cannot be read there is not to be
// fetched from there.
func TestGitLeavesTheSandboxOnlyWithApproval(t *testing.T) {
	g := newGit(t)
	remote := filepath.Join(t.TempDir(), "private.git")
	g.host("clone", "-q", "--bare", ".", remote)
	g.host("remote", "add", "origin", remote)
	g.sandboxed = true
	for _, call := range [][2]string{{"fetch", "origin"}, {"fetch", ""}, {"pull", "origin main"}, {"push", "origin main"}} {
		if r := g.run(call[0], call[1]); r.Success || r.ErrorKind != tools.Security {
			t.Errorf("git %s: %+v", call[0], r)
		}
	}
	g.policy.Autonomy = tools.Supervised
	call := g.call("fetch", "origin")
	call.Approver = sly{func() {}}
	r, err := g.executor.Execute(t.Context(), call, nil)
	if err != nil || !r.Success {
		t.Errorf("a person agreed: %+v, %v", r, err)
	}
	g.policy.Autonomy, g.sandboxed = tools.Full, false
	g.ok("fetch", "origin")
}

func TestGitPrintsNoCredentials(t *testing.T) {
	g := newGit(t)
	g.host("remote", "add", "origin", "https://ann:s3cr3t@git.invalid/x.git")
	for _, call := range [][2]string{{"fetch", "origin"}, {"push", "origin main"}, {"branch", "-vv"}} {
		if r := g.run(call[0], call[1]); strings.Contains(r.Output+r.Error, "s3cr3t") {
			t.Errorf("git %s prints the password: %s", call[0], r.Output)
		}
	}
	g.host("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m", "pushed to https://t0ken@git.invalid/x.git")
	if log := g.ok("log", "-1"); strings.Contains(log, "t0ken") || !strings.Contains(log, "https://***@git.invalid/x.git") {
		t.Errorf("git log prints the token: %s", log)
	}
}

func TestGitIgnoresTheEnvironment(t *testing.T) {
	g := newGit(t)
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_0", "touch PWNED #")
	t.Setenv("GIT_EXTERNAL_DIFF", "touch PWNED #")
	g.write("a.txt", "changed\n")
	g.ok("status", "")
	g.ok("diff", "")
	if found := g.find("PWNED"); found != "" {
		t.Error("the environment ran a program")
	}
}

// TestGitIsNotFoundInTheWorkspace: whatever the bot's PATH says.
func TestGitIsNotFoundInTheWorkspace(t *testing.T) {
	g := newGit(t)
	for _, name := range []string{"git", "ssh", "git-remote-https"} {
		g.write("bin/"+name, "#!/bin/sh\ntouch "+g.workspace+"/PWNED\n")
	}
	g.host("remote", "add", "origin", "ssh://git.invalid/x.git")
	path := os.Getenv("PATH")
	t.Setenv("PATH", filepath.Join(g.workspace, "bin")+":"+path)
	g.ok("status", "")
	g.run("fetch", "origin")
	t.Setenv("PATH", filepath.Join(g.workspace, "bin"))
	g.run("status", "")
	if found := g.find("PWNED"); found != "" {
		t.Error("a program of the workspace ran")
	}
}

func TestGitSubmodulesAreReadOnly(t *testing.T) {
	g := newGit(t)
	sub := filepath.Join(g.workspace, "sub")
	g.host("init", "-q", sub)
	g.host("-C", sub, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m", "x")
	g.write(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n")
	g.host("add", ".")
	g.host("-C", sub, "config", "core.fsmonitor", "touch "+g.workspace+"/PWNED #")
	g.ok("status", "")
	g.ok("diff", "")
	for _, call := range [][2]string{{"add", "."}, {"commit", "-am x"}, {"checkout", "-b y"}, {"branch", "z"}, {"pull", ""}} {
		if r := g.run(call[0], call[1]); r.Success {
			t.Errorf("git %s worked", call[0])
		}
	}
	if found := g.find("PWNED"); found != "" {
		t.Error("the configuration of the submodule ran a program")
	}
}

// TestGitRefusesNestedRepositories: git looks into repositories that are
// part of its own, which needs no .gitmodules, and does what they say.
func TestGitRefusesNestedRepositories(t *testing.T) {
	g := newGit(t)
	sub := filepath.Join(g.workspace, "sub")
	g.host("init", "-q", sub)
	g.write("sub/s", "one")
	g.write("sub/.gitattributes", "s filter=x\n")
	g.host("-C", sub, "add", ".")
	g.host("-C", sub, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "x")
	g.host("-C", sub, "config", "filter.x.clean", "touch "+g.workspace+"/PWNED; cat")
	g.host("-C", sub, "config", "core.fsmonitor", "touch "+g.workspace+"/PWNED #")
	head := strings.TrimSpace(g.host("-C", sub, "rev-parse", "HEAD"))
	changing := [][2]string{{"add", "-u"}, {"add", "-A"}, {"add", "."}, {"add", "sub"}, {"add", "a.txt"}, {"commit", "-am x"}, {"commit", "-m x"}, {"checkout", "-b y"}, {"checkout", "-- ."}, {"pull", ""}}
	try := func(what string, calls [][2]string, works bool) {
		t.Helper()
		for _, call := range calls {
			g.write("sub/s", "two") // so that git wants to know what it is now
			if r := g.run(call[0], call[1]); r.Success != works {
				t.Errorf("%s: git %s %s: %+v", what, call[0], call[1], r)
			}
			if found := g.find("PWNED"); found != "" {
				t.Fatalf("%s: git %s %s ran a program of the repository within", what, call[0], call[1])
			}
		}
	}
	looking := [][2]string{{"status", ""}, {"diff", ""}, {"diff", "HEAD"}, {"diff", "--cached"}, {"log", "-p"}}
	try("beside", append(looking, [2]string{"add", "sub"}), true)
	g.host("update-index", "--force-remove", "sub")
	g.host("update-index", "--add", "--cacheinfo", "160000,"+head+",sub")
	try("in the index", looking, true)
	try("in the index", changing, false)
	g.host("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "with it")
	g.host("branch", "with")
	try("committed", looking, true)
	try("committed", changing, false)
	g.host("update-index", "--force-remove", "sub")
	g.host("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "without it")
	try("in another branch", append(looking, [2]string{"checkout", "with"}), true)
}

// TestGitWritesThroughNoLink: git writes a commit's message and its log into
// files of the repository, wherever these lead.
func TestGitWritesThroughNoLink(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	for name, put := range map[string]func(path string) error{
		"COMMIT_EDITMSG": func(path string) error { return os.Symlink(outside, path) },
		"logs/HEAD":      func(path string) error { return os.Symlink(outside, path) },
		"logs":           func(path string) error { return os.Symlink(filepath.Dir(outside), path) },
		"objects/ab":     func(path string) error { return os.Symlink(filepath.Dir(outside), path) },
		"index":          func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGit(t)
			g.write("a.txt", "two\n")
			path := filepath.Join(g.workspace, ".git", name)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			for _, call := range [][2]string{{"commit", "-am evil"}, {"add", "."}, {"checkout", "-b y"}, {"status", ""}} {
				if r := g.run(call[0], call[1]); r.Success || r.ErrorKind != tools.Security || !strings.Contains(r.Error, ".git/"+name+" is a link or no file") {
					t.Errorf("git %s: %+v", call[0], r)
				}
			}
			if all, err := os.ReadDir(filepath.Dir(outside)); err != nil || len(all) > 0 {
				t.Errorf("git wrote %v outside, %v", all, err)
			}
		})
	}
	g := newGit(t)
	if err := os.Symlink("../../a.txt", filepath.Join(g.workspace, ".git/hooks/pre-commit")); err != nil {
		t.Fatal(err)
	}
	g.ok("status", "") // no hook runs, so its link leads nowhere
}

// TestGitWaitsForTheSandbox: a command there could change the repository between
// the check it and what git does.
func TestGitWaitsForTheSandbox(t *testing.T) {
	needs.Sandbox(t, sandbox.TypeLandlock)
	g := newGit(t)
	box, err := sandbox.New(sandbox.Config{Type: sandbox.TypeLandlock, Workspace: g.workspace, Gate: &g.gate})
	if err != nil {
		t.Fatal(err)
	}
	p, err := box.Start(t.Context(), sandbox.Command{
		Argv: []string{"sh", "-c", `cp .git/config was; printf '[filter "x"]\n\tclean = touch PWNED\n' >>.git/config; echo ready; sleep 0.5; mv was .git/config; touch ended`}, Dir: g.workspace,
	})
	if err != nil {
		t.Fatal(err)
	}
	for out, _ := p.Output(); out.Total == 0; out, _ = p.Output() {
		runtime.Gosched()
	}
	g.ok("status", "")
	if found := g.find("ended"); found == "" {
		t.Error("git ran beside a command in the sandbox")
	}
	if out := p.Outcome(); out.ExitCode != 0 {
		t.Errorf("%+v %s", out, out.Stderr.String())
	}
}

// FuzzGitWords asks that no text gets an option to git that is not in the table,
// nor a path that leads out of the workspace.
func FuzzGitWords(f *testing.F) {
	for _, extra := range []string{"", "--force", "-- -x", `"a\"b" 'c d' \-f`, "-uf", "-am x", "origin +main", "--format=%G", "../x", "-n10 -S'x'"} {
		f.Add("log", extra)
		f.Add("push", extra)
	}
	tool := git.New(git.Config{Workspace: f.TempDir()})
	f.Fuzz(func(t *testing.T, action, extra string) {
		args, err := json.Marshal(map[string]string{"action": action, "extra": extra})
		if err != nil {
			t.Fatal(err)
		}
		r := tool.Spec().PreValidate(tools.Call{Arguments: args}, tools.Full)
		if r != nil {
			if r.Success || r.Error == "" || r.ErrorKind == "" {
				t.Errorf("git %s %q is refused without a word: %+v", action, extra, r)
			}
			return
		}
		for _, bad := range []string{"--force", "--upload-pack", "--receive-pack", "--exec", "--output", "--no-index", "ext::", "--mirror"} {
			if strings.HasPrefix(extra, bad) {
				t.Errorf("git %s %q is not refused", action, extra)
			}
		}
	})
}

// TestGitKeepsReadOnlyFiles: a branch may hold another version of a file that a
// run may not change.
func TestGitKeepsReadOnlyFiles(t *testing.T) {
	g := newGit(t)
	g.host("checkout", "-q", "-b", "plan")
	g.write("HEARTBEAT.md", "planned")
	g.write("b.txt", "two")
	g.host("add", ".")
	g.host("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "planned")
	g.host("checkout", "-q", "main")
	g.readOnly = []string{"HEARTBEAT.md"}
	const note = "HEARTBEAT.md may not be changed here and is as it was; what was written is in HEARTBEAT.md.refused"
	if out := g.ok("checkout", "plan"); !strings.Contains(out, note) {
		t.Errorf("it says %q", out)
	}
	if _, err := os.Stat(filepath.Join(g.workspace, "HEARTBEAT.md")); !os.IsNotExist(err) {
		t.Errorf("the file was made: %v", err)
	}
	if _, err := os.Stat(filepath.Join(g.workspace, "b.txt")); err != nil {
		t.Error(err)
	}
	g.readOnly = nil
	if out := g.ok("checkout", "HEARTBEAT.md"); strings.Contains(out, note) {
		t.Errorf("it says %q", out)
	}
	if text, err := os.ReadFile(filepath.Join(g.workspace, "HEARTBEAT.md")); string(text) != "planned" {
		t.Errorf("%q, %v", text, err)
	}
	g.readOnly = []string{"HEARTBEAT.md"}
	g.ok("checkout", "main")
	if text, err := os.ReadFile(filepath.Join(g.workspace, "HEARTBEAT.md")); string(text) != "planned" {
		t.Errorf("it was taken away: %q, %v", text, err)
	}
}

// TestReadingGitIsConfined: nobody is asked about it, so it reads no object that lies
// outside, wherever a link leads, and no settings of the owner.
func TestReadingGitIsConfined(t *testing.T) {
	g := newGit(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.ok("status", "")
	g.ok("log", "-p -n 1")
	loose, err := filepath.Glob(filepath.Join(g.workspace, ".git/objects/??/*"))
	if err != nil || len(loose) == 0 {
		t.Fatalf("no objects: %v", err)
	}
	away := t.TempDir()
	for _, object := range loose {
		there := filepath.Join(away, filepath.Base(object))
		if err := os.Rename(object, there); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(there, object); err != nil {
			t.Fatal(err)
		}
	}
	if r := g.run("log", "-p -n 1"); r.Success {
		t.Errorf("%+v", r)
	}
	g.policy.Everyone.Ask = []string{"git"}
	g.approver = yes{}
	if err := os.Remove(filepath.Join(home, ".gitconfig")); err != nil {
		t.Fatal(err)
	}
	g.ok("log", "-p -n 1") // a person has agreed
}

// sly agrees and changes something at the same moment.
type sly struct{ change func() }

func (s sly) Approve(context.Context, tools.ApprovalRequest) (tools.Answer, error) {
	s.change()
	return tools.Answer{Granted: true}, nil
}

// yes agrees to everything.
type yes struct{}

func (yes) Approve(context.Context, tools.ApprovalRequest) (tools.Answer, error) {
	return tools.Answer{Granted: true}, nil
}
