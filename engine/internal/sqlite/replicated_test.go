package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"klawbot/engine/internal/sqlite"
)

// TestReplicatedDatabaseKeepsItsLog writes more pages than after which SQLite makes a
// checkpoint by itself.
func TestReplicatedDatabaseKeepsItsLog(t *testing.T) {
	for _, replicated := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := sqlite.CreateFile(path); err != nil {
			t.Fatal(err)
		}
		if replicated {
			if err := os.WriteFile(path+"-replicated", nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		db, err := sqlite.OpenWriter(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(8000000))"); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if checkpointed := info.Size() > 1_000_000; checkpointed == replicated {
			t.Errorf("replicated: %v, and the database has %d bytes", replicated, info.Size())
		}
	}
}
