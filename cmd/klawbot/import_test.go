package main

import (
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// TestImportLeavesNoHalfFile breaks an archive off in the middle of a file. What
// was read of it must not be in the way of the next try.
func TestImportLeavesNoHalfFile(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	broken := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if added, err := addFile(root, "notes/a.md", broken, 0o600); added || err == nil {
		t.Errorf("added %v, error %v", added, err)
	}
	if added, err := addFile(root, "notes/a.md", strings.NewReader("whole"), 0o600); !added || err != nil {
		t.Errorf("added %v, error %v", added, err)
	}
	if text, err := fs.ReadFile(root.FS(), "notes/a.md"); string(text) != "whole" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
