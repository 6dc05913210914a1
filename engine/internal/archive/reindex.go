package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"klawbot/engine/internal/store"
)

// Reindexing says how Reindex indexes.
type Reindexing struct {
	// Message stores the chunks of a message, and Memories those of some memories
	// that follow each other.
	Message  func(*store.Tx, store.Said) error
	Memories func(*store.Tx, []store.Memory) error
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
	// Memories are those that were indexed again.
	Memories int
	// Skipped counts invalid lines; Faults names some.
	Skipped int
	Faults  []string
}

// reindexBatch is how many messages share a transaction.
const reindexBatch = 500

// Reindex rebuilds the messages and the search index of messages and memories from
// the conversation logs of the data directory. Until the last moment the
// old tables stay as they are; a kill leaves them. Sessions are kept, and those
// that only the logs know come back. What only the database knows of the end of
// a conversation is kept and written to its log again. The vectors are gone
// afterwards, for the bot to make them again. The Store must be Open's and
// otherwise unused.
func (a *Archive) Reindex(ctx context.Context, how Reindexing) (done Reindexed, err error) {
	if err := a.WriteLog(ctx); err != nil {
		return done, err
	}
	r := &reindexer{store: a.store, how: how, into: map[store.Address]*thread{}}
	if r.logs, r.size, err = r.find(filepath.Join(a.store.Dir(), logFolder)); err != nil {
		return done, fmt.Errorf("reindex: %w", err)
	}
	if err := a.store.Rebuild(ctx, func() error { return r.run(ctx) }); err != nil {
		return r.done, fmt.Errorf("reindex: %w", err)
	}
	return r.done, nil
}

// reindexer is the state of one Reindex.
type reindexer struct {
	store      *store.Store
	how        Reindexing
	logs       []logFile
	size, read int64
	done       Reindexed
	into       map[store.Address]*thread
	// added are sessions that the database does not have yet.
	added []store.Session
	batch []store.Said
}

// logFile is a file of the conversation logs.
type logFile struct {
	path    string
	address store.Address // of its folder, zero when that has another name
	size    int64
}

