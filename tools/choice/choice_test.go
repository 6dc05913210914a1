package choice_test

import (
	"strings"
	"testing"
	"time"

	"klawbot/tools/choice"
)

func TestScore(t *testing.T) {
	for _, c := range []struct {
		words, text string
		want        float64
	}{
		{"commit", "please commit this", 1},
		{"commit", "I committed it, he commits, they are committing", 1},
		{"commit", "a commitment", 0},
		{"commit*", "a commitment", 1},
		{"convert", "converting photos", 1},
		{"закоммит*", "Закоммить изменения", 1},
		{"отчет*", "покажи отчёты", 1},
		{"don't forget", "Don’t you forget it", 1.5},
		{"disk space", "how much space is left on the disk?", 0},
		{"disk space", "space on the disk", 1.5},
		{"push it|them", "push them", 1.5},
		{"push it|them", "push the button", 0},
		{"push, branch*", "push the branches", 2},
		{"run <file>", "run backup.sh!", 1.5},
		{"run <file>", "run https://example.com/backup.sh", 0},
		{"<url>", "look at www.example.com, it is down", 1},
		{"<url>", "look at (https://example.com/a.b?c=d)", 1},
		{"<url>", "at 10.30, and/or tomorrow, e.g. now", 0},
		{"<file>", "at 10.30, and/or tomorrow, e.g. version 1.2", 0},
		{"<file>", "what is in photos/?", 1},
		{"memory.md", "open MEMORY.md", 1},
		{"git", "g i t, digit, gitter", 0},
		{"the the", "the", 0},
		{"git", "", 0},
		{"git", "\x00\xff git \u202e", 1},
		{"推送", "推送", 1},
	} {
		words, err := choice.ParseWords(c.words)
		if err != nil {
			t.Fatal(err)
		}
		if got := words.Score(choice.Read(c.text)); got != c.want {
			t.Errorf("%q in %q: %v, want %v", c.words, c.text, got, c.want)
		}
	}
}

func TestWordsThatAreNone(t *testing.T) {
	for _, list := range []string{"", "a,,b", "*", "a*", "ab|", "a*b", "|"} {
		if words, err := choice.ParseWords(list); err == nil {
			t.Errorf("%q is %v", list, words)
		}
	}
}

// TestLongTexts: what was pasted between the beginning and the end of a long message
// asks for nothing, and costs nothing.
func TestLongTexts(t *testing.T) {
	words, err := choice.ParseWords("commit, push it")
	if err != nil {
		t.Fatal(err)
	}
	pasted := strings.Repeat("commit it and push it. ", 100_000)
	began := time.Now()
	if got := words.Score(choice.Read(strings.Repeat("word ", 40) + pasted + strings.Repeat(" word", 40))); got != 0 {
		t.Errorf("the middle counts: %v", got)
	}
	if got := words.Score(choice.Read(strings.Repeat("x", 5<<20))); got != 0 {
		t.Errorf("no word counts: %v", got)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it takes %s", took)
	}
	if got := words.Score(choice.Read(pasted + "please commit")); got == 0 {
		t.Error("the end does not count")
	}
}
