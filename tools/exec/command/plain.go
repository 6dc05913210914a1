package command

import (
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// maxPrograms is how many programs a plain line has at most.
const maxPrograms = 20

// builtins are commands that only a shell has. A line with one is not plain: run
// as programs there are none of these names.
var builtins = strings.Fields(`. : alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown
	enable eval exec exit export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray readonly
	return set shift shopt source suspend times trap type typeset ulimit umask unalias unset wait`)

// flattener turns the statements of a line into pipelines.
type flattener struct {
	pipelines []Pipeline
	programs  int
	more      string // why it is not plain
}

// plain is what a line runs when it is one list of pipelines of simple commands
// with literal words; else it says what it is more than that.
func plain(text string, file *syntax.File) (list []Pipeline, more string) {
	if strings.Contains(text, "#") && commented(file) {
		// The parser and the shells disagree on where some comments end.
		return nil, "it has a comment"
	}
	var f flattener
	for _, s := range file.Stmts {
		f.list(s, Always)
	}
	if f.programs > maxPrograms {
		f.not("it runs more than 20 programs")
	}
	if f.more != "" {
		return nil, f.more
	}
	return f.pipelines, ""
}

// commented reports whether there is a comment.
func commented(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if _, is := n.(*syntax.Comment); is {
			found = true
		}
		return !found
	})
	return found
}

// not notes the first reason why the line is not plain.
func (f *flattener) not(why string) {
	if f.more == "" {
		f.more = why
	}
}

// list takes a statement that may be joined by && and ||.
func (f *flattener) list(s *syntax.Stmt, when When) {
	b, joined := s.Cmd.(*syntax.BinaryCmd)
	if !joined || b.Op != syntax.AndStmt && b.Op != syntax.OrStmt {
		p := Pipeline{When: when}
		f.pipe(s, &p)
		f.pipelines = append(f.pipelines, p)
		return
	}
	f.bare(s)
	f.list(b.X, when)
	if b.Op == syntax.AndStmt {
		f.list(b.Y, IfOK)
	} else {
		f.list(b.Y, IfFailed)
	}
}

// pipe takes a statement that may be joined by |.
func (f *flattener) pipe(s *syntax.Stmt, p *Pipeline) {
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op != syntax.Pipe {
			f.not("it joins commands by " + c.Op.String() + " within a pipe")
			return
		}
		f.bare(s)
		f.pipe(c.X, p)
		f.pipe(c.Y, p)
	case *syntax.CallExpr:
		f.program(s, c, p)
	case nil:
		f.not("it has a redirection without a command")
	default:
		f.not("it is more than simple commands: " + kind(c))
	}
}

// bare checks a statement that only joins others.
func (f *flattener) bare(s *syntax.Stmt) {
	switch {
	case s.Background || s.Disown:
		f.not("it runs a command in the background with &; background=true does that")
	case s.Negated:
		f.not("it turns an exit code around with !")
	case s.Coprocess:
		f.not("it has a coprocess")
	case len(s.Redirs) > 0:
		f.not("it redirects several commands at once")
	}
}

// program takes a simple command.
func (f *flattener) program(s *syntax.Stmt, c *syntax.CallExpr, p *Pipeline) {
	redirects := s.Redirs
	s.Redirs = nil
	f.bare(s)
	s.Redirs = redirects
	if len(c.Assigns) > 0 {
		f.not("it sets a variable")
		return
	}
	prog := Program{Out: Stdout, Err: Stderr}
	for _, w := range c.Args {
		word, why := literal(w)
		if why != "" {
			f.not(why)
			return
		}
		prog.Argv = append(prog.Argv, word)
	}
	for _, r := range s.Redirs {
		if !prog.redirect(r) {
			f.not("it redirects to something else than /dev/null or an open stream")
			return
		}
	}
	switch name := prog.Argv[0]; {
	case name == "" || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "%"):
		f.not("it runs a command whose name is none")
	case slices.Contains(builtins, name):
		f.not(name + " is a part of the shell, not a program" + hint(name))
	}
	f.programs++
	p.Programs = append(p.Programs, prog)
}

func hint(builtin string) string {
	if builtin == "cd" {
		return "; workdir says where to run"
	}
	return ""
}

