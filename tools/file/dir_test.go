package file

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestOpenDirFollowsNoSwappedLink swaps a folder for a link to another one inside the
// root while openDir goes through it: it must open the folder or refuse.
func TestOpenDirFollowsNoSwappedLink(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"forbidden", "real"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	forbidden, err := root.Stat("forbidden")
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, step := range []func() error{
				func() error { return root.Rename("real", "aside") },
				func() error { return root.Symlink("forbidden", "real") },
				func() error { return root.Remove("real") },
				func() error { return root.Rename("aside", "real") },
			} {
				// openDir may have made the folder again; then the step fails.
				if err := step(); err != nil && root.RemoveAll("real") != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	opened := 0
	for range 40_000 {
		sub, err := openDir(root, "real", true)
		if err != nil {
			continue
		}
		opened++
		if info, err := sub.Stat("."); err != nil || os.SameFile(info, forbidden) {
			t.Errorf("openDir was led away: %v", err)
		}
		sub.Close()
	}
	close(stop)
	swapper.Wait()
	if opened == 0 {
		t.Error("openDir never opened anything")
	}
}
