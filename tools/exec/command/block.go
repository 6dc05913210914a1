package command

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The hard block list: what is never run, whoever agrees. It is advice against
// mistakes, not a wall: a name that is built at run time passes it. The wall is
// the sandbox.

// maxDepth bounds shell text inside shell text.
const maxDepth = 4

// findings gathers what the whole line would run, nested text included.
type findings struct {
	blocked  string
	programs [][]string
	inputs   []string
	// dir is where a cd before has led, as far as that is written out.
	dir string
}

// block notes the first reason to refuse.
func (f *findings) block(why string) {
	if f.blocked == "" {
		f.blocked = why
	}
}

// text looks at shell text. What is no shell text holds nothing to run.
func (f *findings) text(text string, depth int) {
	if depth > maxDepth || len(text) > MaxBytes {
		return
	}
	file, err := parse(text)
	if err != nil {
		return
	}
	f.dir = ""
	f.node(file, depth)
	if continued := strings.ReplaceAll(text, "\\\n", "\n"); depth == 0 && strings.Contains(text, "#") && continued != text {
		f.text(continued, depth+1) // the parser joins the line after such a comment to it, the shells do not
	}
}

// node looks at everything in a tree.
func (f *findings) node(tree syntax.Node, depth int) {
	syntax.Walk(tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			for _, r := range n.Redirs {
				f.redirect(n, r, depth)
			}
		case *syntax.CallExpr:
			f.call(n, depth)
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				f.pipe(n, depth)
			}
		case *syntax.FuncDecl:
			if callsItself(n) {
				f.block("a function that starts itself without end")
			}
		case *syntax.Word:
			if what := sensitive(word(n), globbed(n)); what != "" && !onlyText(tree, n) {
				f.block("it touches " + what)
			}
		}
		return true
	})
}

// call looks at a simple command.
func (f *findings) call(c *syntax.CallExpr, depth int) {
	argv := words(c.Args)
	if len(argv) == 0 {
		return
	}
	f.programs = append(f.programs, argv)
	f.argv(argv, depth)
	if argv[0] == "cd" {
		f.cd(argv[1:])
	}
	if strings.HasPrefix(argv[0], unknown) || slices.ContainsFunc(argv, runsText) {
		for _, w := range c.Args {
			if downloads(w) {
				f.block("it runs what it downloads")
			}
		}
	}
}

// cd notes where a cd leads.
func (f *findings) cd(args []string) {
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") && a != "-" })
	switch {
	case len(args) == 0:
		f.dir = home
	case strings.HasPrefix(args[0], "/"), strings.HasPrefix(args[0], home):
		f.dir = args[0]
	case f.dir != "":
		f.dir += "/" + args[0]
	}
}

// argv looks at a command and, if it runs another one, at that.
func (f *findings) argv(argv []string, depth int) {
	for i := range argv {
		if i == 0 || runsOthers(argv[0]) && !strings.HasPrefix(argv[i], "-") {
			f.single(argv[i:], depth)
		}
		if i > 0 && base(argv[0]) == "find" && slices.Contains(findRuns, argv[i]) && i+1 < len(argv) {
			f.findRun(argv, i, depth)
		}
	}
}

// single looks at one command.
func (f *findings) single(argv []string, depth int) {
	name, args := base(argv[0]), argv[1:]
	switch {
	case name == "rm" && recursive(args, 'r', 'R') && f.anyRoot(args),
		name == "find" && slices.Contains(args, "-delete") && f.anyRoot(args):
		f.block("it deletes everything")
	case (name == "chmod" || name == "chown" || name == "chgrp") && recursive(args, 'R') && f.anyRoot(args):
		f.block("it changes the rights of everything")
	case name == "mkfs" || strings.HasPrefix(name, "mkfs.") || name == "mke2fs":
		f.block("it formats a disk")
	case name == "dd" && slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "if=") || device(strings.TrimPrefix(a, "of=")) }):
		f.block("it copies raw data with dd")
	case name == "tee" && slices.ContainsFunc(args, device):
		f.block("it writes to a device")
	case slices.Contains(stops, name), (name == "init" || name == "telinit") && len(args) > 0,
		name == "systemctl" && slices.ContainsFunc(args, func(a string) bool { return slices.Contains(stops, a) }):
		f.block("it stops the machine")
	case name == "kill" && killsAll(args):
		f.block("it ends every process")
	}
	for _, code := range codes(argv) {
		f.text(code, depth+1)
	}
}

// findRun looks at what a find runs for each file.
func (f *findings) findRun(argv []string, at, depth int) {
	f.argv(argv[at+1:], depth)
	if name := base(argv[at+1]); name == "rm" && f.anyRoot(argv[1:at]) {
		f.block("it deletes everything")
	}
}

var (
	findRuns = []string{"-exec", "-execdir", "-ok", "-okdir"}
	stops    = []string{"shutdown", "reboot", "halt", "poweroff", "kexec"}
)

