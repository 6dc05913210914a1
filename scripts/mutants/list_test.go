package main

import (
	"bytes"
	"os"
	"path/filepath"
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
	}
}
