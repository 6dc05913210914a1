package command

import (
	"strings"
	"testing"
	"time"
)

// TestPatternsAreComparedOnce: what the owner allows is compared in time that
// grows with the command, with as many stars as a pattern has.
func TestPatternsAreComparedOnce(t *testing.T) {
	var all []Pattern
	for _, text := range []string{
		"ls " + strings.Repeat("*a", 400) + "b", "ls " + strings.Repeat("* ", 400), "ls " + strings.Repeat("*aaaaaaaaab", 80), "sed *", "awk *", "git *", "python3 *", "find *", "curl *",
		"sqlite3 * " + strings.Repeat("a ", 100), "*",
	} {
		p, err := NewPattern(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	for _, program := range []string{"ls", "sed", "awk", "git", "python3", "find", "curl", "sqlite3", "sh", "env"} {
		for _, arg := range []string{strings.Repeat("a", 4000), strings.Repeat("aaaaaaaaa", 400), strings.Repeat("s/a/b/;", 500), strings.Repeat("../", 1000), strings.Repeat("-", 4000)} {
			argv := append([]string{program, arg}, strings.Split(strings.Repeat("a ", 2000), " ")...)
			begun := time.Now()
			for _, p := range all {
				p.Allows(argv, true)
				p.Allows([]string{program, arg}, false)
			}
			if took := time.Since(begun); took > 30*time.Second {
				t.Errorf("%s %.10s…: %s", program, arg, took)
			}
		}
	}
}
