//go:build differential

package command_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"klawbot/tools/exec/command"
)

// TestDifferential makes random command lines and holds what Parse says of the
// plain ones against what bash and dash really start. Parse may call a line not
// plain as often as it likes; what it calls plain must start no program with
// other words than it says. LINES says how many lines, SEED where to begin.
func TestDifferential(t *testing.T) {
	lines, seed := setting(t, "LINES", 20000), setting(t, "SEED", 1)
	script, err := filepath.Abs("testdata/trace.sh")
	if err != nil {
		t.Fatal(err)
	}
	shells := map[string][]string{}
	for _, name := range []string{"bash", "dash"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatalf("%s is missing: install it (Debian: apt-get install %s)", name, name)
		}
		shells[name] = []string{path, script}
	}
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	plain, counts := 0, map[string]*tally{"bash": {}, "dash": {}}
	var batch []command.Line
	flush := func() {
		var wait sync.WaitGroup
		for name, argv := range shells {
			wait.Go(func() { counts[name].compare(t, argv, batch, trace(t, argv, batch)) })
		}
		wait.Wait()
		plain, batch = plain+len(batch), nil
	}
	for range lines {
		line, err := command.Parse(randomLine(random))
		if err == nil && line.Plain != nil && line.Blocked == "" {
			if batch = append(batch, line); len(batch) == 2000 {
				flush()
			}
		}
		if t.Failed() {
			break
		}
	}
	flush()
	for name, c := range counts {
		t.Logf("seed %d, %d lines, %d plain: %s started %d programs, %d unapproved, %d of the approved missing",
			seed, lines, plain, name, c.started, c.unapproved, c.missing)
		if c.started < plain/2 {
			t.Errorf("%s started only %d programs: the trace is broken", name, c.started)
		}
	}
}

func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s is no number: %v", name, err)
	}
	return n
}

// pieces are what random lines are made of, the common ones several times.
var pieces = strings.Split(strings.Join([]string{
	"ls", "rm", "cat", "sh", "id", "x", "e", "no", "echo", "true", "false", "ls", "rm", "x", "e", "no",
	" ", " ", " ", " ", " ", " ", " ", "  ", "\t", "\n", ";", "&&", "||", "|", " && ", " || ", " | ", "; ", "\n",
	"a", "b", "-x", "x=1", "=", "~", "a~", "~/", "x=~", ":~", "/", ".", "./x", "x/y", "..", ",", ":", "%", "@", "+", "-", "--", "1", "2",
	"'", "'", "\"", "\"", "''", "\"\"", "'a b'", "\"a b\"", "'#'", "\"\\\"\"", "'$x'", "\\", "\\ ", "\\\n", "\\\\", "\\'", "\\\"", "\\$", "\\#", "\\;", "\\|", "\\~",
	"#", " #", "#x", "#\\\n", "$x", "$", "${x}", "$(id)", "`id`", "$((1))", "$'x'", "$\"x\"", "\"$x\"",
	"*", "?", "[a]", "{a,b}", "{", "}", "{}", "!", "! ", "(", ")", "()", "&", "& ", "|&", "&>", ">", "<", ">>", "<<", "<<<", ">&", "2>&1", ">&2", "2>/dev/null",
	">/dev/null", "</dev/null", "1>&2", "3>&1", "<(id)", "==", "[[", "]]", "((", "))", "time ", "'time' ", "if ", "then ", "fi", "do ", "done", "case ", "function ",
	"é", "\u00a0", "\u3000", "привет", "x+=1", "x[0]=1", "\r", "\v", "\f", "^", ";;", "a=b ls", "!!", "!x", "\\!", "coproc ", "select ", "in ", "x()", "esac", "until ", "while ",
}, "\x00"), "\x00")

// randomLine makes a command line out of pieces, most of the time one that looks
// like a command.
func randomLine(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		if r.IntN(4) > 0 {
			b.WriteString(pieces[r.IntN(16)] + " ")
		}
		for range r.IntN(6) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		if r.IntN(3) == 0 {
			b.WriteString([]string{" ", ";", "\n", " && ", " || ", " | "}[r.IntN(6)])
		}
	}
	return b.String()
}