// recursive reports whether one of the options says to go into folders.
func recursive(args []string, letters ...rune) bool {
	for _, a := range args {
		switch {
		case a == "--":
			return false
		case strings.HasPrefix(a, "--"):
			if len(a) > 4 && strings.HasPrefix("--recursive", a) {
				return true
			}
		case strings.HasPrefix(a, "-") && slices.ContainsFunc(letters, func(r rune) bool { return strings.ContainsRune(a, r) }):
			return true
		}
	}
	return false
}

// anyRoot reports whether an argument is the root of the file system, a home
// folder, or everything in one of them.
func (f *findings) anyRoot(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		if f.dir != "" && !strings.HasPrefix(a, "/") && !strings.HasPrefix(a, home) && !strings.HasPrefix(a, "-") {
			a = f.dir + "/" + a
		}
		return root(a)
	})
}

var homeFolder = regexp.MustCompile(`^~[\w-]*(/|$)`)

// root reports whether a path is the root of the file system, a home folder, or
// everything in one of them.
func root(name string) bool {
	if at := homeFolder.FindString(name); at != "" {
		name = "/" + name[len(at):]
	}
	if !strings.HasPrefix(name, "/") {
		return false
	}
	name = path.Clean(name)
	dir, last := path.Split(name)
	return name == "/" || dir == "/" && strings.Trim(last, "*?.{},!") == ""
}

// devices are those that may be written to.
var devices = []string{"null", "zero", "full", "stdin", "stdout", "stderr", "tty", "random", "urandom"}

// device reports whether a path is a device, but a harmless one.
func device(name string) bool {
	rest, is := strings.CutPrefix(path.Clean(name), "/dev/")
	return is && !slices.Contains(devices, rest) && !strings.HasPrefix(rest, "fd/") && !strings.HasPrefix(rest, "shm/")
}

// killsAll reports whether kill is told to end every process, or the first one.
func killsAll(args []string) bool {
	for i, a := range args {
		switch {
		case i == 0 && len(args) > 1 && strings.HasPrefix(a, "-"): // the signal
		case a == "1" && (i == 0 || args[i-1] != "-s" && args[i-1] != "-n"), a == "-1":
			return true
		}
	}
	return false
}

// redirect looks at a redirection.
func (f *findings) redirect(s *syntax.Stmt, r *syntax.Redirect, depth int) {
	if r.Op != syntax.RdrIn && r.Hdoc == nil && r.Word != nil && device(word(r.Word)) {
		f.block("it writes to a device")
	}
	if r.Op == syntax.RdrIn && r.Word != nil {
		f.inputs = append(f.inputs, word(r.Word))
	}
	c, is := s.Cmd.(*syntax.CallExpr)
	if !is || len(c.Args) == 0 || !runsText(word(c.Args[0])) {
		return
	}
	if r.Hdoc != nil {
		f.text(word(r.Hdoc), depth+1)
	}
	if r.Op == syntax.WordHdoc {
		f.text(word(r.Word), depth+1)
	}
	if r.Word != nil && downloads(r.Word) {
		f.block("it runs what it downloads")
	}
}

// pipe looks at two sides of a pipe.
func (f *findings) pipe(b *syntax.BinaryCmd, depth int) {
	if !slices.ContainsFunc(calls(b.Y), readsProgram) {
		return
	}
	for _, argv := range calls(b.X) {
		if runsAny(argv, downloaders) {
			f.block("it runs what it downloads")
		}
		if name := base(argv[0]); name == "echo" || name == "printf" {
			f.text(strings.Join(argv[1:], " "), depth+1)
		}
	}
}

// calls are the simple commands in a tree.
func calls(tree syntax.Node) [][]string {
	var all [][]string
	syntax.Walk(tree, func(n syntax.Node) bool {
		if c, is := n.(*syntax.CallExpr); is && len(c.Args) > 0 {
			all = append(all, words(c.Args))
		}
		return true
	})
	return all
}

// downloads reports whether a word runs a program that downloads.
func downloads(w *syntax.Word) bool {
	return slices.ContainsFunc(calls(w), func(argv []string) bool { return runsAny(argv, downloaders) })
}

// runsAny reports whether a command is one of these programs, or runs one.
func runsAny(argv, names []string) bool {
	for i, a := range argv {
		if i > 0 && !runsOthers(argv[0]) {
			return false
		}
		if slices.Contains(names, base(a)) {
			return true
		}
	}
	return false
}

// callsItself reports whether a function starts itself in a pipe or in the
// background.
func callsItself(f *syntax.FuncDecl) bool {
	found := false
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		var inner syntax.Node
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				inner = n
			}
		case *syntax.Stmt:
			if n.Background {
				inner = n.Cmd
			}
		}
		if inner != nil && f.Name != nil && slices.ContainsFunc(calls(inner), func(argv []string) bool { return argv[0] == f.Name.Value }) {
			found = true
		}
		return !found
	})
	return found
}
