package command

import (
	"strings"
	"testing"
	"time"

	"klawbot/tools/budget"
)

// growing are lines whose check would grow faster than they do: with what runs
// in what runs, taken apart once for every way that leads there.
var growing = map[string]func(n int) string{
	"eval":               func(n int) string { return strings.Repeat("eval ", n) + "ls" },
	"find -exec":         func(n int) string { return strings.Repeat("find -exec ", n) + "ls" },
	"find of find":       func(n int) string { return strings.Repeat("find . -exec find ", n) + "-exec ls" },
	"env":                func(n int) string { return strings.Repeat("env ", n) + "ls" },
	"env with texts":     func(n int) string { return strings.Repeat("env ", n) + strings.Repeat("'a b' ", n) },
	"env rm":             func(n int) string { return strings.Repeat("env rm -rf ", n) + "x" },
	"command eval":       func(n int) string { return strings.Repeat("command eval ", n) + "ls" },
	"nohup nice timeout": func(n int) string { return strings.Repeat("nohup nice timeout 5 ", n) + "ls" },
	"xargs find":         func(n int) string { return strings.Repeat("xargs find -exec env ", n) + "ls" },
	"sh -c":              func(n int) string { return strings.Repeat("sh -c 'x y' ", n) },
	"flock sh -c":        func(n int) string { return strings.Repeat("flock -c ", n) + "'flock -c ls'" },
	"quoted eval": func(n int) string {
		return strings.Repeat(`eval "`, n%2) + strings.Repeat("eval a ", n) + strings.Repeat(`"`, n%2)
	},
	"substitution":      func(n int) string { return strings.Repeat("$(", n) + "ls" + strings.Repeat(")", n) },
	"eval substitution": func(n int) string { return strings.Repeat("eval $(", n) + "ls" + strings.Repeat(")", n) },
	"in double quotes":  func(n int) string { return strings.Repeat(`"$(`, n) + "ls" + strings.Repeat(`)"`, n) },
	"process":           func(n int) string { return strings.Repeat("sh <(", n) + "ls" + strings.Repeat(")", n) },
	"parameter":         func(n int) string { return strings.Repeat("${a:-", n) + "x" + strings.Repeat("}", n) },
	"pipes into sh":     func(n int) string { return "echo ls" + strings.Repeat("|sh", n) },
	"pipes in a pipe":   func(n int) string { return `echo "echo ls` + strings.Repeat("|sh", n) + `"` + strings.Repeat("|sh", n) },
	"here-documents": func(n int) string {
		return "sh " + strings.Repeat("<<a ", n) + "\n" + strings.Repeat("eval ls\na\n", n)
	},
	"here-strings":      func(n int) string { return "sh " + strings.Repeat("<<<'eval ls' ", n) },
	"functions":         func(n int) string { return strings.Repeat("f(){ ", n) + "f|f&" + strings.Repeat(";}", n) },
	"recursion":         func(n int) string { return strings.Repeat("f(){ f; };", n) + "f" },
	"aliases":           func(n int) string { return strings.Repeat("alias ls='eval ls';", n) + "ls" },
	"braces":            func(n int) string { return "echo " + strings.Repeat("{a,b}", n) },
	"parentheses":       func(n int) string { return strings.Repeat("(", n) + "ls" + strings.Repeat(")", n) },
	"extended patterns": func(n int) string { return "ls " + strings.Repeat("@(", n) + "a" + strings.Repeat(")", n) },
	"questions":         func(n int) string { return "ls " + strings.Repeat("?", n) },
	"upwards":           func(n int) string { return "ls " + strings.Repeat("../", n) + "etc/passwd" },
	"cd and scripts":    func(n int) string { return strings.Repeat("cd a;sh b;", n) },
	"assignments":       func(n int) string { return strings.Repeat("a=eval ", n) + "ls" },
	"comments":          func(n int) string { return strings.Repeat("ls #\\\n", n) },
	"backslashes":       func(n int) string { return "eval " + strings.Repeat(`\\`, n) },
	"git -c":            func(n int) string { return "git " + strings.Repeat("-c a=b ", n) + "status" },
	"ifs":               func(n int) string { return strings.Repeat("if a;then ", n) + "a" + strings.Repeat(";fi", n) },
	"a long word":       func(n int) string { return "ls " + strings.Repeat("a", n) },
	"backquotes":        func(n int) string { return strings.Repeat("`a` ", n) },
	"ssh":               func(n int) string { return strings.Repeat("ssh h 'ssh h' ", n) },
}

