package command_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"klawbot/tools/exec/command"
)

// corpusLine is a line of testdata/commands.jsonl.
type corpusLine struct {
	ID, Command, Expect, Class, Why string
	Doubtful                        bool
	Policy                          struct {
		Mode  string
		Allow []string
	}
}

// corpus reads the lines.
func corpus(t testing.TB) []corpusLine {
	t.Helper()
	file, err := os.Open("testdata/commands.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []corpusLine
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l corpusLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	if lines.Err() != nil || len(all) < 300 {
		t.Fatalf("%d lines: %v", len(all), lines.Err())
	}
	return all
}

// patterns makes patterns.
func patterns(t testing.TB, texts ...string) []command.Pattern {
	t.Helper()
	var all []command.Pattern
	for _, text := range texts {
		p, err := command.NewPattern(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// allows reports whether patterns allow every program of a plain line, and the
// first that they do not.
func allows(line []command.Pipeline, all []command.Pattern) (ok bool, refused []string) {
	for _, l := range line {
		for i, prog := range l.Programs {
			if !slices.ContainsFunc(all, func(p command.Pattern) bool { return p.Allows(prog.Argv, i > 0) }) {
				return false, prog.Argv
			}
		}
	}
	return len(line) > 0, nil
}

// TestCorpus holds every line against the rules of its mode.
func TestCorpus(t *testing.T) {
	for _, c := range corpus(t) {
		t.Run(c.ID, func(t *testing.T) {
			line, err := command.Parse(c.Command)
			runs, why := err == nil && line.Blocked == "", line.Blocked
			if err != nil {
				why = err.Error()
			}
			switch c.Policy.Mode {
			case "deny":
				runs = false
			case "allowlist":
				ok, refused := allows(line.Plain, patterns(t, c.Policy.Allow...))
				runs = runs && ok
				t.Logf("more %q, refused %q", line.More, refused)
			}
			if c.Expect == "either" || runs == (c.Expect == "allow") {
				return
			}
			say := t.Errorf
			if c.Doubtful {
				say = t.Logf
			}
			say("doubtful %v: %q with %q is to be %s (%s: %s), runs %v: %s", c.Doubtful, c.Command, c.Policy.Allow, c.Expect, c.Class, c.Why, runs, why)
		})
	}
}
