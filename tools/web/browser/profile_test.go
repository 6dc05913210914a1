package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestSweep takes the folders of the dead, whatever the ids of processes say,
// and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	living, err := makeHome()
	if err != nil {
		t.Fatal(err)
	}
	defer living.wipe()
	// A bot in a container has the id of the one before it.
	dead := filepath.Join(dir, fmt.Sprintf("%s%d-1", homePrefix, os.Getpid()))
	other := filepath.Join(dir, "other")
	for _, name := range []string{dead + "/profile/Default", other} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{dead + "/profile/Default/Cookies", other + "/kept", filepath.Join(dir, homePrefix+"file")} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, homePrefix+"2-link")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	sweep(dir)
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{living.dir, filepath.Join(dir, homePrefix+"file"), link, other}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left: %q, want %q", left, want)
	}
	if _, err := os.Stat(other + "/kept"); err != nil {
		t.Error(err)
	}
}
