// Package storetest is what the tests of packages store and archive share: it stores
// messages, spoils files and keeps logs.
package storetest

import (
	"bytes"
	"database/sql"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
)

// Log is a log that a test may read while others write.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

// Write adds to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String is the log so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Noise is n random bytes, the same for a seed.
func Noise(seed uint64, n int) []byte {
	random := rand.New(rand.NewPCG(seed, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// SizeOf is the size of a file.
func SizeOf(t testing.TB, path string) int {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size())
}

// Overwrite replaces bytes of a file.
func Overwrite(t testing.TB, path string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		_, err = f.WriteAt(b, at)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Raw runs statements on a database without the store.
func Raw(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // nothing is left to write
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// Copy copies a file.
func Copy(t testing.TB, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Say stores a user message in the current session of an address.
func Say(a store.Address, text string) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		s, err := tx.Sessions().Session(a)
		if err != nil {
			return err
		}
		_, err = tx.Sessions().AddMessage(store.Message{Session: s.ID, Body: llm.Text(llm.RoleUser, text), Sender: a.Chat.ID, SenderName: "Anna"})
		return err
	}
}
