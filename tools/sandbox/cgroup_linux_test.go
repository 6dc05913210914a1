package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSweepLeavesTheGroupsOfOthers: a group is empty until its command enters.
func TestSweepLeavesTheGroupsOfOthers(t *testing.T) {
	parent := t.TempDir()
	old, young := filepath.Join(parent, newRun()), filepath.Join(parent, newRun())
	for _, dir := range []string{old, young} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	made := time.Now().Add(-2 * entered)
	if err := os.Chtimes(old, made, made); err != nil {
		t.Fatal(err)
	}
	(&cgroups{unified: parent}).sweep()
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the group of a bot that was killed stays: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("a group that is about to be entered is gone: %v", err)
	}
}
