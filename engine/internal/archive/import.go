package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"klawbot/engine/internal/store"
)

const (
	// importBatch is how many records share a transaction, so that a running
	// bot never waits long for an import beside it.
	importBatch = 100
	// lineBound is the longest line that an import takes, in bytes.
	lineBound = 16 << 20
	// faultsShown is how many bad lines an import names.
	faultsShown = 10
)

// Import adds the records of an export or of conversation logs. What is there
// already, by its id, is skipped. Each session_break begins a session; imported
// sessions never displace a later one as the current one of their chat. Logs of
// a chat are imported by date. Lines that are no records are left out; the
// error names them when all others are added.
func (a *Archive) Import(ctx context.Context, records io.Reader) (added int, err error) {
	in := bufio.NewReaderSize(records, 64<<10)
	p := importer{store: a.store, sessions: map[store.Address]store.SessionID{}}
	for line := 1; ; line++ {
		text, _, err := ReadLine(in, lineBound)
		switch {
		case errors.Is(err, ErrLongLine):
			p.fault(line, err)
			continue
		case err == io.EOF:
			err = p.flush(ctx)
		case err == nil:
			if err = p.take(ctx, line, bytes.TrimSpace(text)); err == nil {
				continue
			}
		default:
			err = errors.Join(err, p.flush(ctx))
		}
		if err != nil {
			return p.added, fmt.Errorf("import up to line %d: %w", line, err)
		}
		return p.added, p.faultsError()
	}
}

// importer is the state of one import.
type importer struct {
	store *store.Store
	batch []store.Said
	added int
	// sessions is where the next message of an address belongs.
	sessions map[store.Address]store.SessionID
	faults   []error
	more     int // faults that are not kept
}

func (p *importer) take(ctx context.Context, line int, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	e, err := parseRecord(store.Address{}, text)
	if err != nil {
		p.fault(line, err)
		return nil
	}
	p.batch = append(p.batch, e)
	if len(p.batch) < importBatch {
		return nil
	}
	return p.flush(ctx)
}

func (p *importer) flush(ctx context.Context) error {
	n := 0
	err := p.store.Write(ctx, func(tx *store.Tx) (err error) {
		n, err = p.add(tx, p.batch)
		return err
	})
	p.batch = p.batch[:0]
	if err == nil {
		p.added += n
	}
	return err
}

func (p *importer) fault(line int, err error) {
	if len(p.faults) == faultsShown {
		p.more++
		return
	}
	p.faults = append(p.faults, fmt.Errorf("line %d: %w", line, err))
}

func (p *importer) faultsError() error {
	if len(p.faults) == 0 {
		return nil
	}
	texts := make([]string, len(p.faults))
	for i, err := range p.faults {
		texts[i] = err.Error()
	}
	if p.more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", p.more))
	}
	return fmt.Errorf("lines left out: %d (%s)", len(p.faults)+p.more, strings.Join(texts, "; "))
}

func (p *importer) add(tx *store.Tx, batch []store.Said) (added int, err error) {
	for _, e := range batch {
		known, err := p.addOne(tx, e)
		if err != nil {
			return 0, fmt.Errorf("record %q: %w", e.UID, err)
		}
		if !known {
			added++
		}
	}
	return added, nil
}

func (p *importer) addOne(tx *store.Tx, e store.Said) (known bool, err error) {
	session, _, known, err := tx.Archive().ByUID(e.UID)
	if err != nil {
		return false, err
	}
	if known {
		p.sessions[e.Address] = session
		return true, nil
	}
	e.Session = p.sessions[e.Address]
	if e.Type == store.TypeBreak || e.Session == 0 {
		if e.Session, err = sessionFor(tx, e); err != nil {
			return false, err
		}
		p.sessions[e.Address] = e.Session
	}
	_, err = tx.Sessions().AddMessage(e.Message)
	return false, err
}

// sessionFor finds the session of a message that does not follow another one
// of this import: the one that was current at its time (logs are imported file
// by file, and sessions outlast days), else a new one.
func sessionFor(tx *store.Tx, e store.Said) (store.SessionID, error) {
	if e.Type != store.TypeBreak {
		s, err := tx.Archive().SessionAt(e.Address, e.At)
		if !errors.Is(err, store.ErrNotFound) {
			return s.ID, err
		}
	}
	s, err := tx.Archive().AddSession(store.Session{Address: e.Address, Model: breakModel(e), StartedAt: e.At})
	return s.ID, err
}

// breakModel is the chosen model, which a break carries on.
func breakModel(e store.Said) string {
	if e.Type == store.TypeBreak {
		return e.Model
	}
	return ""
}
