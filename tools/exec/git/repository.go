package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"klawbot/tools"
	"klawbot/tools/sandbox"
)

// repository is the repository of the workspace, whose configuration was
// found to run nothing.
type repository struct {
	workspace string
	// urls are the addresses of the remotes by name, fetching and pushing.
	urls map[string][]string
	// usual are what branches and pushes go to when a call names no remote: names
	// of remotes, addresses or folders.
	usual []string
	// submodules says that it has some.
	submodules bool
}

// open checks the repository of the workspace before git opens it: its files can make
// git run programs.
func (g *git) open(ctx context.Context) (*repository, error) {
	workspace := g.config.Workspace
	if _, err := os.Stat(workspace); workspace == "" || err != nil {
		return nil, &tools.Refusal{Kind: tools.NotFound, Text: "No workspace set"}
	}
	workspace, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := checkFiles(root); err != nil {
		return nil, err
	}
	repo := &repository{workspace: workspace, urls: map[string][]string{}}
	if _, err := root.Lstat(".gitmodules"); err == nil {
		repo.submodules = true
	}
	return repo, g.read(ctx, repo)
}

// checkFiles refuses repositories that lie elsewhere or reach elsewhere.
func checkFiles(root *os.Root) error {
	info, err := root.Lstat(".git")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &tools.Refusal{Kind: tools.NotFound, Text: "the workspace is no git repository; an owner can make it one with git init"}
	case err != nil:
		return err
	case !info.IsDir():
		return denied("the .git of the workspace is a link or a file that points elsewhere; this tool works only on a repository that lies in the workspace")
	}
	for _, name := range []string{"HEAD", "config"} {
		if info, err := root.Lstat(".git/" + name); err != nil || !info.Mode().IsRegular() {
			return denied(".git/" + name + " is missing or a link; the repository is damaged")
		}
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := root.Lstat(".git/" + name); err != nil || !info.IsDir() {
			return denied(".git/" + name + " is missing or a link; the repository is damaged")
		}
	}
	for _, name := range []string{"commondir", "gitdir", "objects/info/alternates", "objects/info/http-alternates"} {
		if _, err := root.Lstat(".git/" + name); err == nil {
			return denied("the repository takes parts from elsewhere (.git/" + name + "); this tool works only on a whole one")
		}
	}
	return checkLinks(root)
}

// unwalked are the folders of a repository in whose files git writes through
// no link, or that it does not check here.
var unwalked = regexp.MustCompile(`^(hooks|modules|objects/[^/]+)$`)

// maxFiles bounds how many files of a repository are checked.
const maxFiles = 200_000

// checkLinks refuses links and special files in a repository: git would write a
// commit's message or its log to where they lead, and wait for a pipe.
func checkLinks(root *os.Root) error {
	dir, err := root.OpenRoot(".git")
	if err != nil {
		return err
	}
	defer dir.Close()
	count := 0
	return fs.WalkDir(dir.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		switch count++; {
		case err != nil:
			return err
		case count > maxFiles:
			return denied("the repository has too many files of its own; an owner can run git gc")
		case d.IsDir() && unwalked.MatchString(at):
			return fs.SkipDir
		case strings.HasPrefix(at, "remotes/") || strings.HasPrefix(at, "branches/"):
			return denied(quote(".git/"+at) + " names a remote in an old way, which git follows unseen; an owner can name it with git remote add")
		case !d.IsDir() && !d.Type().IsRegular():
			return denied(quote(".git/"+at) + " is a link or no file, and git would write to where it leads; an owner has to take it away")
		}
		return nil
	})
}

