package archive_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/storetest"
)

// damages are 60 ways in which a database can be spoiled while the bot is
// stopped.
func damages() map[string]func(t *testing.T, db string) {
	all := map[string]func(t *testing.T, db string){
		"gone":    func(t *testing.T, db string) { must(t, os.Remove(db)) },
		"text":    func(t *testing.T, db string) { must(t, os.WriteFile(db, []byte(strings.Repeat("text ", 9000)), 0o600)) },
		"one":     func(t *testing.T, db string) { must(t, os.WriteFile(db, []byte{0}, 0o600)) },
		"wal":     func(t *testing.T, db string) { must(t, os.WriteFile(db+"-wal", storetest.Noise(1, 40_000), 0o600)) },
		"wal cut": func(t *testing.T, db string) { must(t, os.WriteFile(db+"-wal", []byte{0x37, 0x7f}, 0o600)) },
		"shm":     func(t *testing.T, db string) { must(t, os.WriteFile(db+"-shm", storetest.Noise(2, 32_768), 0o600)) },
		"zeros":   func(t *testing.T, db string) { storetest.Overwrite(t, db, 0, make([]byte, storetest.SizeOf(t, db))) },
		"noise": func(t *testing.T, db string) {
			storetest.Overwrite(t, db, 0, storetest.Noise(3, storetest.SizeOf(t, db)))
		},
		"tables dropped": func(t *testing.T, db string) {
			must(t, os.Remove(db))
			storetest.Raw(t, db, "PRAGMA application_id = 1802264951")
		},
		"empty database": func(t *testing.T, db string) {
			must(t, os.Remove(db))
			storetest.Raw(t, db, "CREATE TABLE t (x)", "DROP TABLE t", "VACUUM")
		},
	}
	for i, size := range []int64{0, 1, 16, 99, 100, 512, 1000, 4095, 4096, 4097, 8192, 20_000, 40_960, -4096, -1} {
		all[fmt.Sprintf("cut %02d", i)] = func(t *testing.T, db string) {
			if size < 0 {
				size += int64(storetest.SizeOf(t, db))
			}
			must(t, os.Truncate(db, size))
		}
	}
	for i := range 15 {
		all[fmt.Sprintf("page %02d", i)] = func(t *testing.T, db string) {
			storetest.Overwrite(t, db, int64(i)*4096, storetest.Noise(uint64(i), 4096))
		}
	}
	for i := range 20 {
		all[fmt.Sprintf("bytes %02d", i)] = func(t *testing.T, db string) {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			storetest.Overwrite(t, db, random.Int64N(int64(storetest.SizeOf(t, db))), storetest.Noise(uint64(i), 16))
		}
	}
	return all
}

// TestDamagedDatabases spoils a database in 60 ways, with a backup beside it
// and without one. It never starts empty: what is found is restored, at the
// start or, when only a check finds it, at the next one.
func TestDamagedDatabases(t *testing.T) {
	all := damages()
	if len(all) != 60 {
		t.Fatalf("there are %d ways, want 60", len(all))
	}
	found, restored := 0, 0
	for name, spoil := range all {
		for _, backup := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, backup %v", name, backup), func(t *testing.T) {
				dir := spoiled(t, backup, spoil)
				s, err := openAs(t, config(dir), false)
				if err == nil && store.Damaged(s.Check(t.Context())) {
					must(t, s.Close())
					s, err = openAs(t, config(dir), false)
				}
				if err != nil {
					found++
					if backup || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), dir) {
						t.Errorf("Open: %v", err)
					}
					return
				}
				if s.Recovered() != nil {
					restored++
				}
				if got := history(t, s, anna); !slices.Equal(got, []string{"hello"}) {
					t.Errorf("history is %q, recovery %+v", got, s.Recovered())
				}
				must(t, s.Close())
			})
		}
	}
	t.Logf("of 60 ways, %d stopped the start without a backup and %d were restored with one", found, restored)
	if found != restored || found < 30 {
		t.Errorf("%d were found without a backup, %d with one", found, restored)
	}
}

// spoiled is a used data directory, with a backup or without, whose database was
// spoiled.
func spoiled(t *testing.T, backup bool, spoil func(t *testing.T, db string)) string {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir)
	write(t, s, storetest.Say(anna, "hello"))
	if backup {
		_, err := s.BackupNow(t.Context(), 1)
		must(t, err)
	}
	must(t, s.Close())
	spoil(t, filepath.Join(dir, "klawbot.db"))
	return dir
}

func TestRecoveryTakesTheNewestGoodBackup(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	write(t, s, storetest.Say(anna, "hello"))
	good, err := s.BackupNow(t.Context(), 9)
	must(t, err)
	must(t, s.Close())
	_, other := used(t)
	folder := filepath.Join(dir, "backups")
	storetest.Copy(t, other, filepath.Join(folder, "klawbot-20990101T000000Z.db")) // of another bot
	must(t, os.WriteFile(filepath.Join(folder, "klawbot-20990102T000000Z.db"), storetest.Noise(1, 9000), 0o600))
	db := filepath.Join(dir, "klawbot.db")
	storetest.Overwrite(t, db, 0, storetest.Noise(4, 4096))
	spoilt, err := os.ReadFile(db)
	must(t, err)

	logs := &storetest.Log{}
	c := config(dir)
	c.Log = slog.New(slog.NewTextHandler(logs, nil))
	s, err = openAs(t, c, false)
	must(t, err)
	defer s.Close()
	r := s.Recovered()
	if r == nil || r.Backup.Path != good.Path || r.Reason == "" {
		t.Fatalf("recovery is %+v, want one of %s", r, good.Path)
	}
	if got := history(t, s, anna); !slices.Equal(got, []string{"hello"}) {
		t.Errorf("history is %q", got)
	}
	if aside, err := os.ReadFile(r.Aside); err != nil || !slices.Equal(aside, spoilt) {
		t.Errorf("the damaged file is not kept as %s: %v", r.Aside, err)
	}
	if n := strings.Count(logs.String(), "level=ERROR"); n != 1 {
		t.Errorf("the log has %d errors, want one clear line:\n%s", n, logs)
	}
}
