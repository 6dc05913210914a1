package program_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/internal/program"
)

// TestFindNoticesInstalling installs a program between two questions for it.
func TestFindNoticesInstalling(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	synctest.Test(t, func(t *testing.T) {
		if found := program.Find("tool"); found != "" {
			t.Fatalf("found %q before there was anything", found)
		}
		path := filepath.Join(dir, "tool")
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // no time passes outside
		if found := program.Find("tool"); found != path {
			t.Errorf("found %q, want %q", found, path)
		}
		t.Setenv("PATH", t.TempDir())
		if found := program.Find("tool"); found != "" {
			t.Errorf("found %q where it is not", found)
		}
	})
}
