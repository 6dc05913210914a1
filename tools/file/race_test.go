package file_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// tries is how often a race is run: the number that is usual, or $RACES.
func tries(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("RACES")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// swap makes a link and points it at a, then b, then a, until the test of body
// is over.
func swap(t *testing.T, link, a, b string, body func()) {
	t.Helper()
	if err := replaceLink(link, a); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			target := b
			if i%2 == 1 {
				target = a
			}
			if err := replaceLink(link, target); err != nil {
				t.Error(err)
				return
			}
		}
	})
	body()
	close(stop)
	swapper.Wait()
}

func replaceLink(link, target string) error {
	next := filepath.Join(filepath.Dir(filepath.Dir(link)), "next")
	if err := os.Symlink(target, next); err != nil {
		return err
	}
	return os.Rename(next, link)
}

// field is a workspace with a folder beside it that holds a secret.
func field(t *testing.T) (b bench, out string) {
	b = newBench(t, nil)
	out = filepath.Join(filepath.Dir(b.dir), "out")
	put(t, filepath.Join(out, "secret.txt"), "SECRET")
	b.put("real/inside.txt", "inside")
	b.put("regular", "inside")
	return b, out
}

func TestRaceOfWriting(t *testing.T) {
	b, out := field(t)
	swap(t, filepath.Join(b.dir, "sw"), "real", "../out", func() {
		for range tries(t, 120) { // each is an fsync
			b.call("file_write", "path", "sw/w.txt", "content", "x")
			b.call("file_write", "path", "sw/deep/w.txt", "content", "x")
		}
	})
	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there are %v, %v", entries, err)
	}
	if leftovers, err := filepath.Glob(filepath.Join(b.dir, "real", ".klawbot-*")); err != nil || len(leftovers) > 0 {
		t.Errorf("left over: %v, %v", leftovers, err)
	}
}

func TestRaceOfWritingToGit(t *testing.T) {
	b, _ := field(t)
	b.put(".git/config", "clean")
	swap(t, filepath.Join(b.dir, "sw"), "real", ".git", func() {
		for range tries(t, 120) {
			b.call("file_write", "path", "sw/config", "content", "x")
		}
	})
	b.holds(".git/config", "clean")
}

func TestRaceOfReading(t *testing.T) {
	b, _ := field(t)
	swap(t, filepath.Join(b.dir, "f"), "regular", "../out/secret.txt", func() {
		for range tries(t, 600) {
			if r := b.call("file_read", "path", "f"); strings.Contains(r.Output, "SECRET") {
				t.Fatalf("read %q", r.Output)
			}
		}
	})
}

func TestRaceOfListing(t *testing.T) {
	b, _ := field(t)
	swap(t, filepath.Join(b.dir, "sw"), "real", "../out", func() {
		for range tries(t, 600) {
			if r := b.call("file_list", "path", "sw"); strings.Contains(r.Output, "secret") {
				t.Fatalf("listed %q", r.Output)
			}
		}
	})
}

func TestRaceOfEditing(t *testing.T) {
	b, out := field(t)
	swap(t, filepath.Join(b.dir, "f"), "regular", "../out/secret.txt", func() {
		for range tries(t, 120) {
			b.call("file_edit", "path", "f", "old_str", "SECRET", "new_str", "x")
			if r := b.call("file_edit", "path", "f", "old_str", "E", "new_str", "x"); r.Success {
				t.Fatalf("edited %q", r.Output)
			}
		}
	})
	if got, err := os.ReadFile(filepath.Join(out, "secret.txt")); err != nil || string(got) != "SECRET" {
		t.Errorf("outside there is %q, %v", got, err)
	}
}

func TestRaceOfSearching(t *testing.T) {
	b, _ := field(t)
	swap(t, filepath.Join(b.dir, "sw"), "real", "../out", func() {
		for range tries(t, 300) {
			for _, arguments := range [][]any{{"pattern", "SECRET|inside", "type", "grep"}, {"pattern", ".", "type", "grep", "path", "sw"}, {"pattern", "**", "path", "sw"}} {
				if r := b.call("file_search", arguments...); strings.Contains(r.Output, "SECRET") || strings.Contains(r.Output, "secret") {
					t.Fatalf("found %q", r.Output)
				}
			}
		}
	})
}

// TestRaceOfUndoing undoes a change whose folder is a link to the outside at
// every other moment.
func TestRaceOfUndoing(t *testing.T) {
	b, out := field(t)
	b.put("real/secret.txt", "old")
	if r := b.call("file_write", "path", "real/secret.txt", "content", "SECRET"); !r.Success {
		t.Fatal(r.Output)
	}
	b.log.changes[0].Path = "sw/secret.txt"
	swap(t, filepath.Join(b.dir, "sw"), "real", "../out", func() {
		for range tries(t, 120) {
			b.call("file_undo", "action", "revert")
			b.log.changes = b.log.changes[len(b.log.changes)-1:]
			b.put("real/secret.txt", "SECRET")
		}
	})
	if got, err := os.ReadFile(filepath.Join(out, "secret.txt")); err != nil || string(got) != "SECRET" {
		t.Errorf("outside there is %q, %v", got, err)
	}
}
