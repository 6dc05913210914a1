package command

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Files that no command may touch.
var (
	secretFile = regexp.MustCompile(`(^|[^\w.-])/etc/(passwd|shadow|gshadow)(-|$|[^\w.-])`)
	secretProc = regexp.MustCompile(`/proc/[^/]+(/task/[^/]+)?/environ`)
	secretKeys = regexp.MustCompile(`(^|[/=:@,'"({\s~` + unknown + `])\.ssh(/|$|[\s'")},:])`)
	secretPod  = regexp.MustCompile(`/run/secrets/kubernetes\.io(/|$)`)
)

// sensitive names the sensitive file that a word touches, or "".
func sensitive(text string, pattern bool) string {
	for _, t := range []string{text, cleaned(text)} {
		switch {
		case secretFile.MatchString(t):
			return "a file of passwords"
		case secretProc.MatchString(t):
			return "the environment of a process"
		case secretKeys.MatchString(t):
			return "a directory .ssh"
		case secretPod.MatchString(t):
			return "the token of a container"
		}
	}
	if pattern {
		for _, name := range []string{"/etc/passwd", "/etc/shadow", "/proc/self/environ", "/root/.ssh", ".ssh"} {
			if hit, err := path.Match(text, name); err == nil && hit && strings.Trim(text, "*?/") != "" {
				return "a sensitive file by a pattern"
			}
		}
	}
	return ""
}

// cleaned is a text as a path without detours. One that leads upwards is taken
// for one that leads up to the root.
func cleaned(text string) string {
	if i := strings.LastIndexAny(text, "=:@"); i >= 0 && strings.Contains(text[i+1:], "/") {
		text = text[i+1:]
	}
	if !strings.Contains(text, "/") {
		return text
	}
	text = path.Clean(text)
	for {
		rest, up := strings.CutPrefix(text, "../")
		if !up {
			return text
		}
		if text = rest; !strings.HasPrefix(text, "../") {
			return "/" + text
		}
	}
}

// globbed reports whether a word has an unquoted pattern of file names.
func globbed(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		lit, is := p.(*syntax.Lit)
		return is && strings.ContainsAny(lit.Value, "*?[")
	})
}

// searchers are programs whose first operand is what they look for.
var searchers = []string{"grep", "egrep", "fgrep", "rg", "ag", "ack"}

// onlyText reports whether a word of a line is text that its command does not
// take for a file: what is searched for, or what is shown and goes nowhere.
func onlyText(tree syntax.Node, w *syntax.Word) bool {
	file, is := tree.(*syntax.File)
	if !is || len(file.Stmts) != 1 {
		return false
	}
	c, is := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !is || len(c.Args) < 2 {
		return false
	}
	switch name := word(c.Args[0]); {
	case name == "echo" || name == "printf":
		return slices.Contains(c.Args, w)
	case slices.Contains(searchers, name):
		for _, a := range c.Args[1:] {
			if t := word(a); !strings.HasPrefix(t, "-") {
				return a == w
			} else if strings.HasPrefix(t, "-f") || strings.HasPrefix(t, "-e") || strings.HasPrefix(t, "--") {
				return false
			}
		}
	}
	return false
}
