package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"klawbot/doc"
)

// manualPages are the README and the pages of the manual by their names.
func manualPages(t *testing.T) map[string]string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"README.md": string(readme)}
	err = fs.WalkDir(doc.FS, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(name) == ".md" {
			all[name] = page(t, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	codeBlock = regexp.MustCompile("(?s)```.*?```")
	codeSpan  = regexp.MustCompile("`([^`\n]+)`")
	// programCall finds the program in a line: alone, by its path, as another user, in a
	// container.
	programCall = regexp.MustCompile(`^(?:\$ )?(?:sudo )?(?:-u \w+ )?(?:env )?(?:[A-Z_]+=\S+ )*(?:docker compose (?:exec|run --rm) )?(?:echo [^|]* \| )?(?:\./bin/)?klawbot (?:klawbot )?([a-z].*)$`)
	substitute  = regexp.MustCompile(`\$\([^)]*\)`)
	groupID     = regexp.MustCompile(`^-\d+$`)
	makeCall    = regexp.MustCompile(`^(?:\$ )?(?:sudo )?make ([a-z-]+)`)
)

// commandsIn are the lines of a page that a reader can type: code spans, code blocks and
// lines that are indented as code.
func commandsIn(text string) []string {
	var lines []string
	text = strings.ReplaceAll(text, "\\\n", " ")
	for _, block := range codeBlock.FindAllString(text, -1) {
		lines = append(lines, strings.Split(block, "\n")...)
	}
	text = codeBlock.ReplaceAllString(text, "")
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "    ") {
			lines = append(lines, line)
		}
	}
	for _, span := range codeSpan.FindAllStringSubmatch(text, -1) {
		lines = append(lines, span[1])
	}
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return lines
}

// words splits a command line as a shell does, as far as the manual's go. It ends at
// what belongs to the shell: a pipe, a comment, another command.
func words(line string) (all []string, typed bool) {
	line = substitute.ReplaceAllString(line, "X")
	var word strings.Builder
	quote, begun := rune(0), false
	end := func() {
		if begun {
			all = append(all, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ':
			end()
		case r == '|' || r == ';' || r == '>' || r == '<' || r == '&' || r == '#' && !begun:
			end()
			return all, true
		case r == '…' || r == '[' || r == ']' || r == '\\': // a form, not a command
			return nil, false
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	end()
	return all, quote == 0
}

// TestManualCommandsAreTrue wants every command line of klawbot in the README and the
// manual to be one that this program takes: the command, its flags, the number of its
// arguments. Every target of make must exist.
func TestManualCommandsAreTrue(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for name, text := range manualPages(t) {
		for _, line := range commandsIn(text) {
			if m := makeCall.FindStringSubmatch(line); m != nil && !strings.Contains(string(makefile), "\n"+m[1]+":") {
				t.Errorf("%s: %s: there is no such target", name, line)
			}
			m := programCall.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			args, typed := words(m[1])
			if !typed {
				continue
			}
			checked++
			if fault := takesLine(args); fault != nil {
				t.Errorf("%s: klawbot %s: %v", name, m[1], fault)
			}
		}
	}
	if checked < 150 {
		t.Errorf("only %d command lines were found", checked)
	}
}

// takesLine says why the program doesn't take a command line. It runs nothing.
func takesLine(args []string) error {
	root := newApp(nil, strings.NewReader(""), &strings.Builder{}, &strings.Builder{}).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for i, arg := range args {
		args[i] = groupID.ReplaceAllString(arg, "1") // main takes them for numbers, too
	}
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	if cmd.DisableFlagParsing {
		return nil
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if len(cmd.Flags().Args()) == 0 {
		return nil // the command alone, as texts name it
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

var (
	errorCell = regexp.MustCompile("(?m)^\\| (`[^|]+`(?:[^|]*)) \\|")
	// outside are errors of Telegram, the shell and the C library.
	outside = []string{"401 Unauthorized", "409 Conflict", "GLIBC_2.34 not found", "klawbot: command not found"}
)

// TestTroubleshootingQuotesRealErrors wants every error that the page explains to be one
// that the program or install.sh prints.
func TestTroubleshootingQuotesRealErrors(t *testing.T) {
	source := sourceText(t)
	checked := 0
	for _, cell := range errorCell.FindAllStringSubmatch(page(t, "troubleshooting.md"), -1) {
		for _, span := range codeSpan.FindAllStringSubmatch(cell[1], -1) {
			if slices.Contains(outside, span[1]) {
				continue
			}
			for _, part := range strings.Split(span[1], "…") {
				part = strings.Trim(part, " ;")
				checked++
				if !strings.Contains(source, part) {
					t.Errorf("nothing prints %q", part)
				}
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d errors were found", checked)
	}
}

// sourceText is the source of the program, without tests, and install.sh. Where a text
// is made of values, %s and $to stand for the value.
func sourceText(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	root := filepath.Join("..", "..")
	for _, dir := range []string{"cmd", "engine", "gateway", "internal", "tools", "whitelist", "packaging"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.HasSuffix(name, "_test.go") || filepath.Ext(name) != ".go" && filepath.Ext(name) != ".sh" {
				return err
			}
			text, err := os.ReadFile(name)
			all.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return strings.NewReplacer("$to", "/usr/local/bin", "$1", "SHA256SUMS").Replace(all.String())
}

// TestUnitIsTheManuals: the unit of the package is the one that the manual shows.
func TestUnitIsTheManuals(t *testing.T) {
	unit, err := os.ReadFile(filepath.Join("..", "..", "packaging", "klawbot.service"))
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, line := range strings.Split(page(t, "systemd.md"), "\n") {
		shown = append(shown, strings.TrimSpace(line))
	}
	if !strings.Contains(strings.Join(shown, "\n"), strings.TrimSpace(string(unit))) {
		t.Error("systemd.md shows another unit than packaging/klawbot.service")
	}
}