// longest is the longest line of a kind that is a command line at all.
func longest(line func(int) string) string {
	n := MaxBytes
	for len(line(n)) > MaxBytes {
		n = n * 9 / 10
	}
	return line(n)
}

func TestCheckOfCommandsIsBounded(t *testing.T) {
	for name, line := range growing {
		t.Run(name, func(t *testing.T) {
			for _, text := range []string{line(10), line(40), longest(line)} {
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, _ = Parse(text)
				}()
				select {
				case <-done:
				case <-time.After(30 * time.Second):
					t.Fatalf("%d bytes are still being checked after half a minute: %.60s…", len(text), text)
				}
			}
		})
	}
}

// TestStepsGrowWithTheLine: however a line is built, it is checked within steps
// that grow with its length, or is too complex, and no work goes uncounted.
func TestStepsGrowWithTheLine(t *testing.T) {
	for name, line := range growing {
		for _, n := range []int{20, 40, 80, 160, 320} {
			text := line(n)
			if len(text) > MaxBytes {
				break
			}
			steps, begun := budget.For(len(text)), time.Now()
			l, err := parseWithin(text, steps)
			if err != nil {
				continue
			}
			if l.TooComplex != steps.Spent() || l.TooComplex && (l.Plain != nil || l.More == "") {
				t.Errorf("%s × %d: too complex: %v, spent: %v, plain: %v", name, n, l.TooComplex, steps.Spent(), l.Plain)
			}
			if took := time.Since(begun); took > 30*time.Second {
				t.Errorf("%s × %d: %d bytes took %s and %d steps", name, n, len(text), took, steps.Used())
			}
		}
	}
}

// TestNestedCommandsAreFound: what can be checked in time is, to its end.
func TestNestedCommandsAreFound(t *testing.T) {
	for name, text := range map[string]string{
		"eval":         strings.Repeat("eval ", 40) + "rm -rf /",
		"find":         strings.Repeat("find . -exec ", 20) + "rm -rf / ;",
		"find of root": "sudo find / -exec rm {} ;",
		"env":          strings.Repeat("env ", 200) + "rm -rf /",
		"nohup":        strings.Repeat("nohup nice timeout 5 ", 20) + "rm -rf ~",
		"six shells":   `sh -c "bash -c 'eval \"sh -c \\\"eval eval eval rm -rf /\\\"\"'"`,
		"substitution": strings.Repeat("echo $(", 100) + "rm -rf /" + strings.Repeat(")", 100),
		"pipes":        "echo 'rm -rf /'" + strings.Repeat("|sh", 100),
	} {
		if l, err := Parse(text); err != nil || l.Blocked == "" || l.TooComplex {
			t.Errorf("%s: blocked %q, too complex %v: %v", name, l.Blocked, l.TooComplex, err)
		}
	}
}

// TestOrdinaryLinesAreNotTooComplex: long lines that people write are checked.
func TestOrdinaryLinesAreNotTooComplex(t *testing.T) {
	for name, text := range map[string]string{
		"many words":     "docker run " + strings.Repeat("-e A=b ", 580),
		"a long script":  strings.Repeat("if [ -f a ]; then cp a b; fi\n", 140),
		"a long text":    "git commit -m '" + strings.Repeat("why it is so ", 300) + "'",
		"many pipes":     "cat a" + strings.Repeat(" | grep -v b", 100),
		"many steps":     strings.Repeat("cd a && make -C b && sh c.sh && ", 120) + "true",
		"a here-script":  "bash <<'END'\n" + strings.Repeat("sudo install -m 644 a /usr/share/b\n", 100) + "END",
		"many for xargs": "xargs -n 1 " + strings.Repeat("word ", 800),
		"ssh":            "ssh host '" + strings.Repeat("sudo systemctl restart a; ", 150) + "'",
	} {
		if l, err := Parse(text); err != nil || l.TooComplex {
			t.Errorf("%s: too complex %v: %v", name, l.TooComplex, err)
		}
	}
}
