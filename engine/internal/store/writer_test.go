package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/engine/internal/store"
)

func count(t testing.TB, s *store.Store, what string) (n int) {
	t.Helper()
	read(t, s, func(tx *store.Tx) error {
		text, err := tx.Text("SELECT count(*) FROM " + what)
		if err == nil {
			_, err = fmt.Sscan(text, &n)
		}
		return err
	})
	return n
}

func addUpdate(id int64) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		_, _, err := tx.Inbox().AddUpdate(update(id))
		return err
	}
}

func TestManyWriters(t *testing.T) {
	s := open(t, t.TempDir())
	const writers, writes = 100, 50
	errOwn := errors.New("own")
	var wg sync.WaitGroup
	for w := range int64(writers) {
		wg.Go(func() {
			for i := range int64(writes) {
				id := w*writes + i
				err := s.Write(t.Context(), func(tx *store.Tx) error {
					if err := addUpdate(id)(tx); err != nil {
						return err
					}
					switch i % 10 {
					case 3:
						return errOwn
					case 7:
						panic("own")
					}
					return nil
				})
				switch i % 10 {
				case 3:
					if !errors.Is(err, errOwn) {
						t.Errorf("write %d: %v", id, err)
					}
				case 7:
					if err == nil || !strings.Contains(err.Error(), "panicked: own") {
						t.Errorf("write %d: %v", id, err)
					}
				default:
					if err != nil {
						t.Errorf("write %d: %v", id, err)
					}
					if count(t, s, fmt.Sprintf("inbox WHERE update_id = %d", id)) != 1 {
						t.Errorf("write %d is not there after Write", id)
					}
				}
			}
		})
	}
	wg.Wait()
	if got, want := count(t, s, "inbox"), writers*writes*8/10; got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
}

// hold keeps the writer busy until the returned function is called.
func hold(s *store.Store) (release func()) {
	started, free, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		// The error does not matter: the store may be closed by now.
		_ = s.Write(context.Background(), func(*store.Tx) error { close(started); <-free; return nil })
	}()
	<-started
	return func() { close(free); <-done }
}

func TestCancelledBeforeItStarts(t *testing.T) {
	s := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	release := hold(s)
	result := make(chan error)
	go func() { result <- s.Write(ctx, addUpdate(1)) }()
	cancel()
	release()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("Write: %v", err)
	}
	if err := s.Write(ctx, addUpdate(2)); !errors.Is(err, context.Canceled) {
		t.Errorf("Write: %v", err)
	}
	if n := count(t, s, "inbox"); n != 0 {
		t.Errorf("%d rows of cancelled writes", n)
	}
}

func TestCloseWaitsForQueuedWrites(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	release := hold(s)
	var wg sync.WaitGroup
	results := make([]error, 20)
	for i := range results {
		wg.Go(func() { results[i] = s.Write(context.Background(), addUpdate(int64(i))) })
	}
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	release()
	must(t, <-closed)
	wg.Wait()
	stored := 0
	for _, err := range results {
		if err == nil {
			stored++
		} else if !errors.Is(err, store.ErrClosed) {
			t.Errorf("Write: %v", err)
		}
	}
	if n := count(t, open(t, dir), "inbox"); n != stored {
		t.Errorf("%d rows, but %d writes said that they are stored", n, stored)
	}
}

func TestFullDisk(t *testing.T) {
	s := open(t, t.TempDir())
	write(t, s, func(tx *store.Tx) error { return tx.Exec("PRAGMA max_page_count = 1") }) // becomes the present size
	var wg sync.WaitGroup
	release := hold(s)
	for i := range int64(20) {
		wg.Go(func() {
			u := update(i)
			u.Raw = []byte(strings.Repeat("x", 1<<20))
			err := s.Write(t.Context(), func(tx *store.Tx) error { _, _, err := tx.Inbox().AddUpdate(u); return err })
			if err == nil || !strings.Contains(err.Error(), "disk is full") || !strings.Contains(err.Error(), "klawbot.db") {
				t.Errorf("Write: %v", err)
			}
		})
	}
	release()
	wg.Wait()
	if n := count(t, s, "inbox"); n != 0 {
		t.Errorf("%d rows of writes that failed", n)
	}
	write(t, s, func(tx *store.Tx) error { return tx.Exec("PRAGMA max_page_count = 100000") })
	write(t, s, addUpdate(1))
	if n := count(t, s, "inbox"); n != 1 {
		t.Errorf("%d rows after there is room again", n)
	}
}