// trace runs lines in a shell and returns the programs that each has started.
func trace(t *testing.T, shell []string, lines []command.Line) [][][]string {
	dir, err := os.MkdirTemp("", "klawbot-trace-")
	if err != nil {
		t.Error(err)
		return nil
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "l"), 0o700); err != nil {
		t.Error(err)
	}
	for i, l := range lines {
		if err := os.WriteFile(filepath.Join(dir, "l", strconv.Itoa(i+1)), []byte(l.Text), 0o600); err != nil {
			t.Error(err)
		}
	}
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer log.Close()
	var errors bytes.Buffer
	cmd := exec.Command(shell[0], append(shell[1:], strconv.Itoa(len(lines)))...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, []string{"HOME=/home/of/nobody", "LC_ALL=C.UTF-8"}, &errors
	cmd.ExtraFiles = []*os.File{3: nil, 6: log} // file descriptor 9
	for i := range cmd.ExtraFiles {
		if cmd.ExtraFiles[i] == nil {
			cmd.ExtraFiles[i] = log
		}
	}
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v\n%.2000s", shell[0], err, errors.String())
	}
	written, err := os.ReadFile(log.Name())
	if err != nil {
		t.Error(err)
	}
	return started(t, len(lines), string(written), errors.String())
}

// notFound is what dash says of a program that nobody finds.
var notFound = regexp.MustCompile(`(?s)^.*\./l/\d+: (.*): (not found|Permission denied)$`)

// started reads a log: the programs that each line has started. Of one that
// nobody has found only the name is known.
func started(t *testing.T, lines int, log, errors string) [][][]string {
	all := make([][][]string, lines)
	fields := strings.Split(log, "\x00")
	for i := 0; i+1 < len(fields); {
		line, err := strconv.Atoi(fields[i])
		n, err2 := strconv.Atoi(fields[i+1])
		if err != nil || err2 != nil || line < 1 || line > lines || i+2+n > len(fields) {
			t.Errorf("the log cannot be read at %q", fields[i])
			return all
		}
		all[line-1] = append(all[line-1], fields[i+2:i+2+n])
		i += 2 + n
	}
	for _, part := range strings.Split(errors, "LINE ")[1:] {
		number, said, _ := strings.Cut(part, "\n")
		line, err := strconv.Atoi(number)
		if err != nil || line < 1 || line > lines {
			continue // a program of that name
		}
		for _, s := range strings.SplitAfter(strings.TrimSpace(said), "not found\n") {
			if m := notFound.FindStringSubmatch(strings.TrimSpace(s)); m != nil {
				all[line-1] = append(all[line-1], []string{m[1], "\x00only the name"})
			}
		}
	}
	return all
}

// tally counts what came of a shell's lines.
type tally struct{ started, unapproved, missing int }

// compare holds what was started against what is approved.
func (c *tally) compare(t *testing.T, shell []string, lines []command.Line, all [][][]string) {
	for i, got := range all {
		c.started += len(got)
		// Two programs of a pipe may write their complaints into each other.
		for range 5 {
			if unapproved(lines[i], got) == nil {
				break
			}
			got = trace(t, shell, lines[i:i+1])[0]
		}
		if argv := unapproved(lines[i], got); argv != nil {
			c.unapproved++
			t.Errorf("%s: %q starts %q, approved are %q", shell[0], lines[i].Text, argv, programs(lines[i]))
		}
		if want := expected(lines[i]); len(got) < want {
			c.missing += want - len(got)
		}
	}
}

// unapproved is a program that a line must not have started, nil when there is none.
func unapproved(l command.Line, got [][]string) []string {
	approved := programs(l)
	for _, argv := range got {
		if !slices.ContainsFunc(approved, func(a []string) bool { return same(a, argv) }) {
			return argv
		}
	}
	return nil
}

func same(approved, argv []string) bool {
	if len(argv) == 2 && argv[1] == "\x00only the name" {
		return approved[0] == argv[0]
	}
	return slices.Equal(approved, argv)
}

func programs(l command.Line) (all [][]string) {
	for _, p := range l.Plain {
		for _, prog := range p.Programs {
			all = append(all, prog.Argv)
		}
	}
	return all
}

// expected is how many programs a line starts, by the exit codes of trace.sh.
func expected(l command.Line) int {
	n, failed := 0, false
	for _, p := range l.Plain {
		if p.When == command.IfOK && failed || p.When == command.IfFailed && !failed {
			continue
		}
		n += len(p.Programs)
		last := p.Programs[len(p.Programs)-1].Argv[0]
		failed = !slices.Contains([]string{"ls", "rm", "cat", "sh", "id", "x", "e", "echo", "true"}, last)
	}
	return n
}
