package program

import (
	"slices"
	"strings"
)

// gitCommands are the commands of git that a * may mean. Any other name may
// be an alias, which can run anything.
var gitCommands = strings.Fields(`add blame branch cat-file checkout cherry cherry-pick clean clone commit count-objects describe diff
	fetch for-each-ref fsck init log ls-files ls-remote ls-tree merge merge-base mv name-rev pull push reflog remote reset restore
	rev-list rev-parse revert rm shortlog show show-ref stash status switch tag version whatchanged`)

// gitOptions are options that run a program, read or write outside the
// repository, or change the configuration. git takes beginnings of them, too.
var gitOptions = strings.Fields(`--upload-pack --receive-pack --exec --exec-path --output --output-directory --ext-diff --textconv
	--no-index --config --config-env --template --separate-git-dir --git-dir --work-tree --open-files-in-pager --tool --extcmd
	--pathspec-from-file --file --gpg-sign --paginate --strategy --show-signature --tree-filter --index-filter --msg-filter
	--reference --reference-if-able --remote --interactive --patch --edit --edit-todo --local-user --super-prefix --namespace
	--recurse-submodules --recursive --bare --mirror`)

// gitLetters are the same as letters, by command; "" is for before the command.
var gitLetters = map[string]string{
	"":      "cCp",
	"clone": "cu", "fetch": "u", "pull": "s", "push": "", "ls-remote": "", "merge": "Fsei", "commit": "FpeS", "tag": "Fsuv",
	"rebase": "xi", "add": "ipe", "checkout": "p", "reset": "p", "restore": "p", "stash": "p", "cherry-pick": "eS", "revert": "eS",
	"clean": "i", "log": "O", "diff": "O", "show": "O", "whatchanged": "O", "blame": "S",
}

// gitRuns reports whether free arguments make git run something, or write or
// read where it is told to.
func gitRuns(c Call) bool {
	command := ""
	for i, a := range c.Args {
		isOption := strings.HasPrefix(a, "-") && a != "-"
		if !isOption && command == "" {
			if command = a; c.Free[i] && !slices.Contains(gitCommands, a) {
				return true
			}
			continue
		}
		if !c.Free[i] {
			continue
		}
		switch {
		case strings.Contains(a, "::"), command == "" && a != "--version" && a != "--no-pager" && a != "--help":
			return true
		case command == "remote" && slices.Contains([]string{"add", "set-url"}, a), command == "clone" && outside(a):
			return true
		case !isOption:
		case strings.HasPrefix(a, "--"):
			name, _, _ := strings.Cut(a, "=")
			if len(name) > 2 && slices.ContainsFunc(gitOptions, func(o string) bool { return strings.HasPrefix(o, name) }) && !gitHarmless(command, name) {
				return true
			}
		case strings.ContainsAny(a[1:], gitLetters[command]):
			return true
		}
	}
	return false
}

// gitHarmless reports whether an option only shows something with this command.
func gitHarmless(command, name string) bool {
	return name == "--patch" && slices.Contains([]string{"log", "diff", "show"}, command)
}

// outside reports whether an operand is an absolute path or leads upwards.
func outside(a string) bool {
	return strings.HasPrefix(a, "/") || slices.Contains(strings.Split(a, "/"), "..")
}
