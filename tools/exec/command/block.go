package command

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"klawbot/tools/budget"
	"klawbot/tools/exec/program"
)

// The block list: what never runs, with or without approval. It guards against mistakes,
// not attacks: a name that is built at run time passes it. The sandbox is the wall.

// findings gathers what the whole line would run, nested text included.
type findings struct {
	blocked  string
	programs [][]string
	inputs   []string
	// dir is where a cd before has led, as far as that is written out.
	dir string
	// led says of each text that was checked where its last cd led: what a line
	// runs in many ways is checked once.
	led map[string]string
	// budget is for the whole line. When it is spent, the findings are not all.
	budget *budget.Budget
}

// block notes the first reason to refuse.
func (f *findings) block(why string) {
	if f.blocked == "" {
		f.blocked = why
	}
}

// text checks shell text, once. What is not shell text holds nothing to run.
func (f *findings) text(text string) {
	if dir, seen := f.led[text]; seen {
		f.dir = dir
		return
	}
	if !f.budget.Spend(len(text)) {
		return
	}
	f.led[text] = ""
	file, err := parse(text)
	if err != nil {
		return
	}
	f.dir = ""
	f.node(file)
	if continued := strings.ReplaceAll(text, "\\\n", "\n"); strings.Contains(text, "#") && continued != text {
		f.text(continued) // the parser joins the line after such a comment to it, the shells do not
	}
	f.led[text] = f.dir
}

// walk visits a tree until the budget is spent.
func (f *findings) walk(tree syntax.Node, visit func(syntax.Node)) {
	syntax.Walk(tree, func(n syntax.Node) bool {
		if !f.budget.Spend(1) {
			return false
		}
		visit(n)
		return true
	})
}

// node checks everything in a tree.
func (f *findings) node(tree syntax.Node) {
	f.walk(tree, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.Stmt:
			for _, r := range n.Redirs {
				f.redirect(n, r)
			}
		case *syntax.CallExpr:
			f.call(n)
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				f.pipe(n)
			}
		case *syntax.FuncDecl:
			if f.callsItself(n) {
				f.block("a function that starts itself without end")
			}
		case *syntax.Word:
			text := word(n)
			if !f.budget.Spend(2 * len(text)) {
				return
			}
			if what := sensitive(text, globbed(n)); what != "" && !onlyText(tree, n) {
				f.block("it touches " + what)
			}
		}
	})
}

// call checks a simple command.
func (f *findings) call(c *syntax.CallExpr) {
	argv := words(c.Args)
	if len(argv) == 0 || !f.budget.Spend(work(argv)) {
		return
	}
	f.programs = append(f.programs, argv)
	f.argv(argv)
	if argv[0] == "cd" {
		f.cd(argv[1:])
	}
	if strings.HasPrefix(argv[0], unknown) || slices.ContainsFunc(argv, program.RunsText) {
		for _, w := range c.Args {
			if f.downloads(w) {
				f.block("it runs what it downloads")
			}
		}
	}
}

// work is how many steps it takes to check words.
func work(words []string) int {
	n := 0
	for _, w := range words {
		n += 4 + len(w)
	}
	return n
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

// argv checks a command and the commands that it runs.
func (f *findings) argv(argv []string) {
	wraps, find := false, -1 // whether any word may begin a command; where a find is
	for i, w := range argv {
		ran := find >= 0 && slices.Contains(findRuns, argv[i-1])
		if i == 0 || ran || wraps && !strings.HasPrefix(w, "-") {
			f.single(argv[i:])
			wraps = wraps || program.RunsOthers(w)
			if find < 0 && path.Base(w) == "find" {
				find = i
			}
		}
		if ran && path.Base(w) == "rm" && f.anyRoot(argv[find+1:i-1]) {
			f.block("it deletes everything")
		}
	}
}

// scanned are the programs whose arguments are checked, besides the shells.
var scanned = strings.Fields("rm find chmod chown chgrp dd tee systemctl kill eval su script runuser sg flock env watch ssh parallel tmux screen")

// single checks one command.
func (f *findings) single(argv []string) {
	name, args := path.Base(argv[0]), argv[1:]
	steps := work(argv[:1])
	if slices.Contains(scanned, name) || program.IsShell(name) {
		steps = work(argv)
	}
	if !f.budget.Spend(steps) {
		return
	}
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
	for _, code := range program.Codes(argv) {
		f.text(code)
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
	return f.budget.Spend(work(args)+len(args)*len(f.dir)) && slices.ContainsFunc(args, func(a string) bool {
		if f.dir != "" && !strings.HasPrefix(a, "/") && !strings.HasPrefix(a, home) && !strings.HasPrefix(a, "-") {
			a = f.dir + "/" + a
		}
		return root(a)
	})
}

var homeFolder = regexp.MustCompile(`^~[\w-]*(/|$)`)

// root reports whether a path is the root of the file system, a home directory, or
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

// redirect checks a redirection.
func (f *findings) redirect(s *syntax.Stmt, r *syntax.Redirect) {
	if r.Op != syntax.RdrIn && r.Hdoc == nil && r.Word != nil && device(word(r.Word)) {
		f.block("it writes to a device")
	}
	if r.Op == syntax.RdrIn && r.Word != nil {
		f.inputs = append(f.inputs, word(r.Word))
	}
	c, is := s.Cmd.(*syntax.CallExpr)
	if !is || len(c.Args) == 0 || !program.RunsText(word(c.Args[0])) {
		return
	}
	if r.Hdoc != nil {
		f.text(word(r.Hdoc))
	}
	if r.Op == syntax.WordHdoc {
		f.text(word(r.Word))
	}
	if r.Word != nil && f.downloads(r.Word) {
		f.block("it runs what it downloads")
	}
}

// pipe checks two sides of a pipe.
func (f *findings) pipe(b *syntax.BinaryCmd) {
	if !slices.ContainsFunc(f.calls(b.Y), program.ReadsProgram) {
		return
	}
	for _, argv := range f.calls(b.X) {
		if runsAny(argv, program.Downloaders) {
			f.block("it runs what it downloads")
		}
		if name := path.Base(argv[0]); name == "echo" || name == "printf" {
			f.text(strings.Join(argv[1:], " "))
		}
	}
}

// calls are the simple commands in a tree.
func (f *findings) calls(tree syntax.Node) [][]string {
	var all [][]string
	f.walk(tree, func(n syntax.Node) {
		if c, is := n.(*syntax.CallExpr); is && len(c.Args) > 0 {
			if argv := words(c.Args); f.budget.Spend(work(argv)) {
				all = append(all, argv)
			}
		}
	})
	return all
}

// downloads reports whether a word runs a program that downloads.
func (f *findings) downloads(w *syntax.Word) bool {
	return slices.ContainsFunc(f.calls(w), func(argv []string) bool { return runsAny(argv, program.Downloaders) })
}

// runsAny reports whether a command is one of these programs, or runs one.
func runsAny(argv, names []string) bool {
	for i, a := range argv {
		if i > 0 && !program.RunsOthers(argv[0]) {
			return false
		}
		if slices.Contains(names, path.Base(a)) {
			return true
		}
	}
	return false
}

// callsItself reports whether a function starts itself in a pipe or in the
// background.
func (f *findings) callsItself(d *syntax.FuncDecl) bool {
	found := false
	f.walk(d.Body, func(n syntax.Node) {
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
		if inner != nil && d.Name != nil && !found {
			found = slices.ContainsFunc(f.calls(inner), func(argv []string) bool { return argv[0] == d.Name.Value })
		}
	})
	return found
}
