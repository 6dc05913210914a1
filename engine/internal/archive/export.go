package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/internal/redact"
)

// Export writes all conversations, one after the other, each in order. The
// format "json" is what Import reads: JSON lines as in the conversation logs;
// "md" is Markdown for people.
func (a *Archive) Export(ctx context.Context, w io.Writer, format string) error {
	var put func(io.Writer, store.Said) error
	switch format {
	case "json":
		put = a.putLine
	case "md":
		put = (&markdown{secrets: a.store.Secrets()}).put
	default:
		return fmt.Errorf("export: format %q is unknown: json or md", format)
	}
	out := bufio.NewWriter(w)
	err := a.store.Read(ctx, func(tx *store.Tx) error {
		return tx.Archive().EachSaid(func(m store.Said) error { return put(out, m) })
	})
	if err = errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

func (a *Archive) putLine(w io.Writer, m store.Said) error {
	line, err := recordOf(m).line(a.store.Secrets())
	if err != nil {
		return err
	}
	_, err = w.Write(line)
	return err
}

// markdown writes messages under headings by conversation and day.
type markdown struct {
	secrets *redact.Set
	address store.Address
	day     string
}

func (m *markdown) put(w io.Writer, e store.Said) error {
	var b bytes.Buffer
	if e.Address != m.address {
		m.address, m.day = e.Address, ""
		fmt.Fprintf(&b, "# %s\n\n", e.Address)
	}
	if day := e.At.Format("2006-01-02"); day != m.day {
		m.day = day
		fmt.Fprintf(&b, "## %s\n\n", day)
	}
	r := recordOf(e)
	if r.Type == store.TypeBreak {
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
