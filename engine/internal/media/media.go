// Package media turns the files of messages into what a model reads: it downloads each,
// keeps it, has it read in a child process, and journals every step, so that a crash
// repeats only what is not done. It belongs to a turn, before its first model call. It
// knows no formats: Readers do.
package media

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
)

// Readers read files. One that is nil is missing. Their errors are *confined.Fault for
// what is wrong with the file.
type Readers struct {
	// Picture makes a picture fit for models, as a JPEG.
	Picture func(ctx context.Context, file string, maxSide int) (jpeg []byte, width, height int, err error)
	// Document reads the first characters of a document.
	Document func(ctx context.Context, file, name, mime string) (Document, error)
	// Draw draws the first pages of a document without text, as JPEGs.
	Draw func(ctx context.Context, file string, maxSide int) (pages [][]byte, err error)
	// Text reads the words in a picture, "" for none.
	Text func(ctx context.Context, file string) (string, error)
	// Hear turns a recording into text.
	Hear func(ctx context.Context, file, mime string, length time.Duration) (string, error)
	// Deaf reports whether nothing can be heard.
	Deaf func() bool
	// Learns reports whether the speech model of this machine would hear; nil: it would.
	Learns func() bool
}

// Document is what was read of a document.
type Document struct {
	Text string
	// Pages is how many it has, 0 for a kind without pages. More says that Text is not
	// all of it.
	Pages int
	More  bool
}

// Config is what New needs. All of it is required, but for Sees.
type Config struct {
	Store    *store.Store
	Life     *lifecycle.Lifecycle
	Gateway  *gateway.Gateway
	Settings func() settings.Settings
	// Sees reports whether the model of a chat may see pictures; nil: none does.
	Sees func(ctx context.Context, chat string) bool
	// Files keeps the files.
	Files   *Files
	Readers Readers
	Log     *slog.Logger
}

// Media prepares messages with files. It may be used by several goroutines at once.
type Media struct {
	Config
	slots *model.Slots
}

// New returns a Media.
func New(c Config) *Media {
	return &Media{c, model.NewSlots(func() int { return max(c.Settings().Media.Workers, 1) })}
}

// Item is a message of a turn.
type Item struct {
	Row     store.Update
	Message gateway.Message
}

// Has reports whether a message has files, of its own or quoted.
func Has(m gateway.Message) bool {
	return len(m.Attachments) > 0 || m.Reply != nil && len(m.Reply.Attachments) > 0
}

// Seen is what came out of the files of a message.
type Seen struct {
	// Label takes the place of what the channel calls its files.
	Label string
	// Blocks come after the text of the message.
	Blocks []llm.Block
	// Faults are sentences for the person.
	Faults []string
	// Spoken says that a file holds the person's own words.
	Spoken bool
	// Empty says that nothing could be made of any file, so that only faults are left.
	Empty bool
	// Kept are the files of the workspace that the message brought.
	Kept []string
}

// file is one file of a message on its way.
type file struct {
	Item
	gateway.Attachment
	// quoted says that it belongs to the message that this one answers.
	quoted bool
	row    store.Attachment
}

// own reports whether the person made the file for the bot.
func (f *file) own() bool { return !f.quoted && f.Message.Forwarded == "" }

// outcome is what came out of a file. It is kept as JSON until its turn ends.
type outcome struct {
	// Label is the line in the message. Text is what was read of foreign words; it and
	// the picture stand between Open and End.
	Label string     `json:"label,omitempty"`
	Text  string     `json:"text,omitempty"`
	Open  string     `json:"open,omitempty"`
	End   string     `json:"end,omitempty"`
	Image *llm.Image `json:"image,omitempty"`
	// Pages are pictures of the pages of a document without text, in place of Image.
	Pages []llm.Image `json:"pages,omitempty"`
	// Fault is the sentence that says why there is nothing.
	Fault string `json:"fault,omitempty"`
	// Spoken says that Label holds the words of the person.
	Spoken bool `json:"spoken,omitempty"`
	// heard is what the person said, for the echo.
	heard string
}

// Prepare does what the files of a turn's messages need, in order, and tells which is next.
// The error is the cause of ctx, or says that a step could not be stored.
func (m *Media) Prepare(ctx context.Context, turn store.Turn, items []Item, tell func(n, all int)) (map[store.InboxID]Seen, error) {
	files, err := m.journal(ctx, turn, items)
	if err != nil {
		return nil, err
	}
	seen := map[store.InboxID]Seen{}
	for i := range files {
		tell(i+1, len(files))
		f := &files[i]
		o, err := m.outcome(ctx, turn, f)
		if err != nil {
			return nil, err
		}
		s, there := seen[f.Row.ID]
		s.add(f, o, !there)
		seen[f.Row.ID] = s
	}
	return seen, nil
}

