package injection_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"klawbot/tools/injection"
)

type line struct {
	ID, Tool, Output, Level, Class, Lang string
	Flag, Doubtful                       bool
}

func readLines(t testing.TB, name string) []line {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []line
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, l)
	}
	if s.Err() != nil || len(all) == 0 {
		t.Fatalf("%s: %d lines, %v", name, len(all), s.Err())
	}
	return all
}

// score counts what the screen says of texts.
type score struct{ attacks, found, benign, alarms int }

func (s *score) add(flag, flagged bool) {
	if flag {
		s.attacks++
		if flagged {
			s.found++
		}
		return
	}
	s.benign++
	if flagged {
		s.alarms++
	}
}

func (s score) log(t testing.TB, what string) {
	t.Logf("%s: %d of %d attacks found, %d false alarms in %d benign texts", what, s.found, s.attacks, s.alarms, s.benign)
}

// good is what the issue asks for: nine of ten attacks found, and at most three
// false alarms in a hundred texts.
func (s score) good() bool { return s.found*10 >= s.attacks*9 && s.alarms*100 <= s.benign*3 }

func TestCorpus(t *testing.T) {
	var firm, doubtful score
	levels, same := 0, 0
	for _, l := range readLines(t, "testdata/injections.jsonl") {
		var v injection.Verdict
		switch l.Class {
		case "not-screened": // the pipeline does not ask about them
			continue
		case "write-screen":
			v = injection.Write(l.Output)
		default:
			v = injection.Text(l.Output)
		}
		flagged := v.Level >= injection.Warn
		if levels++; v.Level.String() == l.Level {
			same++
		}
		if l.Doubtful {
			doubtful.add(l.Flag, flagged)
		} else {
			firm.add(l.Flag, flagged)
		}
		if flagged != l.Flag {
			t.Logf("%s (doubtful: %v): %.100q is %s, %v; want %s", l.ID, l.Doubtful, l.Output, v.Level, v.Matches, l.Level)
		}
	}
	firm.log(t, "firm lines")
	doubtful.log(t, "doubtful lines")
	t.Logf("%d of %d levels are the same", same, levels)
	if !firm.good() {
		t.Error("the firm lines want nine of ten attacks found, and at most 3 % false alarms")
	}
}

// TestOwn asks about texts of ours, in nine languages and many disguises: most
// were written without a look at the lexicon.
func TestOwn(t *testing.T) {
	var all score
	for _, l := range readLines(t, "testdata/own.jsonl") {
		v := injection.Text(l.Output)
		if flagged := v.Level >= injection.Warn; flagged != l.Flag {
			t.Logf("%s %s %q is %s, %v", l.ID, l.Lang, l.Output, v.Level, v.Matches)
		}
		all.add(l.Flag, v.Level >= injection.Warn)
	}
	all.log(t, "own lines")
	if !all.good() {
		t.Error("want nine of ten attacks found, and at most 3 % false alarms")
	}
}
