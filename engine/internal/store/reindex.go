package store

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Reindexing says how Reindex makes things findable.
type Reindexing struct {
	// Message stores the chunks of a message, and Memories those of some memories
	// that follow each other.
	Message  func(*Tx, Said) error
	Memories func(*Tx, []Memory) error
	// Progress is told how many bytes of the logs are read, of how many; nil is
	// told nothing.
	Progress func(done, all int64)
	// Ready is called before the new tables take the places of the old ones; nil
	// is not.
	Ready func()
}

// Reindexed is what Reindex did.
type Reindexed struct {
	// Messages are those that the database has now, Kept those of them that no
	// log had: the end of a log may be missing after a power cut.
	Messages, Kept int
	// Chats are the conversations, Breaks the beginnings of new ones in them.
	Chats, Breaks int
	// Memories are those that were made findable again.
	Memories int
	// Skipped counts the lines that are no records, and Faults names some.
	Skipped int
	Faults  []string
}

// reindexBatch is how many messages share a transaction.
const reindexBatch = 500

// Reindex builds the messages and all that is found of them and of memories
// anew, from the conversation logs of the data folder. Until the last moment the
// old tables stay as they are; a kill leaves them. Sessions are kept, and those
// that only the logs know come back. What only the database knows of the end of
// a conversation is kept and written to its log again. The vectors are gone
// afterwards, for the bot to make them again. The Store must be Open's and used
// by nobody else meanwhile.
func (s *Store) Reindex(ctx context.Context, how Reindexing) (done Reindexed, err error) {
	if s.lock == nil {
		return done, errors.New("reindex: the data folder is in use")
	}
	if err := s.WriteLog(ctx); err != nil {
		return done, err
	}
	r := &reindexer{store: s, how: how, into: map[Address]*thread{}}
	if r.logs, r.size, err = r.find(filepath.Join(s.dir, "conversations")); err != nil {
		return done, fmt.Errorf("reindex: %w", err)
	}
	if err := dropShadows(ctx, s.writer.db); err != nil {
		return done, err
	}
	// The shadow messages point to sessions that are added at the end.
	if _, err := s.writer.db.ExecContext(ctx, "PRAGMA foreign_keys = OFF"); err != nil {
		return done, err
	}
	err = r.run(ctx)
	if err != nil {
		err = errors.Join(err, dropShadows(context.WithoutCancel(ctx), s.writer.db))
	}
	_, on := s.writer.db.ExecContext(context.WithoutCancel(ctx), "PRAGMA foreign_keys = ON")
	if err = errors.Join(err, on); err != nil {
		return r.done, fmt.Errorf("reindex: %w", err)
	}
	return r.done, nil
}

// reindexer is the state of one Reindex.
type reindexer struct {
	store      *Store
	how        Reindexing
	logs       []logFile
	size, read int64
	done       Reindexed
	into       map[Address]*thread
	// added are sessions that the database does not have yet.
	added []Session
	batch []entry
}

// logFile is a file of the conversation logs.
type logFile struct {
	path    string
	address Address // of its folder, zero when that has another name
	size    int64
}

// thread is how far the conversation of an address is.
type thread struct {
	session  SessionID
	sessions []Session // of the database, oldest first
}

// find lists the logs: each conversation in the order of its days.
func (r *reindexer) find(dir string) (logs []logFile, size int64, err error) {
	folders, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(dir, folder.Name()))
		if err != nil {
			return nil, 0, err
		}
		address, err := parseFolder(folder.Name())
		if err != nil {
			address = Address{}
		}
		for _, f := range files { // sorted by name, which is the day
			info, err := f.Info()
			if err != nil || !info.Mode().IsRegular() || filepath.Ext(f.Name()) != ".jsonl" {
				continue
			}
			logs = append(logs, logFile{filepath.Join(dir, folder.Name(), f.Name()), address, info.Size()})
			size += info.Size()
		}
	}
	return logs, size, nil
}

// parseFolder is the address whose logs a folder holds.
func parseFolder(name string) (Address, error) {
	if a, err := parseAddress(name, 0); err == nil {
		return a, nil
	}
	chat, topic, _ := strings.Cut(name, "_")
	id, topic, found := strings.Cut(topic, "_")
	var thread int64
	if _, err := fmt.Sscanf(topic, "%d", &thread); err != nil || !found {
		return Address{}, fmt.Errorf("%q names no chat", name)
	}
	return parseAddress(chat+"_"+id, thread)
}

