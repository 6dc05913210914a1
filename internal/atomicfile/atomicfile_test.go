package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"klawbot/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	name := filepath.Join(t.TempDir(), "a")
	for _, c := range []struct {
		text string
		mode fs.FileMode
	}{{"first", 0o644}, {"second", 0o600}, {"", 0o640}} {
		if err := atomicfile.Write(name, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		check(t, name, c.text, c.mode)
	}
}

// A reader that has the old file open keeps it.
func TestWriteLeavesTheOldFileToItsReaders(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := atomicfile.Write(name, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 3)
	if _, err := reader.Read(text); err != nil || string(text) != "old" {
		t.Errorf("the reader has %q, %v", text, err)
	}
}

func TestFillThatFailsChangesNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(name, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	fault := errors.New("no more")
	err := atomicfile.Fill(name, 0o600, func(f *os.File) error {
		_, err := f.WriteString("half")
		return errors.Join(err, fault)
	})
	if !errors.Is(err, fault) {
		t.Errorf("got %v", err)
	}
	check(t, name, "old", 0o640)
}

func TestFillIntoAFolder(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(name, []byte("x"), 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	onlyFile(t, dir)
	if err := atomicfile.Write(filepath.Join(dir, "missing", "a"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without its folder: %v", err)
	}
}

func TestRename(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a.part"), filepath.Join(dir, "a")
	for _, text := range []string{"first", "second"} {
		if err := os.WriteFile(from, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.Rename(from, to); err != nil {
			t.Fatal(err)
		}
		check(t, to, text, 0o600)
	}
	if err := atomicfile.Rename(from, to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is missing: %v", err)
	}
}

// check wants the file to have this content and mode, and to be alone.
func check(t *testing.T, name, text string, mode fs.FileMode) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil || string(got) != text {
		t.Errorf("the file has %q, %v; want %q", got, err, text)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
		t.Errorf("the mode is %v, %v; want %v", info.Mode(), err, mode)
	}
	onlyFile(t, filepath.Dir(name))
}

func onlyFile(t *testing.T, dir string) {
	t.Helper()
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("the folder holds %v, %v", all, err)
	}
}
