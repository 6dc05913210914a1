package store_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/storetest"
)

// TestALostWriteAheadLogIsTold spoils the log after an unclean shutdown, and wants one
// line that says so, and none when nothing can be lost.
func TestALostWriteAheadLogIsTold(t *testing.T) {
	keep := func(*testing.T, string) {}
	for name, c := range map[string]struct {
		clean bool
		spoil func(t *testing.T, db string)
		want  string
	}{
		"in order":      {false, keep, ""},
		"missing":       {false, func(t *testing.T, db string) { must(t, os.Remove(db+"-wal")) }, "is missing"},
		"cut off":       {false, func(t *testing.T, db string) { must(t, os.Truncate(db+"-wal", 20)) }, "is cut off"},
		"noise":         {false, func(t *testing.T, db string) { storetest.Overwrite(t, db+"-wal", 0, storetest.Noise(1, 5000)) }, "damaged header"},
		"in the middle": {false, func(t *testing.T, db string) { storetest.Overwrite(t, db+"-wal", 32+24+100, storetest.Noise(1, 50)) }, "in the middle"},
		"the last write is torn": {false, func(t *testing.T, db string) {
			must(t, os.Truncate(db+"-wal", int64(storetest.SizeOf(t, db+"-wal")-100)))
		}, ""},
		"the last write is wrong": {false, func(t *testing.T, db string) {
			storetest.Overwrite(t, db+"-wal", int64(storetest.SizeOf(t, db+"-wal")-100), storetest.Noise(1, 50))
		}, ""},
		"a command beside": {false, func(t *testing.T, db string) {
			s, err := store.OpenBeside(t.Context(), config(filepath.Dir(db)))
			must(t, err)
			must(t, s.Close())
		}, ""},
		"orderly stop": {true, keep, ""},
		"orderly stop, and a command": {true, func(t *testing.T, db string) {
			s, err := store.OpenBeside(t.Context(), config(filepath.Dir(db)))
			must(t, err)
			write(t, s, storetest.Say(anna, "beside"))
			must(t, s.Close())
		}, ""},
		"orderly stop, and noise": {true, func(t *testing.T, db string) { must(t, os.WriteFile(db+"-wal", storetest.Noise(1, 5000), 0o600)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			first := t.TempDir()
			s := open(t, first)
			for range 5 {
				write(t, s, storetest.Say(anna, "hello"))
			}
			dir := t.TempDir()
			if c.clean {
				must(t, s.Close())
			}
			for _, file := range []string{"klawbot.db", "klawbot.db-wal", "instance"} { // as if the process had died here
				if _, err := os.Stat(filepath.Join(first, file)); err == nil || !c.clean {
					storetest.Copy(t, filepath.Join(first, file), filepath.Join(dir, file))
				}
			}
			c.spoil(t, filepath.Join(dir, "klawbot.db"))
			logs := &storetest.Log{}
			cfg := config(dir)
			cfg.Log = slog.New(slog.NewTextHandler(logs, nil))
			for range 2 { // the second start has nothing to say
				s, err := store.Open(t.Context(), cfg)
				must(t, err)
				must(t, s.Close())
			}
			told := strings.Count(logs.String(), "the last messages may be lost")
			if c.want == "" && told > 0 || c.want != "" && (told != 1 || !strings.Contains(logs.String(), c.want)) {
				t.Errorf("the log says it %d times, want %q:\n%s", told, c.want, logs)
			}
		})
	}
}
