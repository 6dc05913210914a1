package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"klawbot/engine/internal/llm"
	"klawbot/internal/redact"
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
		put = s.putLine
	case "md":
		put = (&markdown{secrets: s.secrets}).put
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

func (s *Store) putLine(w io.Writer, e entry) error {
	line, err := e.record().maskedLine(s.secrets)
	if err != nil {
		return err
	}
	_, err = w.Write(line)
	return err
}

// markdown writes entries under headings by conversation and day.
type markdown struct {
	secrets *redact.Set
	address Address
	day     string
}

func (m *markdown) put(w io.Writer, e entry) error {
	var b bytes.Buffer
	if e.Address != m.address {
		m.address, m.day = e.Address, ""
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
	_, err := io.WriteString(w, m.secrets.Text(b.String()))
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
