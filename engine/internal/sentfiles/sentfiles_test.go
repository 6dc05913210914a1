package sentfiles_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"klawbot/engine/internal/sentfiles"
	"klawbot/engine/internal/store"
)

func TestSameBytesAreKeptOnce(t *testing.T) {
	dir := t.TempDir()
	s := sentfiles.In(dir)
	first, err := s.Put(strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Put(iotest.OneByteReader(strings.NewReader("hello")))
	if err != nil || second != first {
		t.Errorf("%s and %s, %v", first, second, err)
	}
	const sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	path, err := s.Path(sum)
	if err != nil || path != first || filepath.Base(first) != sum {
		t.Errorf("path is %s, %v", path, err)
	}
	content, err := os.ReadFile(path)
	if err != nil || string(content) != "hello" {
		t.Errorf("%q, %v", content, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	if all, _ := os.ReadDir(filepath.Join(dir, "outgoing")); len(all) != 1 {
		t.Errorf("%d files", len(all))
	}
	for _, bad := range []string{"", "../klawbot.db", strings.Repeat("0", 64), sum + "/.."} {
		if _, err := s.Path(bad); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestBrokenFileLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	broken := io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(errors.New("disk gone")))
	if _, err := sentfiles.In(dir).Put(broken); err == nil || !strings.Contains(err.Error(), "disk gone") {
		t.Errorf("error is %v", err)
	}
	if all, _ := os.ReadDir(filepath.Join(dir, "outgoing")); len(all) != 0 {
		t.Errorf("%v is left", all)
	}
}

func TestQuotaRefusesFiles(t *testing.T) {
	s := sentfiles.In(t.TempDir())
	sentfiles.SetQuota(s, 1000)
	if _, err := s.Put(bytes.NewReader(make([]byte, 600))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(bytes.NewReader(make([]byte, 401))); err == nil || !strings.Contains(err.Error(), "too many files wait") {
		t.Errorf("error is %v", err)
	}
	if _, err := s.Put(bytes.NewReader(make([]byte, 400))); err != nil {
		t.Errorf("what fits was refused: %v", err)
	}
	if _, err := s.Put(strings.NewReader("x")); err == nil {
		t.Error("a full spool takes more")
	}
}

func TestSweepDeletesUnnamedFiles(t *testing.T) {
	s := sentfiles.In(t.TempDir())
	if n, err := s.Sweep(nil); n != 0 || err != nil {
		t.Errorf("a spool that is not there: %d, %v", n, err)
	}
	put := func(content string, age time.Duration) string {
		t.Helper()
		path, err := s.Put(strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	waits, young, old := put("waits", 48*time.Hour), put("young", 23*time.Hour), put("old", 25*time.Hour)
	for _, name := range []string{"123.part", "notes.txt"} {
		file := filepath.Join(filepath.Dir(old), name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-25*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	n, err := s.Sweep(map[string]bool{filepath.Base(waits): true})
	if n != 2 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	for path, want := range map[string]bool{waits: true, young: true, old: false, filepath.Join(filepath.Dir(old), "notes.txt"): true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	// The same bytes again are young again.
	again := put("old", 25*time.Hour)
	if _, err := s.Put(strings.NewReader("old")); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Sweep(map[string]bool{filepath.Base(waits): true}); n != 0 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	if _, err := os.Stat(again); err != nil {
		t.Error(err)
	}
}
