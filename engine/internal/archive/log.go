package archive

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"klawbot/engine/internal/store"
	"klawbot/internal/redact"
)

const (
	// logFolder holds the conversation logs of a data directory.
	logFolder = "conversations"
	// logBatch is how many messages one pass writes before it marks them.
	logBatch = 200
	// logsKnown bounds how many files are remembered as in order.
	logsKnown = 1000
)

// logs appends to the conversation logs.
type logs struct {
	mu sync.Mutex
	// known holds the files that contain no message that is not marked as
	// logged. Another file is read before it is appended to, because the
	// process may have died between the two. Guarded by mu.
	known map[string]bool
}

// WriteLog appends the messages that are not in the conversation logs yet to
// <data>/conversations/<address>/YYYY-MM-DD.jsonl. A message is never written
// twice, also not after a crash in between. The logs are not synced: after a
// power cut their end may be missing, the database's is not. Beside a running
// bot it does nothing, because the bot does it.
func (a *Archive) WriteLog(ctx context.Context) error {
	if !a.store.Alone() {
		return nil
	}
	a.logs.mu.Lock()
	defer a.logs.mu.Unlock()
	for {
		n, err := a.writeLogBatch(ctx)
		if err != nil {
			a.logs.known = nil
			return fmt.Errorf("write conversation log: %w", err)
		}
		if n < logBatch {
			return nil
		}
	}
}

func (a *Archive) writeLogBatch(ctx context.Context) (int, error) {
	var batch []store.Said
	err := a.store.Read(ctx, func(tx *store.Tx) (err error) {
		batch, err = tx.Archive().Unlogged(logBatch)
		return err
	})
	if err != nil || len(batch) == 0 {
		return 0, err
	}
	files := map[string][]record{}
	ids := make([]store.MessageID, len(batch))
	for i, e := range batch {
		path := filepath.Join(a.store.Dir(), logFolder, e.Address.String(), e.At.Format("2006-01-02")+".jsonl")
		files[path] = append(files[path], recordOf(e))
		ids[i] = e.ID
	}
	for path, records := range files {
		if err := a.logs.append(path, records, a.store.Secrets(), len(batch) < logBatch); err != nil {
			return 0, err
		}
	}
	// Without the marks the lines are looked for in the file.
	return len(batch), a.store.WriteUnsynced(ctx, func(tx *store.Tx) error { return tx.Archive().MarkLogged(ids...) })
}

// append adds messages to a log. last says that no more wait to be logged.
func (l *logs) append(path string, records []record, secrets *redact.Set, last bool) error {
	var there map[string]bool
	if !l.known[path] {
		var err error
		if there, err = repairLog(path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	var text []byte
	for _, r := range records {
		if there[r.ID] {
			continue
		}
		line, err := r.line(secrets)
		if err != nil {
			return err
		}
		text = append(text, line...)
	}
	if err := appendFile(path, text); err != nil {
		return err
	}
	if len(there) > 0 && !last {
		return nil // the file may have later ones, too
	}
	if l.known == nil || len(l.known) >= logsKnown {
		l.known = map[string]bool{}
	}
	l.known[path] = true
	return nil
}

func appendFile(path string, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// repairLog lists the ids in a log and repairs its end: a last line without a
// newline gets one when it is whole, else it is cut off, for its message is not
// marked as logged and comes again.
func repairLog(path string) (ids map[string]bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	ids = map[string]bool{}
	var end int64 // of the last whole line
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		id := recordID(line)
		ids[id] = true
		switch {
		case err == nil:
			end += int64(len(line))
		case err != io.EOF:
			return nil, err
		case len(line) == 0:
			return ids, nil
		case id == "":
			return ids, f.Truncate(end)
		default:
			_, err = f.WriteAt([]byte("\n"), end+int64(len(line)))
			return ids, err
		}
	}
}

// recordID is the id in a line, "" when it is no record.
func recordID(line []byte) string {
	var r struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(line, &r) != nil {
		return ""
	}
	return r.ID
}
