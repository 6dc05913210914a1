package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/mattn/go-sqlite3"
)

// The sizes of the parts of a write-ahead log, in bytes.
const (
	walHeader   = 32
	frameHeader = 24
)

// WAL is what a look at the write-ahead log says before SQLite opens it: SQLite leaves
// out what it cannot read, in silence.
type WAL struct {
	// Fault is what is wrong, empty for nothing.
	Fault string
	// Since is when the database itself was written last: what came later was in
	// the log alone.
	Since time.Time
}

// LookAtWAL reads the log of a database, if there is a database.
func LookAtWAL(path string) (r WAL) {
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 {
		return r
	}
	r.Since = info.ModTime()
	log, err := os.ReadFile(path + "-wal")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Fault = "is missing"
	case err != nil:
		r.Fault = "cannot be read: " + err.Error()
	case len(log) > 0:
		r.Fault = walFault(log)
	}
	return r
}

// walFault says what is wrong with a log. Frames of an older round at its end are in
// order, and so is a last transaction that was not written to its end.
func walFault(log []byte) string {
	if len(log) < walHeader {
		return "is cut off"
	}
	magic, size := binary.BigEndian.Uint32(log), int(binary.BigEndian.Uint32(log[8:]))
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	sum := walSum{order: order}
	sum.add(log[:24])
	if magic&^1 != 0x377f0682 || size < 512 || size > 65536 || !sum.is(log[24:]) {
		return "has a damaged header"
	}
	salt, sound, lost := string(log[16:24]), true, 0
	for rest := log[walHeader:]; len(rest) >= frameHeader+size; rest = rest[frameHeader+size:] {
		if string(rest[8:16]) != salt {
			break
		}
		sum.add(rest[:8])
		sum.add(rest[frameHeader : frameHeader+size])
		sound = sound && sum.is(rest[16:])
		if commits := binary.BigEndian.Uint32(rest[4:]) != 0; !sound && commits {
			lost++
		}
	}
	if lost > 1 { // one is what the end of the process has cut short
		return fmt.Sprintf("is damaged in the middle, %d writes behind that are lost", lost)
	}
	return ""
}

// walSum is the running checksum of a log.
type walSum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (s *walSum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		s.s0 += s.order.Uint32(b) + s.s1
		s.s1 += s.order.Uint32(b[4:]) + s.s0
	}
}

func (s *walSum) is(b []byte) bool {
	return binary.BigEndian.Uint32(b) == s.s0 && binary.BigEndian.Uint32(b[4:]) == s.s1
}

// KeepWAL lets the log stay, empty, when the connection is the last one that is
// closed: a log that is missing after an unclean stop tells that something is lost.
func KeepWAL(ctx context.Context, db *sql.DB) error {
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() // it goes back to the pool
	return conn.Raw(func(driver any) error {
		c, ok := driver.(*sqlite3.SQLiteConn)
		if !ok {
			return fmt.Errorf("the connection is a %T", driver)
		}
		return c.SetFileControlInt("main", sqlite3.SQLITE_FCNTL_PERSIST_WAL, 1)
	})
}