// redirect applies a redirection, if it is harmless.
func (p *Program) redirect(r *syntax.Redirect) bool {
	if r.Word == nil || r.Hdoc != nil || r.N != nil && r.N.Value != "0" && r.N.Value != "1" && r.N.Value != "2" {
		return false
	}
	target, why := literal(r.Word)
	if why != "" {
		return false
	}
	fd := ""
	if r.N != nil {
		fd = r.N.Value
	}
	switch r.Op {
	case syntax.RdrIn:
		p.NoInput = true
		return target == "/dev/null" && (fd == "" || fd == "0")
	case syntax.RdrOut, syntax.AppOut:
		return target == "/dev/null" && p.send(fd, Null)
	case syntax.DplOut:
		return target == "1" && p.send(fd, p.Out) || target == "2" && p.send(fd, p.Err)
	}
	return false
}

// send sends a stream somewhere; no number means standard output.
func (p *Program) send(fd string, to Stream) bool {
	switch fd {
	case "", "1":
		p.Out = to
	case "2":
		p.Err = to
	default:
		return false
	}
	return true
}

// kind names a compound command.
func kind(c syntax.Command) string {
	switch c := c.(type) {
	case *syntax.IfClause:
		return "if"
	case *syntax.WhileClause:
		return "a loop"
	case *syntax.ForClause:
		return "a loop"
	case *syntax.CaseClause:
		return "case"
	case *syntax.FuncDecl:
		return "a function"
	case *syntax.Subshell:
		return "( )"
	case *syntax.Block:
		return "{ }"
	case *syntax.TestClause:
		return "[[ ]]"
	case *syntax.ArithmCmd:
		return "(( ))"
	case *syntax.DeclClause:
		return c.Variant.Value
	}
	return "a command of the shell"
}

// literal is the text of a word that means nothing but itself; else it says what
// the word holds that a shell would replace.
func literal(w *syntax.Word) (text, why string) {
	var b strings.Builder
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			why = unquoted(&b, p.Value, i == 0, w)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", "it has a word in $'…'"
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			why = doubleQuoted(&b, p)
		default:
			why = replaced(part)
		}
		if why != "" {
			return "", why
		}
	}
	return b.String(), ""
}

// replaced says what a part of a word is that a shell replaces.
func replaced(part syntax.WordPart) string {
	switch part.(type) {
	case *syntax.ParamExp:
		return "it uses a variable"
	case *syntax.CmdSubst, *syntax.ProcSubst:
		return "it runs a command inside another ($(…))"
	case *syntax.ArithmExp:
		return "it calculates ($((…)))"
	}
	return "it has a pattern of file names"
}

// unquoted adds an unquoted part of a word without its backslashes.
func unquoted(b *strings.Builder, value string, first bool, w *syntax.Word) string {
	before := rune(0)
	if !first {
		before = 'q' // a quoted part
	}
	address := strings.Contains(value, "://")
	escaped := false
	for _, r := range value {
		switch {
		case escaped:
			escaped = false
			if r != '\n' {
				b.WriteRune(r)
			}
			before = '\\'
			continue
		case r == '\\':
			escaped = true
			continue
		case r == '?' && address: // the query of an address
		case strings.ContainsRune("*?[]", r):
			return "it has a pattern of file names"
		case r == '{' || r == '}':
			return "it has braces"
		case r == '~' && !inside(before):
			return "it has a ~ that stands for a home directory"
		case r == '$' || r == '`' || r == '!' && len(w.Parts) == 1 && value == "!":
			return "it has a character that a shell may replace"
		case r == '#' && before == 0:
			return "it has a comment"
		case unicode.IsSpace(r) && r < unicode.MaxASCII:
			return "it has a blank that is none for every shell"
		}
		b.WriteRune(r)
		before = r
	}
	if escaped {
		return "it ends in a backslash"
	}
	return ""
}

// inside reports whether a ~ after such a character is within a word and no
// beginning of a path.
func inside(before rune) bool {
	return before == '~' || before == '.' || before == '_' || before == '^' || before == ')' ||
		before != 'q' && (unicode.IsLetter(before) || unicode.IsDigit(before))
}

// doubleQuoted adds a part in double quotes.
func doubleQuoted(b *strings.Builder, p *syntax.DblQuoted) string {
	if p.Dollar {
		return `it has a word in $"…"`
	}
	for _, part := range p.Parts {
		lit, is := part.(*syntax.Lit)
		if !is {
			return replaced(part)
		}
		escaped := false
		for _, r := range lit.Value {
			switch {
			case escaped:
				escaped = false
				if r == '\n' {
					continue
				}
				if !strings.ContainsRune("$`\"\\", r) {
					b.WriteByte('\\')
				}
				b.WriteRune(r)
			case r == '\\':
				escaped = true
			case r == '$' || r == '`':
				return "it has a character that a shell may replace"
			default:
				b.WriteRune(r)
			}
		}
		if escaped {
			return "it ends in a backslash"
		}
	}
	return ""
}
