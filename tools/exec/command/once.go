package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"klawbot/tools/exec/program"
)

// alone are programs that run nothing but themselves, whatever their arguments
// and files say.
var alone = strings.Fields(`[ base32 base64 basename cat cd chgrp chmod chown cksum cmp comm cp curl cut date dd df diff dig dirname du echo
	egrep expand expr false fgrep file fmt fold free grep groups gunzip gzip head hexdump host hostname id join journalctl jq kill killall
	link ln ls lsblk lscpu lsof md5sum mkdir mkfifo mktemp mv nc netstat nl nproc nslookup od paste pgrep pidof ping pkill printenv
	printf ps pwd readlink realpath rev rm rmdir seq sha1sum sha256sum sha512sum shred shuf sleep ss stat strings sum sync tac tail tee
	test touch tr tree true truncate tsort tty uname unexpand uniq unlink uptime vmstat wc wget which whoami xxd yes zcat`)

// launches are options that have one of those programs run another one.
var launches = map[string][]string{"nc": {"-e", "-c", "--exec", "--sh-exec", "--lua-exec"}, "wget": {"--use-askpass", "--config", "-e", "--execute"}}

// runs checks which files a line runs: whether it may run some that it does not
// name, and whether only a shell knows what those are called.
func (l *Line) runs(file *syntax.File) {
	vague, runner := false, false
	var literals []*syntax.Word // texts of several lines, in which * is not a pattern
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			literals = append(literals, n.Hdoc)
		case *syntax.Word:
			vague = vague || globbed(n) && !slices.Contains(literals, n)
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause,
			*syntax.ExtGlob, *syntax.BraceExp:
			vague = true
		case *syntax.Assign, *syntax.DeclClause, *syntax.FuncDecl: // PATH=. has rm be another program
			l.RunsOthers = true
		case *syntax.CallExpr:
			argv := words(n.Args)
			l.RunsOthers = l.RunsOthers || !runsAlone(argv)
			runner = runner || slices.ContainsFunc(argv, runsFiles) || len(argv) > 0 && strings.HasPrefix(argv[0], unknown)
		}
		return true
	})
	l.RunsOthers, l.Vague = l.RunsOthers || vague, vague && runner
}

// runsFiles reports whether a word may be a program that runs the files that it is
// given, or one of them.
func runsFiles(word string) bool {
	return program.RunsText(word) || program.IsLanguage(word) || program.RunsOthers(word) || word == "make" || strings.HasPrefix(word, "./")
}

// runsAlone reports whether a simple command runs no file but its own program.
func runsAlone(argv []string) bool {
	if len(argv) == 0 {
		return true
	}
	if argv[0] == "find" {
		return !slices.ContainsFunc(argv, func(a string) bool { return slices.Contains(findRuns, a) })
	}
	return slices.Contains(alone, argv[0]) && !slices.ContainsFunc(argv[1:], func(a string) bool {
		return slices.ContainsFunc(launches[argv[0]], func(option string) bool { return strings.HasPrefix(a, option) })
	})
}

// lookers are programs that change nothing, unless an argument is a danger.
var lookers = strings.Fields(`base64 basename cat cksum cmp comm cut df diff dirname du echo egrep fgrep find fold free grep groups head hexdump
	id join jq ls lsblk lscpu md5sum nl nproc od paste printenv ps pwd readlink realpath rev sed seq sha1sum sha256sum sha512sum sort stat tac
	tail tr true uname uniq uptime wc which whoami`)

// changes reports whether a program may change anything.
func (p Program) changes() bool {
	c := program.Call{Name: p.Argv[0], Args: p.Argv[1:], Free: slices.Repeat([]bool{true}, len(p.Argv)-1)}
	return !slices.Contains(lookers, c.Name) || c.MayRun()
}