func TestTwoProcessesWrite(t *testing.T) {
	dir := t.TempDir()
	bot := open(t, dir)
	command, err := store.OpenBeside(t.Context(), config(dir))
	must(t, err)
	defer command.Close()
	var wg sync.WaitGroup
	for i := range int64(200) {
		wg.Go(func() {
			s := []*store.Store{bot, command}[i%2]
			if err := s.Write(t.Context(), addUpdate(i)); err != nil {
				t.Errorf("Write: %v", err)
			}
		})
	}
	wg.Wait()
	if n := count(t, bot, "inbox"); n != 200 {
		t.Errorf("%d rows", n)
	}
}

func TestReadIsASnapshot(t *testing.T) {
	s := open(t, t.TempDir())
	write(t, s, addUpdate(1))
	read(t, s, func(tx *store.Tx) error {
		first, err := tx.Inbox().NewUpdates()
		if err != nil {
			return err
		}
		write(t, s, addUpdate(2))
		second, err := tx.Inbox().NewUpdates()
		if len(first) != 1 || len(second) != 1 {
			t.Errorf("read %d and then %d updates", len(first), len(second))
		}
		return err
	})
	if n := count(t, s, "inbox"); n != 2 {
		t.Errorf("%d rows", n)
	}
}

// TestReadEndsWithItsContext ends at the next statement, the next row, and in the middle
// of a statement that takes long.
func TestReadEndsWithItsContext(t *testing.T) {
	s := open(t, t.TempDir())
	for i := range int64(3) {
		write(t, s, addUpdate(i))
	}
	for name, fn := range map[string]func(end func(), tx *store.Tx) error{
		"statement": func(end func(), tx *store.Tx) error {
			end()
			_, err := tx.Inbox().InboxDepth()
			return err
		},
		"row": func(end func(), tx *store.Tx) error {
			return tx.Each("SELECT id FROM inbox", func() { end() })
		},
		"long statement": func(end func(), tx *store.Tx) error {
			started := time.AfterFunc(50*time.Millisecond, end)
			defer started.Stop()
			return tx.Slowly("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")
		},
	} {
		ctx, end := context.WithCancel(t.Context())
		rows := 0
		err := s.Read(ctx, func(tx *store.Tx) error {
			return fn(func() { rows++; end() }, tx)
		})
		if !errors.Is(err, context.Canceled) || rows != 1 {
			t.Errorf("%s: %v after %d rows", name, err, rows)
		}
		end()
	}
	if err := s.Read(t.Context(), func(tx *store.Tx) error { _, err := tx.Inbox().InboxDepth(); return err }); err != nil {
		t.Errorf("a read after them: %v", err)
	}
}

// TestUnsyncedWrites: only a write that says so does not wait for the disk, and not when
// it shares its commit with one that has to.
func TestUnsyncedWrites(t *testing.T) {
	s := open(t, t.TempDir())
	synced := func(into *string) func(*store.Tx) error {
		return func(tx *store.Tx) (err error) {
			*into, err = tx.Text("PRAGMA synchronous")
			return err
		}
	}
	const normal, full = "1", "2"
	var first, second, third, shared, own string
	must(t, s.WriteUnsynced(t.Context(), synced(&first)))
	must(t, s.Write(t.Context(), synced(&second)))
	must(t, s.WriteUnsynced(t.Context(), synced(&third)))
	release := hold(s)
	var wg sync.WaitGroup
	wg.Go(func() { must(t, s.WriteUnsynced(t.Context(), synced(&shared))) })
	wg.Go(func() { must(t, s.Write(t.Context(), synced(&own))) })
	until(t, "two writes wait", func() bool { return s.Waiting() == 2 })
	release()
	wg.Wait()
	if first != normal || second != full || third != normal || shared != full || own != full {
		t.Errorf("synchronous is %s, %s, %s and together %s, %s", first, second, third, shared, own)
	}
}

// TestWriteThatIsBrokenOff lets the writes behind it go on.
func TestWriteThatIsBrokenOff(t *testing.T) {
	s := open(t, t.TempDir())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = s.Write(context.Background(), func(*store.Tx) error { runtime.Goexit(); return nil }) // it does not return
	}()
	<-gone
	must(t, s.Write(t.Context(), addUpdate(1)))
	if n := count(t, s, "inbox"); n != 1 {
		t.Errorf("%d rows", n)
	}
}
