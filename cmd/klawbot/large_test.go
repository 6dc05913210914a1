//go:build bench

package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"klawbot/internal/telegramtest"
)

// large measures a start on a database of 1 GB, 50 MB for a quick look, after
// an orderly stop and after a kill, when the database is checked beside the
// polling.
func (b *figures) large(binary string) {
	size := int64(1_000_000_000)
	if *short {
		size = 50_000_000
	}
	r := newRig(b.t, "edit", 11)
	p := r.start(binary)
	r.wait(p, "the first poll", func(v telegramtest.State) bool { return v.Count("getUpdates") > 0 })
	p.stop()
	path := filepath.Join(r.dir, "data", "klawbot.db")
	b.grow(path, size)
	info, err := os.Stat(path)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		end  func(*process)
	}{{"an orderly stop", func(p *process) { p.stop() }}, {"a kill", (*process).kill}} {
		polled := func() (p *process, took float64) {
			before := r.telegram.Count("getUpdates")
			began := time.Now()
			p = r.start(binary)
			r.wait(p, "the first poll", func(v telegramtest.State) bool { return v.Count("getUpdates") > before })
			return p, time.Since(began).Seconds()
		}
		p, _ := polled()
		c.end(p)
		p, took := polled()
		b.add(fmt.Sprintf("start to first getUpdates, database of %d MB, after %s", info.Size()/1_000_000, c.what), took, "s", "<= 2", took <= 2)
		p.stop()
	}
}

// grow fills the history until the database has about so many bytes.
func (b *figures) grow(path string, size int64) {
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_synchronous=OFF&_txlock=immediate")
	if err != nil {
		b.t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	const bytesEach = 2000
	for _, statement := range []string{
		`INSERT INTO sessions (channel, chat, thread, model, started_at) VALUES ('telegram', 11, 0, '', 1)`,
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			INSERT INTO messages (uid, session, body, sender, sender_name, type, model, input_tokens, output_tokens, at, logged)
			SELECT 'large' || i, (SELECT max(id) FROM sessions),
				'{"role":"user","blocks":[{"text":"' || hex(randomblob(%d)) || '"}]}', 11, 'Person', '', '', 0, 0, i, 1 FROM n`, size/bytesEach, (bytesEach-160)/2),
		`PRAGMA wal_checkpoint(TRUNCATE)`,
	} {
		if _, err := db.Exec(statement); err != nil {
			b.t.Fatal(err)
		}
	}
}
