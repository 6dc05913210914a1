package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestList wants every guard to stand where the list says, so that who moves one
// learns of it at once.
func TestList(t *testing.T) {
	if len(mutants) == 0 {
		t.Error("no mutants")
	}
	for _, m := range mutants {
		content, err := os.ReadFile(filepath.Join("../..", m.file))
		if n := bytes.Count(content, []byte(m.old)); err != nil || n != 1 {
			t.Errorf("%s: %s stands there %d times, %v", m.file, m.old, n, err)
		}
		tested, run, elsewhere := strings.Cut(m.run, ": ")
		if !elsewhere {
			tested, run = filepath.Dir(m.file), m.run
		}
		matches := regexp.MustCompile("(?m)^func (" + strings.ReplaceAll(run, "|", `\(|`) + `\()`)
		if !matches.Match(testsOf(t, tested)) {
			t.Errorf("%s: the package %s has no test %s", m.file, tested, run)
		}
	}
}

// testsOf is the text of the tests of a package.
func testsOf(t *testing.T, dir string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}
