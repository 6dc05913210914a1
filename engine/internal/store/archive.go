package store

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"klawbot/engine/internal/llm"
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

const exportSQL = `SELECT ` + entryColumns + ` FROM messages m JOIN sessions s ON s.id = m.session
	ORDER BY s.channel, s.chat, s.thread, s.started_at, s.id, m.id`

// Export writes all conversations, one after the other, each in order. The
// format "json" is what Import reads: JSON lines as in the conversation logs;
// "md" is Markdown for people.
func (s *Store) Export(ctx context.Context, w io.Writer, format string) error {
	var put func(io.Writer, entry) error
	switch format {
	case "json":
		put = putLine
	case "md":
		put = new(markdown).put
	default:
		return fmt.Errorf("export: format %q is unknown: json or md", format)
	}
	out := bufio.NewWriter(w)
	err := s.Read(ctx, func(tx *Tx) error { return exportTo(out, tx, put) })
	if err = errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

func exportTo(w io.Writer, tx *Tx, put func(io.Writer, entry) error) error {
	rows, err := tx.tx.Query(exportSQL)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		e, err := scanEntry(rows)
		if err != nil {
			return err
		}
		if err := put(w, e); err != nil {
			return err
		}
	}
	return rows.Err()
}

func putLine(w io.Writer, e entry) error {
	line, err := e.record().line()
	if err != nil {
		return err
	}
	_, err = w.Write(line)
	return err
}

// markdown writes entries under headings by conversation and day.
type markdown struct {
	address Address
	day     string
}

func (m *markdown) put(w io.Writer, e entry) error {
	var b bytes.Buffer
	if e.Address != m.address {
		*m = markdown{address: e.Address}
		fmt.Fprintf(&b, "# %s\n\n", e.Address)
	}
	if day := e.At.Format("2006-01-02"); day != m.day {
		m.day = day
		fmt.Fprintf(&b, "## %s\n\n", day)
	}
	r := e.record()
	if r.Type == typeBreak {
		b.WriteString("---\n\n")
	} else {
		fmt.Fprintf(&b, "**%s**, %s UTC\n\n", speaker(r), e.At.Format("15:04"))
		b.WriteString(r.Content + "\n\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// speaker names who said it, and what it is when it is not just said.
func speaker(r record) string {
	name := string(r.Role)
	if r.Role == llm.RoleUser && r.Meta.SenderName != "" {
		name = r.Meta.SenderName
	}
	if r.Type != "" {
		name += " (" + r.Type + ")"
	}
	return name
}

// Import adds the records of an export or of conversation logs. What is there
// already, by its id, is skipped. Each session_break begins a session; imported
// sessions never displace a later one as the current one of their chat. Lines
// that are no records are left out, the error names them when all others are
// added.
func (s *Store) Import(ctx context.Context, records io.Reader) (added int, err error) {
	in := bufio.NewScanner(records)
	in.Buffer(nil, lineBound)
	p := importer{store: s, sessions: map[Address]SessionID{}}
	for line := 1; in.Scan(); line++ {
		if err := p.take(ctx, line, bytes.TrimSpace(in.Bytes())); err != nil {
			return p.added, fmt.Errorf("import up to line %d: %w", line, err)
		}
	}
	if err := errors.Join(in.Err(), p.flush(ctx)); err != nil {
		return p.added, fmt.Errorf("import: %w", err)
	}
	return p.added, p.faultsError()
}

// importer is the state of one import.
type importer struct {
	store *Store
	batch []entry
	added int
	// sessions is where the next message of an address belongs.
	sessions map[Address]SessionID
	faults   []error
	more     int // faults that are not kept
}

func (p *importer) take(ctx context.Context, line int, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	e, err := parseRecord(text)
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
	err := p.store.Write(ctx, func(tx *Tx) (err error) {
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
	all := p.faults
	if p.more > 0 {
		all = append(all, fmt.Errorf("and %d more lines", p.more))
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("import: some lines were left out:\n%w", errors.Join(all...))
}

func (p *importer) add(tx *Tx, batch []entry) (added int, err error) {
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

func (p *importer) addOne(tx *Tx, e entry) (known bool, err error) {
	var session SessionID
	err = tx.tx.QueryRow(`SELECT session FROM messages WHERE uid = ?`, e.UID).Scan(&session)
	if err == nil {
		p.sessions[e.Address] = session
		return true, nil
	}
	if err != sql.ErrNoRows {
		return false, err
	}
	if p.sessions[e.Address] == 0 || e.Type == typeBreak {
		s, err := tx.addSession(Session{Address: e.Address, Model: breakModel(e), StartedAt: e.At})
		if err != nil {
			return false, err
		}
		p.sessions[e.Address] = s.ID
	}
	e.Session = p.sessions[e.Address]
	_, err = tx.AddMessage(e.Message)
	return false, err
}

// breakModel is the chosen model, which a break carries on.
func breakModel(e entry) string {
	if e.Type == typeBreak {
		return e.Model
	}
	return ""
}
