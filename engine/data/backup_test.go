package data

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"klawbot/engine/health"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/toolset"
)

// folder is a data directory with a database and a workspace.
func folder(t *testing.T) toolset.Config {
	t.Helper()
	dir := t.TempDir()
	c := toolset.Config{Dir: dir, Workspace: filepath.Join(dir, "workspace"), Log: slog.New(slog.DiscardHandler)}
	st, err := store.Open(t.Context(), store.Config{Dir: dir, Log: c.Log})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"AGENTS.md": "be kind", "notes/today.md": "milk", "run.sh": "true"} {
		name = filepath.Join(c.Workspace, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(c.Workspace, "run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

// listing is every file below a folder with its mode and text.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		all = append(all, info.Mode().String()+" "+name+": "+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestBackUpAndRestore(t *testing.T) {
	from := folder(t)
	want := listing(t, from.Workspace)
	if err := os.Symlink("/etc/passwd", filepath.Join(from.Workspace, "link")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(from.Workspace, "bot.tar.gz") // it must not hold itself
	done, err := BackUp(t.Context(), from, file)
	if err != nil || done != (Archived{Files: 3, LeftOut: 1}) {
		t.Fatalf("backed up %+v, %v", done, err)
	}
	to := toolset.Config{Dir: filepath.Join(t.TempDir(), "new"), Log: from.Log}
	to.Workspace = filepath.Join(to.Dir, "workspace")
	done, err = Restore(t.Context(), to, file, false)
	if err != nil || done != (Archived{Files: 3}) {
		t.Fatalf("restored %+v, %v", done, err)
	}
	if got := listing(t, to.Workspace); !slices.Equal(got, want) {
		t.Errorf("the workspace is %q, want %q", got, want)
	}
	if s, err := health.StatusOf(t.Context(), to); err != nil || s.Database.State != "ok" {
		t.Errorf("the restored folder is %+v, %v", s, err)
	}
	var left []string
	for _, dir := range []string{from.Dir, from.Workspace, to.Dir} {
		names, err := filepath.Glob(filepath.Join(dir, ".*"))
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, names...)
	}
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestBackUpKeepsTheCoreMemory: it is a file of the data directory, beside the database.
func TestBackUpKeepsTheCoreMemory(t *testing.T) {
	from := folder(t)
	core := filepath.Join("memory", "core_memory.json")
	write := func(dir, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, "memory"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, core), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const facts, newer = `{"user":{"name":"Anna"},"agent":{}}`, `{"user":{"name":"Bob"},"agent":{}}`
	write(from.Dir, facts)
	file := filepath.Join(t.TempDir(), "bot.tar.gz")
	if _, err := BackUp(t.Context(), from, file); err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]string{"a new folder": "", "a folder that has one": newer} {
		to := toolset.Config{Dir: filepath.Join(t.TempDir(), "new"), Log: from.Log}
		to.Workspace = filepath.Join(to.Dir, "workspace")
		want := facts
		if there != "" {
			write(to.Dir, there)
			want = there
		}
		if done, err := Restore(t.Context(), to, file, false); err != nil || done.Files != 3 {
			t.Fatalf("%s: restored %+v, %v", name, done, err)
		}
		if got, err := os.ReadFile(filepath.Join(to.Dir, core)); err != nil || string(got) != want {
			t.Errorf("%s: the core memory is %q, %v, want %q", name, got, err, want)
		}
	}
}

// packed is an archive of entries, each a name and a type.
func packed(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, e := range entries {
		if e.Typeflag == tar.TypeReg {
			e.Size = 4
		}
		if err := w.WriteHeader(&e); err != nil {
			t.Fatal(err)
		}
		if e.Size > 0 {
			if _, err := w.Write([]byte("evil")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func hostile(t testing.TB) map[string][]byte {
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600} }
	return map[string][]byte{
		"parent":       packed(t, file("workspace/../../evil")),
		"absolute":     packed(t, file("/evil")),
		"other name":   packed(t, file("evil")),
		"link":         packed(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "workspace/out", Linkname: ".."}, file("workspace/out/../evil")),
		"core parent":  packed(t, file("memory/core_memory.json/../../../evil")),
		"core link":    packed(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "memory/core_memory.json", Linkname: "/etc/passwd"}, file("klawbot.db")),
		"twice":        packed(t, file("workspace/a"), file("workspace/a")),
		"no database":  packed(t, file("workspace/a")),
		"bad database": packed(t, file("klawbot.db")),
		"cut":          packed(t, file("klawbot.db"))[:40],
	}
}

// restoreInto restores bytes into a new folder and checks that nothing came
// outside of it.
func restoreInto(t testing.TB, archive []byte) error {
	t.Helper()
	outside := t.TempDir()
	file := filepath.Join(outside, "file")
	if err := os.WriteFile(file, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	c := toolset.Config{Dir: filepath.Join(outside, "data"), Log: slog.New(slog.DiscardHandler)}
	c.Workspace = filepath.Join(c.Dir, "workspace")
	_, err := Restore(t.Context(), c, file, false)
	entries, readErr := os.ReadDir(outside)
	if readErr != nil {
		t.Fatal(readErr)
	}
	for _, e := range entries {
		if e.Name() != "file" && e.Name() != "data" {
			t.Errorf("%s came outside", e.Name())
		}
	}
	return err
}

func TestRestoreOfAHostileArchive(t *testing.T) {
	for name, archive := range hostile(t) {
		err := restoreInto(t, archive)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line", name, err)
		}
	}
}

func FuzzRestore(f *testing.F) {
	for _, archive := range hostile(f) {
		f.Add(archive)
	}
	f.Add([]byte("SQLite format 3\x00"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		if len(archive) > 64<<10 {
			return
		}
		if err := restoreInto(t, archive); err == nil {
			t.Error("restored something that is not a backup")
		}
	})
}
