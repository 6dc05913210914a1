package health_test

import (
	"os"
	"path/filepath"
	"testing"

	"klawbot/engine/health"
)

func TestDiskUseByPart(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	for name, size := range map[string]int{
		"klawbot.db": 10, "klawbot.db-wal": 20, "backups/a.db": 300, "conversations/telegram_1/2026-01-01.jsonl": 4,
		"media/ab/cd": 50, "workspace/notes.md": 6, "workspace/klawbot.db/x": 1, "instance": 7, "skills/x/SKILL.md": 8,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(elsewhere, "large"), make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "workspace", "link")); err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"database": 30, "backups": 300, "conversations": 4, "media": 50, "workspace": 7, "assets": 0, "other": 15}
	check := func(d health.Disk, want map[string]int64) {
		t.Helper()
		for _, p := range d.Parts {
			if p.Bytes != want[p.Part] {
				t.Errorf("%s takes %d bytes, want %d", p.Part, p.Bytes, want[p.Part])
			}
		}
		if len(d.Parts) != len(want) || d.Free == 0 {
			t.Errorf("disk: %+v", d)
		}
	}
	check(health.NewDiskUse(dir, filepath.Join(dir, "workspace")).Now(), want)
	// A workspace elsewhere counts beside what lies in the usual place.
	check(health.NewDiskUse(dir, elsewhere).Now(), map[string]int64{
		"database": 30, "backups": 300, "conversations": 4, "media": 50, "workspace": 5007, "assets": 0, "other": 15,
	})
}