func (r *reindexer) run(ctx context.Context) error {
	write := func(fn func(*Tx) error) error { return r.store.Write(ctx, fn) }
	if err := write((*Tx).addShadows); err != nil {
		return err
	}
	for _, f := range r.logs {
		if err := r.readLog(ctx, f); err != nil {
			return err
		}
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	if err := r.keepTheRest(ctx); err != nil {
		return err
	}
	if err := r.memories(ctx); err != nil {
		return err
	}
	if r.how.Ready != nil {
		r.how.Ready()
	}
	return write(r.swap)
}

// readLog reads one file. Lines that are no records are counted and left out.
func (r *reindexer) readLog(ctx context.Context, log logFile) error {
	f, err := os.Open(log.path)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	in := bufio.NewReaderSize(f, 64<<10)
	for number := 1; ; number++ {
		line, n, err := readLine(in)
		r.read += int64(n)
		if n == 0 && err == io.EOF {
			return nil
		}
		if err != nil && err != io.EOF && !errors.Is(err, errLongLine) {
			return err
		}
		if err := r.takeLine(log, number, line, err); err != nil {
			return err
		}
		if len(r.batch) >= reindexBatch {
			if err := r.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// errLongLine is the error of readLine for a line that no record has.
var errLongLine = errors.New("the line is too long")

// readLine reads a line of at most lineBound bytes, and over a longer one. n is
// how many bytes it took.
func readLine(in *bufio.Reader) (line []byte, n int, err error) {
	long := false
	for {
		part, err := in.ReadSlice('\n')
		n += len(part)
		if long = long || n > lineBound; !long {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case long && (err == nil || err == io.EOF):
			return nil, n, errLongLine
		}
		return line, n, err
	}
}

func (r *reindexer) takeLine(log logFile, number int, line []byte, err error) error {
	line = bytes.TrimSpace(line)
	var e entry
	if !errors.Is(err, errLongLine) {
		if len(line) == 0 {
			return nil
		}
		e, err = parseRecordIn(log.address, line)
	}
	if err != nil {
		r.done.Skipped++
		if len(r.done.Faults) < faultsShown {
			name := filepath.Join(filepath.Base(filepath.Dir(log.path)), filepath.Base(log.path))
			r.done.Faults = append(r.done.Faults, fmt.Sprintf("%s line %d: %v", name, number, err))
		}
		return nil
	}
	r.batch = append(r.batch, e)
	return nil
}

// flush stores what was read.
func (r *reindexer) flush(ctx context.Context) error {
	batch := r.batch
	r.batch = r.batch[:0]
	err := r.store.Write(ctx, func(tx *Tx) error {
		for _, e := range batch {
			if err := r.add(tx, e, true); err != nil {
				return fmt.Errorf("message %q: %w", e.UID, err)
			}
		}
		return nil
	})
	if err == nil && r.how.Progress != nil {
		r.how.Progress(r.read, r.size)
	}
	return err
}

// add stores a message in the shadow tables, once.
func (r *reindexer) add(tx *Tx, e entry, logged bool) error {
	shadow := tx.inShadow()
	var there bool
	if err := tx.tx.QueryRow(shadow.on(`SELECT EXISTS (SELECT 1 FROM messages WHERE uid = ?)`), e.UID).Scan(&there); err != nil || there {
		return err
	}
	if err := r.place(tx, &e); err != nil {
		return err
	}
	id, err := shadow.Sessions().AddMessage(e.Message)
	if err != nil {
		return err
	}
	e.ID = id
	if logged {
		if _, err := shadow.exec(`UPDATE messages SET logged = 1 WHERE id = ?`, id); err != nil {
			return err
		}
	}
	r.done.Messages++
	if e.Type == typeBreak {
		r.done.Breaks++
	}
	return r.how.Message(shadow, Said(e))
}

// place finds the session of a message: the one that it has in the database, a
// new one for a break that is not there, else that of the message before, else
// the one that was current at its time.
func (r *reindexer) place(tx *Tx, e *entry) error {
	home, err := tx.Chats().Home(e.Address)
	if err != nil {
		return err
	}
	e.Address = home
	at := r.into[home]
	if at == nil {
		at = &thread{}
		if at.sessions, err = tx.Sessions().sessionsOf(home); err != nil {
			return err
		}
		r.into[home] = at
		r.done.Chats++
	}
	err = tx.tx.QueryRow(`SELECT session, coalesce(turn, 0) FROM messages WHERE uid = ?`, e.UID).Scan(&e.Session, &e.Turn)
	switch {
	case err == nil:
	case err != sql.ErrNoRows:
		return err
	case e.Type == typeBreak:
		e.Session, err = r.addSession(tx, Session{Address: home, Model: e.Model, StartedAt: e.At})
	case at.session != 0:
		e.Session = at.session
	default:
		if e.Session = at.current(e.At); e.Session == 0 {
			e.Session, err = r.addSession(tx, Session{Address: home, StartedAt: e.At})
		}
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	at.session = e.Session
	return err
}

// current is the session that was current at a time, 0 for none.
func (t *thread) current(at time.Time) (id SessionID) {
	for _, s := range t.sessions {
		if !s.StartedAt.After(at) {
			id = s.ID
		}
	}
	return id
}

// addSession notes a session that is to be added at the end.
func (r *reindexer) addSession(tx *Tx, s Session) (SessionID, error) {
	if len(r.added) > 0 {
		s.ID = r.added[len(r.added)-1].ID + 1
	} else {
		if err := tx.tx.QueryRow(`SELECT coalesce(max(id), 0) + 1 FROM sessions`).Scan(&s.ID); err != nil {
			return 0, err
		}
	}
	r.added = append(r.added, s)
	return s.ID, nil
}

func (tx SessionsTx) sessionsOf(a Address) ([]Session, error) {
	return query(tx, func(r row) (s Session, err error) {
		err = r.Scan(s.fields()...)
		return s, err
	}, `SELECT `+sessionColumns+` FROM sessions s WHERE s.channel = ? AND s.chat = ? AND s.thread = ? ORDER BY s.started_at, s.id`,
		a.Chat.Channel, a.Chat.ID, a.Thread)
}

// keepTheRest keeps the messages that a session has after the last one that is in
// a log, or all when no log has any.
func (r *reindexer) keepTheRest(ctx context.Context) error {
	for {
		n := 0
		err := r.store.Write(ctx, func(tx *Tx) error {
			rest, err := query(tx, scanEntry, restSQL, reindexBatch)
			n = len(rest)
			for _, e := range rest {
				if err == nil {
					err = r.keep(tx, e)
				}
			}
			return err
		})
		if err != nil || n == 0 {
			return err
		}
		r.done.Kept += n
	}
}

// keep is add for a message that is in the database and in no log.
func (r *reindexer) keep(tx *Tx, e entry) error {
	shadow := tx.inShadow()
	id, err := shadow.Sessions().AddMessage(e.Message)
	if err != nil {
		return err
	}
	e.ID = id
	r.done.Messages++
	return r.how.Message(shadow, Said(e))
}

const restSQL = `SELECT ` + entryColumns + ` FROM messages m JOIN sessions s ON s.id = m.session
	WHERE NOT EXISTS (SELECT 1 FROM shadow_messages n WHERE n.uid = m.uid)
	AND m.id > (SELECT coalesce(max(o.id), 0) FROM messages o JOIN shadow_messages n ON n.uid = o.uid WHERE o.session = m.session AND n.logged = 1)
	ORDER BY m.id LIMIT ?`

// memories makes the memories findable.
func (r *reindexer) memories(ctx context.Context) error {
	var after MemoryID
	for {
		n := 0
		err := r.store.Write(ctx, func(tx *Tx) error {
			some, err := query(tx, scanMemory, `SELECT `+memoryColumns+` FROM memories WHERE id > ? ORDER BY id LIMIT ?`, after, reindexBatch)
			if n = len(some); err != nil || n == 0 {
				return err
			}
			after = some[n-1].ID
			return r.how.Memories(tx.inShadow(), some)
		})
		if err != nil || n == 0 {
			return err
		}
		r.done.Memories += n
	}
}

// swap puts the new tables to use. What is found of files and of the manual has
// to be read again, and every chunk has another id, so its vector is none.
func (r *reindexer) swap(tx *Tx) error {
	for _, s := range r.added {
		if _, err := tx.exec(`INSERT INTO sessions (id, channel, chat, thread, model, started_at) VALUES (?, ?, ?, ?, ?, ?)`,
			s.ID, s.Address.Chat.Channel, s.Address.Chat.ID, s.Address.Thread, s.Model, toMillis(s.StartedAt)); err != nil {
			return err
		}
	}
	sets, err := tx.Vectors().VectorSets()
	if err != nil {
		return err
	}
	for _, set := range sets {
		// The foreign keys, which would take these along, are off.
		if _, err := tx.exec(`DELETE FROM vector_bits WHERE vectors = ?`, set.ID); err != nil {
			return err
		}
		if err := tx.Vectors().DropVectorSet(set.ID); err != nil {
			return err
		}
	}
	for _, statement := range []string{
		`UPDATE summaries SET first = coalesce((` + newIDSQL + ` = first), 0), through = coalesce((` + newIDSQL + ` = through), 0)`,
		`DELETE FROM summaries WHERE through = 0`,
		`DELETE FROM indexed`,
		`INSERT INTO indexed (kind, source, state) SELECT 'message', '', CAST(max(id) AS TEXT) FROM shadow_messages HAVING max(id) > 0`,
	} {
		if _, err := tx.exec(statement); err != nil {
			return err
		}
	}
	if err := tx.useShadows(); err != nil {
		return err
	}
	return tx.checkReferences()
}

const newIDSQL = `SELECT n.id FROM messages o JOIN shadow_messages n ON n.uid = o.uid WHERE o.id`

// checkReferences reports rows that point to nothing.
func (tx *Tx) checkReferences() error {
	var table string
	err := tx.tx.QueryRow(`SELECT "table" FROM pragma_foreign_key_check LIMIT 1`).Scan(&table)
	switch {
	case err == sql.ErrNoRows:
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("rows of %s point to nothing", table)
}
