package command

import (
	"strings"
	"testing"
	"time"
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
	"quoted eval":        func(n int) string { return strings.Repeat(`eval "`, n%2) + strings.Repeat("eval a ", n) + strings.Repeat(`"`, n%2) },
	"substitution":       func(n int) string { return strings.Repeat("$(", n) + "ls" + strings.Repeat(")", n) },
	"eval substitution":  func(n int) string { return strings.Repeat("eval $(", n) + "ls" + strings.Repeat(")", n) },
	"in double quotes":   func(n int) string { return strings.Repeat(`"$(`, n) + "ls" + strings.Repeat(`)"`, n) },
	"process":            func(n int) string { return strings.Repeat("sh <(", n) + "ls" + strings.Repeat(")", n) },
	"parameter":          func(n int) string { return strings.Repeat("${a:-", n) + "x" + strings.Repeat("}", n) },
	"pipes into sh":      func(n int) string { return "echo ls" + strings.Repeat("|sh", n) },
	"pipes in a pipe":    func(n int) string { return `echo "echo ls` + strings.Repeat("|sh", n) + `"` + strings.Repeat("|sh", n) },
	"here-documents":     func(n int) string { return "sh " + strings.Repeat("<<a ", n) + "\n" + strings.Repeat("eval ls\na\n", n) },
	"here-strings":       func(n int) string { return "sh " + strings.Repeat("<<<'eval ls' ", n) },
	"functions":          func(n int) string { return strings.Repeat("f(){ ", n) + "f|f&" + strings.Repeat(";}", n) },
	"recursion":          func(n int) string { return strings.Repeat("f(){ f; };", n) + "f" },
	"aliases":            func(n int) string { return strings.Repeat("alias ls='eval ls';", n) + "ls" },
	"braces":             func(n int) string { return "echo " + strings.Repeat("{a,b}", n) },
	"parentheses":        func(n int) string { return strings.Repeat("(", n) + "ls" + strings.Repeat(")", n) },
	"extended patterns":  func(n int) string { return "ls " + strings.Repeat("@(", n) + "a" + strings.Repeat(")", n) },
	"questions":          func(n int) string { return "ls " + strings.Repeat("?", n) },
	"upwards":            func(n int) string { return "ls " + strings.Repeat("../", n) + "etc/passwd" },
	"cd and scripts":     func(n int) string { return strings.Repeat("cd a;sh b;", n) },
	"assignments":        func(n int) string { return strings.Repeat("a=eval ", n) + "ls" },
	"comments":           func(n int) string { return strings.Repeat("ls #\\\n", n) },
	"backslashes":        func(n int) string { return "eval " + strings.Repeat(`\\`, n) },
	"git -c":             func(n int) string { return "git " + strings.Repeat("-c a=b ", n) + "status" },
	"ifs":                func(n int) string { return strings.Repeat("if a;then ", n) + "a" + strings.Repeat(";fi", n) },
	"a long word":        func(n int) string { return "ls " + strings.Repeat("a", n) },
	"backquotes":         func(n int) string { return strings.Repeat("`a` ", n) },
	"ssh":                func(n int) string { return strings.Repeat("ssh h 'ssh h' ", n) },
}

// longest is the longest line of a kind that is a command line at all.
func longest(line func(int) string) string {
	n := MaxBytes
	for len(line(n)) > MaxBytes {
		n = n * 9 / 10
	}
	return line(n)
}

func TestNoCommandIsCheckedForLong(t *testing.T) {
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
				case <-time.After(time.Second):
					t.Fatalf("%d bytes are still being checked after a second: %.60s…", len(text), text)
				}
			}
		})
	}
}
