package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"klawbot/doc"
)

// page is a page of the manual.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(doc.FS, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	commandHeading = regexp.MustCompile(`(?m)^### (.+)$`)
	flagName       = regexp.MustCompile(`(?:(-[a-z]), )?(--[a-z][a-z-]*)`)
)

// TestManualHasEveryCommand wants a section of commands.md for each command,
// which names its subcommands and all their flags.
func TestManualHasEveryCommand(t *testing.T) {
	manual := page(t, "commands.md")
	sections := map[string]string{}
	heads := commandHeading.FindAllStringSubmatchIndex(manual, -1)
	for i, h := range heads {
		end := len(manual)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		for _, name := range strings.FieldsFunc(manual[h[2]:h[3]], func(r rune) bool { return r == ' ' || r == ',' }) {
			sections[name] = manual[h[0]:end]
		}
	}
	a := newApp(nil, strings.NewReader(""), &strings.Builder{}, &strings.Builder{})
	for _, cmd := range a.root().Commands() {
		section := sections[cmd.Name()]
		if section == "" {
			t.Errorf("commands.md has no section %s", cmd.Name())
			continue
		}
		describes(t, section, cmd)
	}
}

// describes wants the section to tell of the command, what is below it, and
// their flags. What cobra adds by itself needs no words.
func describes(t *testing.T, section string, cmd *cobra.Command) {
	t.Helper()
	if !strings.Contains(section, cmd.Name()) {
		t.Errorf("commands.md does not tell of %s", cmd.CommandPath())
	}
	if cmd.Name() == "completion" {
		return
	}
	for _, flag := range flagName.FindAllStringSubmatch(cmd.LocalNonPersistentFlags().FlagUsages(), -1) {
		short, long := flag[1], flag[2]
		if long != "--help" && !strings.Contains(section, long) && (short == "" || !strings.Contains(section, short+" ") && !strings.Contains(section, short+"`")) {
			t.Errorf("commands.md does not tell of %s %s", cmd.CommandPath(), long)
		}
	}
	for _, sub := range cmd.Commands() {
		describes(t, section, sub)
	}
}

// TestManualNamesACommandOnce looks for rows of a table that tell of the same
// command of the chat twice.
func TestManualNamesACommandOnce(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| (`/[^|]+) \\|").FindAllStringSubmatch(page(t, "commands.md"), -1)
	if len(rows) < 20 {
		t.Fatalf("only %d rows", len(rows))
	}
	seen := map[string]bool{}
	for _, row := range rows {
		if seen[row[1]] {
			t.Errorf("%s is described twice", row[1])
		}
		seen[row[1]] = true
	}
}

// TestManualHasEveryPackageAndTarget compares the page for developers with the
// table of packages and with what make help lists.
func TestManualHasEveryPackageAndTarget(t *testing.T) {
	manual := page(t, "development.md")
	_, layout, _ := strings.Cut(manual, "```\n")
	layout, _, _ = strings.Cut(layout, "```\n")
	for name := range allowed {
		own := strings.Contains(layout, "\n"+name+"/ ") || strings.HasPrefix(layout, name+"/ ")
		_, below, _ := strings.Cut(layout, "\n"+path.Dir(name)+"/ ")
		below = nextPackage.Split(below, 2)[0]
		if !own && !strings.Contains(strings.ReplaceAll(below, ",", " "), " "+path.Base(name)+"/ ") {
			t.Errorf("development.md does not say what %s is", name)
		}
	}
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range makeTarget.FindAllStringSubmatch(string(makefile), -1) {
		if !regexp.MustCompile("`make " + target[1] + "[` ]").MatchString(manual) {
			t.Errorf("development.md does not tell of make %s", target[1])
		}
	}
}

// TestArchitectureIsTrue wants every function that the page follows a message through.
func TestArchitectureIsTrue(t *testing.T) {
	steps := regexp.MustCompile("(?m)^\\| [^|]+ \\| `([^`]+\\.go)` \\| `(\\w+)` \\|$").FindAllStringSubmatch(page(t, "architecture.md"), -1)
	if len(steps) < 20 {
		t.Fatalf("only %d steps", len(steps))
	}
	for _, step := range steps {
		code, err := os.ReadFile(filepath.Join("..", "..", step[1]))
		if err != nil || !regexp.MustCompile(`(?m)^func (\([^)]*\) )?`+step[2]+`\(`).Match(code) {
			t.Errorf("%s has no function %s, %v", step[1], step[2], err)
		}
	}
}

var (
	nextPackage = regexp.MustCompile(`\n\S`)
	makeTarget  = regexp.MustCompile(`(?m)^([a-z-]+):.* ## `)
)

// TestVersion wants the release, known to the changelog, in every version.
func TestVersion(t *testing.T) {
	for described, want := range map[string]string{
		"": "0.1.0", "dev": "0.1.0", "v0.1.0": "0.1.0", "v0.1.0-dirty": "0.1.0+dirty",
		"v0.1.0-3-gabcdef0": "0.1.0+3-gabcdef0", "abcdef0-dirty": "0.1.0+abcdef0-dirty",
	} {
		if got := versionOf(described); got != want {
			t.Errorf("%q gives %s, want %s", described, got, want)
		}
	}
	changes, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(changes), "\n## ["+release+"]") {
		t.Errorf("CHANGELOG.md does not say what is in %s", release)
	}
}
