package memory_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
)

func TestMemoryFilesAreFollowed(t *testing.T) {
	s, dir := openStore(t), t.TempDir()
	m := newMemory(s, nil)
	f := &memory.Files{Workspace: dir, Size: func() memory.ChunkSize { return memory.ChunkSize{Size: 400, Overlap: 80} }}
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	finds := func(query string, want ...string) {
		t.Helper()
		if _, err := f.Refresh(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, m, memory.Query{Text: query}); !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	finds("orchids")
	put("MEMORY.md", "Anna likes orchids.")
	put("memory/2026-01-31.md", "Planted tulips.")
	put("other.md", "The orchids of others.")
	put("memory/large.md", strings.Repeat("orchids ", 200_000))
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "memory", "link.md")); err != nil {
		t.Fatal(err)
	}
	if left := f.LeftOut(); !slices.Equal(left, []string{"memory/link.md", "memory/large.md"}) {
		t.Errorf("left out are %q", left)
	}
	finds("orchids", "Anna likes orchids.")
	finds("tulips", "Planted tulips.")
	put("MEMORY.md", "Anna likes roses, and not only them.")
	finds("orchids")
	finds("roses", "Anna likes roses, and not only them.")
	put("notes.md", "\ufeffTea is at five.\r\nCake is at six.\r\n")
	finds("cake", "Tea is at five.\nCake is at six.")
	if changed, err := f.Refresh(t.Context(), s); err != nil || changed {
		t.Errorf("nothing changed, and Refresh says %v, %v", changed, err)
	}
	if err := os.Remove(filepath.Join(dir, "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	finds("roses")

	// Another process sees what is indexed already.
	f = &memory.Files{Workspace: dir, Size: f.Size}
	if changed, err := f.Refresh(t.Context(), s); err != nil || changed {
		t.Errorf("a second process indexes again: %v, %v", changed, err)
	}
}

func TestCatchUpFindsWhatCameInOtherwise(t *testing.T) {
	s := openStore(t)
	in := `{"id": "a", "ts": "2026-01-31T12:00:00Z", "role": "user", "content": "the boiler is broken", "meta": {"channel": "telegram", "chat_id": "telegram_5"}}`
	if n, err := archive.Of(s).Import(t.Context(), strings.NewReader(in)); n != 1 || err != nil {
		t.Fatalf("%d imported, %v", n, err)
	}
	m := newMemory(s, nil)
	size := memory.ChunkSize{Size: 400, Overlap: 80}
	for range 2 {
		if err := m.CatchUp(t.Context(), func(store.Address) bool { return true }, size); err != nil {
			t.Fatal(err)
		}
	}
	if got := contents(t, m, memory.Query{Text: "boiler", Scope: store.Scope{Channel: "telegram", Chat: 5}}); len(got) != 1 {
		t.Errorf("found: %q", got)
	}
}

func TestDocsAreIndexedOncePerVersion(t *testing.T) {
	s := openStore(t)
	m := newMemory(s, bag{"docs"})
	size := memory.ChunkSize{Size: 400}
	all := []memory.Section{{"a.md", "Backups", "How to restore a backup."}, {"b.md", "Cron", "Five fields."}}
	for range 2 {
		if err := m.IndexDocs(t.Context(), all, size); err != nil {
			t.Fatal(err)
		}
	}
	if ready, err := m.DocsIndexed(t.Context(), all); !ready || err != nil {
		t.Errorf("ready: %v, %v", ready, err)
	}
	all = all[:1]
	if ready, err := m.DocsIndexed(t.Context(), all); ready || err != nil {
		t.Errorf("another version is ready: %v, %v", ready, err)
	}
	if err := m.IndexDocs(t.Context(), all, size); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, m, memory.Query{Text: "backup fields"}); !slices.Equal(got, []string{"Backups\nHow to restore a backup."}) {
		t.Errorf("found: %q", got)
	}
}
