package exec

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"klawbot/tools/exec/command"
	"klawbot/tools/exec/host"
	"klawbot/tools/sandbox"
)

// away is the first of some words that names something outside the workspace, ""
// when none does.
func (w where) away(words []string) string {
	for _, word := range words {
		for _, name := range namedBy(word) {
			if w.outside(name) {
				return name
			}
		}
	}
	return ""
}

// maxCluster is after how many letters of an option a name may begin.
const maxCluster = 8

// namedBy are the names of files that a word may hold: itself, and what follows an
// equals sign or the letters of an option (--file=NAME, -fNAME, @NAME).
func namedBy(word string) []string {
	names := []string{word}
	if _, value, is := strings.Cut(word, "="); is {
		names = append(names, value)
	}
	if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") {
		for i := 2; i < len(word) && i < maxCluster; i++ {
			names = append(names, word[i:])
		}
		if i := strings.IndexByte(word, '/'); i >= 0 {
			names = append(names, word[i:])
		}
	}
	for _, n := range names {
		if rest, is := strings.CutPrefix(n, "@"); is {
			names = append(names, rest)
		}
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == "" })
}

// outside reports whether a name is one of something outside the workspace. A word
// that only looks like a path (/words/) is none: there is nothing that it begins with.
func (w where) outside(name string) bool {
	if path.IsAbs(name) {
		if _, err := w.inside(name); err != nil {
			first, _, _ := strings.Cut(strings.TrimLeft(path.Clean(name), "/"), "/")
			_, err := os.Lstat("/" + first)
			return err == nil
		}
	}
	_, err := w.stat(name)
	for _, none := range []error{nil, fs.ErrNotExist, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.EACCES} {
		if errors.Is(err, none) {
			return false
		}
	}
	return true
}

// Files about users and processes, by the programs that say something of them.
var shows = map[string][]string{
	"ls": host.UserFiles, "stat": host.UserFiles, "find": host.UserFiles, "tree": host.UserFiles, "id": host.UserFiles, "whoami": host.UserFiles,
	"ps": append([]string{"/proc"}, host.UserFiles...), "df": {"/proc"}, "pgrep": {"/proc"}, "pidof": {"/proc"}, "free": {"/proc"}, "uptime": {"/proc"},
}

// reach is what the programs of a pipeline reach without approval.
func (w where) reach(v view, p command.Pipeline) *sandbox.Reach {
	folders := host.Folders(w.names[1])
	reach := &sandbox.Reach{Workspace: w.names[1]}
	for i, prog := range p.Programs {
		g := sandbox.Grant{Read: slices.Clone(shows[prog.Argv[0]])}
		if spelled, away, is := w.owners(v.allow, p, i); is && away == "" {
			g.Network = true
			g.Read = slices.Concat(g.Read, host.UserFiles, host.Software, libraries(folders))
			g.Write = append([]string{reach.Workspace}, w.spelledAway(spelled)...)
		}
		if name, err := host.Find(prog.Argv[0], v.dir, folders); err == nil {
			g.Read = append(g.Read, name)
		}
		reach.Programs = append(reach.Programs, g)
	}
	return reach
}

// spelledAway are the paths outside the workspace that the owner has spelled.
func (w where) spelledAway(words []string) (paths []string) {
	for _, word := range words {
		for _, name := range namedBy(word) {
			if w.outside(name) {
				if !path.IsAbs(name) {
					name = filepath.Join(w.dir, name)
				}
				paths = append(paths, name)
			}
		}
	}
	return paths
}

// libraries are the folders that programs are looked for in, and the libraries
// beside them.
func libraries(folders []string) (all []string) {
	for _, dir := range folders {
		all = append(all, dir)
		if base := filepath.Base(dir); base == "bin" || base == "sbin" {
			all = append(all, filepath.Join(filepath.Dir(dir), "lib"))
		}
	}
	return all
}
