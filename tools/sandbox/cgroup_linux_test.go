package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
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

// TestGroupOfVersion2 checks what would be told a kernel with cgroup v2, and
// reads what it would answer.
func TestGroupOfVersion2(t *testing.T) {
	c := &cgroups{unified: t.TempDir()}
	g, err := c.make(newRun(), Limits{MemoryMB: 100, CPUs: 0.5, Pids: 7}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"memory.max": "104857600", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": strconv.Itoa(7 + ownProcesses), "cpu.max": "50000 100000",
	} {
		file := filepath.Join(g.dirs[0], name)
		if err := os.Chmod(file, 0o600); err != nil { // a kernel's file has its own mode
			t.Fatal(err)
		}
		if text, err := os.ReadFile(file); string(text) != want {
			t.Errorf("%s is %q, want %q, %v", name, text, want, err)
		}
	}
	if len(g.join) != 1 || filepath.Base(g.join[0]) != "cgroup.procs" || c.version() != "v2" {
		t.Errorf("%+v", g)
	}
	for events, want := range map[string]bool{"low 0\noom 1\noom_kill 1\n": true, "low 3\noom 1\noom_kill 0\n": false} {
		if err := os.WriteFile(filepath.Join(g.dirs[0], "memory.events"), []byte(events), 0o600); err != nil {
			t.Fatal(err)
		}
		if g.killed() != want {
			t.Errorf("%q", events)
		}
	}
}
