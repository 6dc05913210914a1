package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestErrorsAreExplained wants the manual to explain every error of install.sh, every
// sentence that a chat reads instead of an answer because of the model, and every error
// with a name of the command line.
func TestErrorsAreExplained(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	explained := func(page, text string) {
		t.Helper()
		if !strings.Contains(page, text) {
			t.Errorf("no page explains %q", text)
		}
	}
	trouble := page(t, "troubleshooting.md")
	fails := regexp.MustCompile(`fail "([^"]+)"`).FindAllStringSubmatch(read("packaging/install.sh"), -1)
	for _, f := range fails {
		explained(trouble, literal(f[1], `\$\(.*|\$\w+(?:/\$\w+)?|[.:,]`))
	}
	english := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\s+(\w+):\s+"((?:[^"\\]|\\.)+)"`).FindAllStringSubmatch(read("engine/internal/locale/english.go"), -1) {
		english[m[1]] = m[2]
	}
	_, body, _ := strings.Cut(read("engine/internal/locale/locale.go"), "\nfunc ModelError(")
	body, _, _ = strings.Cut(body, "\n}\n")
	names := regexp.MustCompile(`Say\(language, (\w+)`).FindAllStringSubmatch(body, -1)
	for _, n := range names {
		explained(page(t, "telegram.md"), literal(english[n[1]], `%s|'|\.`))
	}
	all := strings.Join(slices.Collect(maps.Values(manualPages(t))), "\n")
	bot := "cmd/klawbot/internal/bot/"
	named := regexp.MustCompile(`(?m)^var Err\w+ = errors\.New\("([^";:]+)`).FindAllStringSubmatch(read(bot+"socket.go")+read(bot+"waiting.go"), -1)
	for _, n := range named {
		explained(all, n[1])
	}
	if len(fails) < 10 || len(names) < 10 || len(named) != 3 {
		t.Errorf("only %d, %d and %d errors were found", len(fails), len(names), len(named))
	}
}

// literal is the first part of a text that is longer than a word or two, between the parts
// that vary.
func literal(text, varies string) string {
	parts := regexp.MustCompile(varies).Split(text, -1)
	i := slices.IndexFunc(parts, func(p string) bool { return len(strings.TrimSpace(p)) > 5 })
	return strings.TrimSpace(parts[max(i, 0)])
}