// thread is how far the conversation of an address is.
type thread struct {
	session  store.SessionID
	sessions []store.Session // of the database, oldest first
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
			address = store.Address{}
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
func parseFolder(name string) (store.Address, error) {
	if a, err := parseAddress(name, 0); err == nil {
		return a, nil
	}
	chat, topic, _ := strings.Cut(name, "_")
	id, topic, found := strings.Cut(topic, "_")
	var thread int64
	if _, err := fmt.Sscanf(topic, "%d", &thread); err != nil || !found {
		return store.Address{}, fmt.Errorf("%q names no chat", name)
	}
	return parseAddress(chat+"_"+id, thread)
}

func (r *reindexer) run(ctx context.Context) error {
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
	return r.store.Write(ctx, func(tx *store.Tx) error {
		for _, s := range r.added {
			if _, err := tx.Archive().AddSession(s); err != nil {
				return err
			}
		}
		return tx.Archive().FinishRebuild()
	})
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
		line, n, err := ReadLine(in, lineBound)
		r.read += int64(n)
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, ErrLongLine) {
			return err
		}
		r.takeLine(log, number, line, err)
		if len(r.batch) >= reindexBatch {
			if err := r.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// takeLine takes the record in a line, or counts what is none; err is ReadLine's.
func (r *reindexer) takeLine(log logFile, number int, line []byte, err error) {
	line = bytes.TrimSpace(line)
	var e store.Said
	if !errors.Is(err, ErrLongLine) {
		if len(line) == 0 {
			return
		}
		e, err = parseRecord(log.address, line)
	}
	if err != nil {
		r.done.Skipped++
		if len(r.done.Faults) < faultsShown {
			name := filepath.Join(filepath.Base(filepath.Dir(log.path)), filepath.Base(log.path))
			r.done.Faults = append(r.done.Faults, fmt.Sprintf("%s line %d: %v", name, number, err))
		}
		return
	}
	r.batch = append(r.batch, e)
}

// flush stores what was read.
func (r *reindexer) flush(ctx context.Context) error {
	batch := r.batch
	r.batch = r.batch[:0]
	err := r.store.Write(ctx, func(tx *store.Tx) error {
		for _, e := range batch {
			if err := r.add(tx, e); err != nil {
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

// add stores a message of a log, once.
func (r *reindexer) add(tx *store.Tx, m store.Said) error {
	if _, _, there, err := tx.Archive().Rebuilt().Archive().ByUID(m.UID); err != nil || there {
		return err
	}
	if err := r.place(tx, &m); err != nil {
		return err
	}
	id, err := r.put(tx, m)
	if err != nil {
		return err
	}
	if m.Type == store.TypeBreak {
		r.done.Breaks++
	}
	return tx.Archive().Rebuilt().Archive().MarkLogged(id)
}

// put stores a message in the tables that are built, and what finds it.
func (r *reindexer) put(tx *store.Tx, m store.Said) (id store.MessageID, err error) {
	rebuilt := tx.Archive().Rebuilt()
	if m.ID, err = rebuilt.Sessions().AddMessage(m.Message); err != nil {
		return 0, err
	}
	r.done.Messages++
	return m.ID, r.how.Message(rebuilt, m)
}

// place finds the session of a message: the one that it has in the database, a
// new one for a break that is not there, else that of the message before, else
// the one that was current at its time.
func (r *reindexer) place(tx *store.Tx, e *store.Said) error {
	home, err := tx.Chats().Home(e.Address)
	if err != nil {
		return err
	}
	e.Address = home
	at := r.into[home]
	if at == nil {
		at = &thread{}
		if at.sessions, err = tx.Archive().SessionsOf(home); err != nil {
			return err
		}
		r.into[home] = at
		r.done.Chats++
	}
	session, turn, known, err := tx.Archive().ByUID(e.UID)
	switch {
	case err != nil:
		return err
	case known:
		e.Session, e.Turn = session, turn
	case e.Type == store.TypeBreak:
		e.Session, err = r.addSession(tx, store.Session{Address: home, Model: e.Model, StartedAt: e.At})
	case at.session != 0:
		e.Session = at.session
	default:
		if e.Session = at.current(e.At); e.Session == 0 {
			e.Session, err = r.addSession(tx, store.Session{Address: home, StartedAt: e.At})
		}
	}
	at.session = e.Session
	return err
}

// current is the session that was current at a time, 0 for none.
func (t *thread) current(at time.Time) (id store.SessionID) {
	for _, s := range t.sessions {
		if !s.StartedAt.After(at) {
			id = s.ID
		}
	}
	return id
}

// addSession notes a session that is to be added at the end.
func (r *reindexer) addSession(tx *store.Tx, s store.Session) (id store.SessionID, err error) {
	if len(r.added) > 0 {
		s.ID = r.added[len(r.added)-1].ID + 1
	} else if s.ID, err = tx.Archive().NextSession(); err != nil {
		return 0, err
	}
	r.added = append(r.added, s)
	return s.ID, nil
}

// keepTheRest keeps the messages that a session has after the last one that is in
// a log, or all when no log has any.
func (r *reindexer) keepTheRest(ctx context.Context) error {
	for {
		n := 0
		err := r.store.Write(ctx, func(tx *store.Tx) error {
			rest, err := tx.Archive().Rest(reindexBatch)
			n = len(rest)
			for _, m := range rest {
				if err == nil {
					_, err = r.put(tx, m)
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

// memories indexes the memories.
func (r *reindexer) memories(ctx context.Context) error {
	var after store.MemoryID
	for {
		n := 0
		err := r.store.Write(ctx, func(tx *store.Tx) error {
			some, err := tx.Archive().MemoriesAfter(after, reindexBatch)
			if n = len(some); err != nil || n == 0 {
				return err
			}
			after = some[n-1].ID
			return r.how.Memories(tx.Archive().Rebuilt(), some)
		})
		if err != nil || n == 0 {
			return err
		}
		r.done.Memories += n
	}
}
