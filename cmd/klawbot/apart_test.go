package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorkspaceHoldsNoConfiguration: what a tool writes must never be read as
// the owner's word.
func TestWorkspaceHoldsNoConfiguration(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "data", "workspace"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home, filepath.Join(home, "data", "link")); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(home, "data")
	for _, c := range []struct{ workspace, config, want string }{
		{"data/workspace", "data/config.yaml", ""},
		{"files", "data/config.yaml", ""},
		{"files", "files-evil/config.yaml", ""},
		{"data", "etc/config.yaml", "holds the data folder"},
		{"", "etc/config.yaml", "holds the data folder"},
		{"data/link", "etc/config.yaml", "holds the data folder"},
		{"files", "files/config.yaml", "holds the configuration"},
		{"files", "files/sub/config.yaml", "holds the configuration"},
	} {
		f := folders{data: data, workspace: filepath.Join(home, c.workspace)}
		err := f.apart(filepath.Join(home, c.config))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