// gitlinks refuses changes when another repository is part of this one, with or
// without .gitmodules: git starts itself in there, and follows what its
// configuration says.
func (g *git) gitlinks(ctx context.Context, repo *repository, c call) error {
	if !slices.Contains([]string{"add", "commit", "checkout", "pull"}, c.action) {
		return nil
	}
	argv := []string{"git", "--no-pager", "-c", "core.fsmonitor=false", "ls-files", "--stage", "-z"}
	p, err := g.startGit(ctx, sandbox.Command{Argv: argv, Dir: repo.workspace, Env: repo.environment(), Timeout: 20 * time.Second, Piped: true})
	if err != nil {
		return err
	}
	p.Stdin.Close()
	found := gitlink(p.Stdout)
	p.Stdout.Close()
	if found != "" {
		p.Kill()
	}
	switch out := p.Outcome(); {
	case found != "":
		return denied(quote(found) + " is a repository of its own that is part of this one, and git would follow its configuration; an owner can take it out with git rm --cached")
	case out.ExitCode != 0:
		return denied("the index of the repository cannot be read: " + quote(strings.TrimSpace(out.Stderr.String())))
	}
	return nil
}

// gitlink is the path of the first entry of an index that is a repository, "" for
// none.
func gitlink(index io.Reader) string {
	r := bufio.NewReader(index)
	for {
		entry, err := r.ReadString(0)
		if rest, is := strings.CutPrefix(entry, "160000 "); is {
			_, path, _ := strings.Cut(strings.TrimSuffix(rest, "\x00"), "\t")
			return path
		}
		if err != nil {
			return ""
		}
	}
}

// read reads the configuration of the repository with git's own parser, which
// alone knows what git will see, and refuses all keys that are not known to be
// harmless.
func (g *git) read(ctx context.Context, repo *repository) error {
	out, err := g.runGit(ctx, sandbox.Command{
		Argv: []string{"git", "config", "--file", filepath.Join(repo.workspace, ".git", "config"), "--no-includes", "--null", "--list"},
		Dir:  repo.workspace, Timeout: 10 * time.Second, HeadOnly: true, Reach: g.reach(repo.workspace),
		Env: append(environment(repo.workspace), "GIT_DIR=/dev/null"),
	})
	if err != nil {
		return err
	}
	list := out.Stdout.String()
	if out.ExitCode != 0 || out.Stdout.Omitted() > 0 {
		return denied("the configuration of the repository cannot be read: " + quote(strings.TrimSpace(out.Stderr.String())))
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if err := repo.take(key, value); err != nil {
			return err
		}
	}
	return nil
}

// safeKeys are the keys of a repository's configuration that run nothing and
// reach nothing outside. The names of remotes and branches are taken out of them.
var safeKeys = regexp.MustCompile(`^(` + strings.Join([]string{
	`core\.(repositoryformatversion|filemode|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev` +
		`|compression|loosecompression|bigfilethreshold|longpaths|sharedrepository|protecthfs|protectntfs|untrackedcache|preloadindex|commitgraph` +
		`|multipackindex|whitespace|checkstat|trustctime|hidedotfiles|fscache|deltabasecachelimit|packedgitlimit|packedgitwindowsize|splitindex|commentchar)`,
	`remote\.(url|pushurl|fetch|push|prune|prunetags|tagopt|skipdefaultupdate|skipfetchall|followremotehead)`, `remote\.pushdefault`,
	`branch\.(remote|pushremote|merge|rebase|description|autosetupmerge|autosetuprebase|sort|vscode-merge-base|gh-merge-base)`,
	`user\.(name|email|useconfigonly)`, `author\.(name|email)`, `committer\.(name|email)`, `init\.defaultbranch`,
	`pull\.(rebase|ff)`, `push\.(default|autosetupremote|followtags|useforceifincludes)`, `fetch\.(prune|prunetags|parallel|writecommitgraph|output)`,
	`merge\.(ff|conflictstyle|renames|renamelimit|stat|autostash|directoryrenames|log)`, `rebase\.(autostash|autosquash|stat|updaterefs)`,
	`diff\.(algorithm|renames|renamelimit|mnemonicprefix|noprefix|context|colormoved|colormovedws|interhunkcontext|indentheuristic)`,
	`color\..+`, `log\.(date|decorate|follow|abbrevcommit)`, `status\.(short|branch|showuntrackedfiles|relativepaths|aheadbehind|renames)`,
	`commit\.(gpgsign|verbose|cleanup|status)`, `tag\.(sort|gpgsign)`, `advice\..+`,
	`gc\.(aggressive(depth|window)|auto|autodetach|autopacklimit|bigpackthreshold|cruftpacks|logexpiry|packrefs|(worktree)?pruneexpire|reflogexpire` +
		`|reflogexpireunreachable|rerereresolved|rerereunresolved|writecommitgraph)`, `pack\.(window|depth|threads|windowmemory|writebitmaps)`,
	`index\.(version|threads|sparse)`, `feature\.(manyfiles)`, `extensions\.objectformat`, `rerere\.(enabled|autoupdate)`, `column\.[a-z]+`,
	`help\.(autocorrect)`, `protocol\.version`, `http\.(postbuffer|version|lowspeedlimit|lowspeedtime)`, `lfs\.repositoryformatversion`,
	`maintenance\.(auto|strategy)`, `receive\.denycurrentbranch`, `github\.user`, `i18n\.(commitencoding|logoutputencoding)`,
}, "|") + `)$`)