// journal notes the files of the messages, and finds how far each is.
func (m *Media) journal(ctx context.Context, turn store.Turn, items []Item) (files []file, err error) {
	for _, it := range items {
		all := it.Message.Attachments
		if r := it.Message.Reply; r != nil {
			all = slices.Concat(all, r.Attachments)
		}
		for i, a := range all {
			files = append(files, file{
				Item: it, Attachment: a, quoted: i >= len(it.Message.Attachments),
				row: store.Attachment{Turn: turn.ID, Inbox: it.Row.ID, Position: i, State: store.AttachmentNew},
			})
		}
	}
	var rows []store.Attachment
	err = m.Life.Persist(ctx, turn.Address, func(tx *store.Tx) (err error) {
		for _, f := range files {
			if err := tx.Media().AddAttachment(f.row); err != nil {
				return err
			}
		}
		rows, err = tx.Media().Attachments(turn.ID)
		return err
	})
	for i := range files {
		for _, row := range rows {
			if row.Inbox == files[i].row.Inbox && row.Position == files[i].row.Position {
				files[i].row = row
			}
		}
	}
	return files, err
}

// mostAttempts is how often a file is read that ends the process.
const mostAttempts = 2

// outcome is what comes out of a file: from the journal, or by doing what is missing.
func (m *Media) outcome(ctx context.Context, turn store.Turn, f *file) (o outcome, err error) {
	if f.row.State == store.AttachmentDone {
		err := json.Unmarshal(f.row.Outcome, &o)
		return o, err
	}
	o, ended := m.declared(f)
	if !ended && f.row.State == store.AttachmentNew {
		if o, ended, err = m.fetch(ctx, turn, f); err != nil {
			return o, err
		}
	}
	if !ended {
		if o, err = m.read(ctx, turn, f); err != nil {
			return o, err
		}
	}
	f.row.State = store.AttachmentDone
	if f.row.Outcome, err = json.Marshal(o); err != nil {
		return o, err
	}
	err = m.Life.Persist(ctx, turn.Address, func(tx *store.Tx) error {
		if err := tx.Media().SetAttachment(f.row); err != nil {
			return err
		}
		return m.echo(tx, turn, f, o.heard)
	})
	if err != nil {
		return o, fmt.Errorf("journal what was read: %w", err)
	}
	lifecycle.CrashPoint("media.read")
	return o, nil
}

// read reads a file that is kept.
func (m *Media) read(ctx context.Context, turn store.Turn, f *file) (outcome, error) {
	if f.row.Attempts >= mostAttempts {
		return m.faulty(f, m.about(f, locale.MediaGaveUp)), nil
	}
	f.row.Attempts++
	if err := m.Life.Persist(ctx, turn.Address, func(tx *store.Tx) error { return tx.Media().SetAttachment(f.row) }); err != nil {
		return outcome{}, fmt.Errorf("journal a reading: %w", err)
	}
	lifecycle.CrashPoint("media.reading")
	done, err := m.slots.Take(ctx, true)
	if err != nil {
		return outcome{}, err
	}
	defer done()
	o, err := m.readAs(ctx, f)
	if ctx.Err() != nil {
		return o, context.Cause(ctx)
	}
	if err != nil {
		o = m.faulty(f, m.sentence(f, err))
	}
	return o, nil
}

// add adds what came out of a file to what came out of its message.
func (s *Seen) add(f *file, o outcome, first bool) {
	if f.quoted {
		s.Blocks = append(s.Blocks, llm.Block{Text: "\n(quoted) " + o.Label})
	} else {
		s.Label = strings.TrimPrefix(s.Label+"\n"+o.Label, "\n")
	}
	if !f.quoted && strings.HasPrefix(f.Name, inbox+"/") {
		s.Kept = append(s.Kept, f.Name)
	}
	if o.Fault != "" && !slices.Contains(s.Faults, o.Fault) {
		s.Faults = append(s.Faults, o.Fault)
	}
	s.Spoken = s.Spoken || o.Spoken
	s.Empty = (first || s.Empty) && o.Fault != "" && !f.quoted
	text := strings.TrimPrefix(strings.TrimSuffix(o.Text, "\n")+"\n"+o.End, "\n")
	switch {
	case o.Open == "":
	case len(o.Pages) > 0:
		s.Blocks = append(s.Blocks, llm.Block{Text: "\n" + o.Open})
		for i := range o.Pages {
			s.Blocks = append(s.Blocks, llm.Block{Image: &o.Pages[i]})
		}
		s.Blocks = append(s.Blocks, llm.Block{Text: "\n" + text})
	case o.Image != nil:
		s.Blocks = append(s.Blocks, llm.Block{Text: "\n" + o.Open}, llm.Block{Image: o.Image}, llm.Block{Text: "\n" + text})
	default:
		s.Blocks = append(s.Blocks, llm.Block{Text: "\n" + o.Open + "\n" + text})
	}
}
