package standby

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func mirrorOf(p place, dir string) *mirror {
	return &mirror{place: p, roots: map[string]string{"workspace": filepath.Join(dir, "workspace"), "media": filepath.Join(dir, "media")}}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestFilesComeOverAsTheyAre(t *testing.T) {
	here, there, ctx := t.TempDir(), t.TempDir(), t.Context()
	p := newPlace(Config{To: t.TempDir()})
	leasesIn(t, p)
	write(t, filepath.Join(here, "secret"), "not for the replica")
	write(t, filepath.Join(here, "workspace/notes.md"), "one")
	write(t, filepath.Join(here, "workspace/deep/er/script.sh"), "#!/bin/sh")
	write(t, filepath.Join(here, "workspace/gone.md"), "gone")
	write(t, filepath.Join(here, "media/ab/cd"), "picture")
	if err := os.Chmod(filepath.Join(here, "workspace/deep/er/script.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret", filepath.Join(here, "workspace/link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(here, "workspace/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := mirrorOf(p, here)
	if err := m.copy(ctx, 1); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(here, "workspace/notes.md"), "two")
	if err := os.Remove(filepath.Join(here, "workspace/gone.md")); err != nil {
		t.Fatal(err)
	}
	if err := m.copy(ctx, 1); err != nil {
		t.Fatal(err)
	}

	write(t, filepath.Join(there, "workspace/old.md"), "of an earlier epoch")
	write(t, filepath.Join(there, "workspace/notes.md/in/the/way"), "a folder in place of a file")
	if err := os.Symlink(here, filepath.Join(there, "workspace/deep")); err != nil {
		t.Fatal(err)
	}
	if err := mirrorOf(p, there).restore(ctx, 1); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"workspace/notes.md": "two", "workspace/deep/er/script.sh": "#!/bin/sh", "media/ab/cd": "picture"} {
		if got := content(t, filepath.Join(there, name)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if info, err := os.Stat(filepath.Join(there, "workspace/deep/er/script.sh")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the script: %v, %v", info, err)
	}
	for _, name := range []string{"gone.md", "old.md", "link", "pipe"} {
		if _, err := os.Lstat(filepath.Join(there, "workspace", name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if _, err := os.Lstat(filepath.Join(here, "er")); err == nil {
		t.Error("a link led the restore out of the workspace")
	}
}

func TestDamagedCopyIsRefused(t *testing.T) {
	here, there, ctx, to := t.TempDir(), t.TempDir(), t.Context(), t.TempDir()
	p := newPlace(Config{To: to})
	leasesIn(t, p)
	write(t, filepath.Join(here, "workspace/notes.md"), "one")
	if err := mirrorOf(p, here).copy(ctx, 1); err != nil {
		t.Fatal(err)
	}
	names, err := p.list(ctx, "files")
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	write(t, filepath.Join(to, names[0]), "two")
	if err := mirrorOf(p, there).restore(ctx, 1); err == nil || !strings.Contains(err.Error(), "workspace/notes.md: the copy is damaged") {
		t.Errorf("restored: %v", err)
	}
}

func TestOldCopiesAreRemoved(t *testing.T) {
	here, ctx := t.TempDir(), t.Context()
	p := newPlace(Config{To: t.TempDir()})
	leasesIn(t, p)
	m := mirrorOf(p, here)
	for _, text := range []string{"one", "two"} {
		write(t, filepath.Join(here, "workspace/notes.md"), text)
		for epoch := 1; epoch <= 4; epoch++ {
			m.list = nil
			if err := m.copy(ctx, epoch); err != nil {
				t.Fatal(err)
			}
		}
	}
	unused, err := m.tidy(ctx, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := p.list(ctx, "files"); err != nil || len(left) != 2 {
		t.Errorf("a copy that was in use a moment ago is gone: %q, %v", left, err)
	}
	if _, err := m.tidy(ctx, 4, unused); err != nil {
		t.Fatal(err)
	}
	if left, err := p.list(ctx, "files"); err != nil || len(left) != 1 {
		t.Errorf("copies: %q, %v", left, err)
	}
	if left, err := p.list(ctx, "epochs"); err != nil || len(left) != 2 {
		t.Errorf("lists: %q, %v", left, err)
	}
}