// take takes up one entry of the configuration.
func (r *repository) take(key, value string) error {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return nil // an empty file
	}
	section, name := strings.ToLower(key[:first]), strings.ToLower(key[last+1:])
	sub := ""
	if last > first {
		sub = key[first+1 : last]
	}
	plain := section + "." + name
	inside := section == "remote" || section == "branch"
	switch {
	case plain == "core.bare" && sub == "" && !isTrue(value):
		return nil
	case section == "submodule":
		r.submodules = true
		return nil
	case sub != "" && !inside && section != "color" && section != "advice", !safeKeys.MatchString(plain):
		return denied(fmt.Sprintf("the configuration of the repository sets %s, which can run programs or reach outside; an owner has to take it out of .git/config", quote(key)))
	case plain == "remote.push" && (strings.HasPrefix(value, "+") || strings.HasPrefix(value, ":") && value != ":"):
		return denied("the configuration of the repository forces every push, or has it delete at the remote (" + quote(key) + ")")
	case plain == "remote.url", plain == "remote.pushurl":
		r.urls[sub] = append(r.urls[sub], value)
	case plain == "branch.remote", plain == "branch.pushremote", plain == "remote.pushdefault":
		r.usual = append(r.usual, value)
	}
	return nil
}

func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "false", "no", "off", "0":
		return false
	}
	return true
}

// permits refuses calls that are harmless elsewhere, but not on this repository.
func (r *repository) permits(c call) error {
	if r.submodules && c.action != "status" && c.action != "diff" && c.action != "log" {
		return denied("the repository has submodules, whose own configuration git would follow; only status, diff and log work on it")
	}
	if !c.network() {
		return nil
	}
	remotes := r.urls
	if c.remote() == "" {
		if err := r.permitsUsual(c); err != nil {
			return err
		}
	}
	if name := c.remote(); name != "" {
		urls, known := r.urls[name]
		switch {
		case known:
			remotes = map[string][]string{name: urls}
		case checkAddress(name) != nil:
			return &tools.Refusal{Kind: tools.NotFound, Text: "the repository has no remote " + quote(name)}
		default:
			return nil
		}
	}
	for _, urls := range remotes {
		for _, u := range urls {
			if err := r.reaches(u); err != nil {
				return err
			}
		}
	}
	return nil
}

// permitsUsual checks where git goes by itself: to this repository, whose hooks
// a push would run, to a remote, or to an address that is none.
func (r *repository) permitsUsual(c call) error {
	for _, to := range r.usual {
		_, known := r.urls[to]
		switch {
		case known:
		case to == "." && c.action == "push":
			return denied("a branch is set to be pushed to this repository itself; name a remote")
		case to == ".":
		default:
			if err := r.reaches(to); err != nil {
				return err
			}
		}
	}
	return nil
}

// reaches checks the address of a remote that the repository knows. A folder
// outside the workspace is the owner's; one inside may have planted hooks.
func (r *repository) reaches(address string) error {
	folder, ok := folderOf(address)
	if !ok {
		bare := userInfo.ReplaceAllString(address, "$1") // the owner's own credential
		return checkAddress(bare)
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	if rest, err := filepath.Rel(r.workspace, folder); err != nil || filepath.IsLocal(rest) {
		return denied("the remote lies in the workspace, where its hooks are not safe; let it lie outside")
	}
	return nil
}
