package plugin

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSlowPluginCachePerFileAndSandbox(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 5, time.UTC)
	f := file{name: "p", size: 7, modified: now.Add(-time.Hour).Local(), changed: syscall.NsecToTimespec(now.Add(-time.Minute).UnixNano())}
	kept := slowPlugins{"p": {Size: f.size, Modified: f.modified, Changed: f.ctime(), Sandbox: "box", Asked: now, Fault: "hangs"}}
	name := filepath.Join(t.TempDir(), "plugins.json")
	if err := kept.write(name); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	const fault = "hangs; it is asked again when the file changes (touch it)"
	for what, tt := range map[string]struct {
		change  func(*file)
		sandbox string
		later   time.Duration
		want    string
	}{
		"the same":        {func(*file) {}, "box", time.Hour, fault},
		"another name":    {func(f *file) { f.name = "q" }, "box", time.Hour, ""},
		"another size":    {func(f *file) { f.size++ }, "box", time.Hour, ""},
		"written":         {func(f *file) { f.modified = now }, "box", time.Hour, ""},
		"touched":         {func(f *file) { f.changed.Nsec++ }, "box", time.Hour, ""},
		"another sandbox": {func(*file) {}, "box 2", time.Hour, ""},
		"the day after":   {func(*file) {}, "box", 25 * time.Hour, ""},
		"before it was":   {func(*file) {}, "box", -time.Second, ""},
	} {
		f := f
		tt.change(&f)
		if got := readSlow(name).fault(f, tt.sandbox, now.Add(tt.later)); got != tt.want {
			t.Errorf("%s: %q, want %q", what, got, tt.want)
		}
	}
}

func TestBrokenSlowPluginCache(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "plugins.json")
	for what, text := range map[string]string{"no JSON": "{", "something else": "[1]", "null": "null"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slowPlugins{}, readSlow(name)); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	if err := (slowPlugins{}).write(name); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(slowPlugins{}, readSlow(name)); diff != "" {
		t.Error(diff)
	}
	if err := (slowPlugins{"p": {}}).write(filepath.Join(dir, "none", "plugins.json")); err == nil {
		t.Error("it was written into no folder")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
