package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
)

const (
	// repeatMark stands before a message that may be there already.
	repeatMark = "↻ "
	// MaxUnits is how long a Telegram message may be, in UTF-16 units.
	MaxUnits = 4096
	// captionUnits is how long the caption of a file may be, in UTF-16 units.
	captionUnits = 1024
	// pieceBytes leaves room for what rendering adds to a piece of a document.
	pieceBytes = 3000
)

// Rows are the rows for the parts of one text. The last part ends the answer.
func Rows(to gateway.Address, parts []gateway.Part, key string, replyTo int64) []store.Out {
	outs := make([]store.Out, 0, len(parts))
	for i, p := range parts {
		if i == 0 {
			p.ReplyTo = replyTo
		}
		p.Last, p.Answers = i == len(parts)-1, replyTo
		outs = append(outs, store.Out{Key: fmt.Sprintf("%s/%d", key, i), Address: to, Body: Encode(p), State: store.OutboxNew})
	}
	return outs
}

// Add stores rows to deliver.
func Add(tx *store.Tx, outs []store.Out) error {
	for _, o := range outs {
		if err := tx.Outbox().AddOut(o); err != nil {
			return err
		}
	}
	return nil
}

// Encode is the body of a row.
func Encode(p gateway.Part) []byte {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // a Part holds only strings, numbers and booleans
	}
	return body
}

// Deletion is the row that deletes the placeholder of a turn.
func Deletion(to gateway.Address, turn store.TurnID, message int64) store.Out {
	return store.Out{Key: fmt.Sprintf("turn/%d/delete", turn), Turn: turn, Address: to, Body: deleteBody, Edit: message, State: store.OutboxNew}
}

// deleteBody is the part of a row that deletes its message.
var deleteBody = Encode(gateway.Part{})

// Replacement is an edit that gives a message another text and no buttons; for
// message 0 it is a new message. It is nil when there is nothing to show.
func Replacement(to gateway.Address, message int64, parts []gateway.Part, key string) []store.Out {
	if len(parts) == 0 {
		return nil
	}
	return []store.Out{{Key: key, Address: to, Body: Encode(gateway.Part{Text: parts[0].Text, Entities: parts[0].Entities}), Edit: message}}
}

// ResultRows are the rows for the messages that the result of a call carries.
func ResultRows(g *gateway.Gateway, c tools.Call, r tools.Result) ([]store.Out, error) {
	var outs []store.Out
	for i, m := range r.Outgoing {
		chat, err := gateway.ParseChatID(m.Chat)
		if err != nil {
			return nil, fmt.Errorf("send for %s: %w", c.Name, err)
		}
		to := gateway.Address{Chat: chat, Thread: m.Thread}
		parts := g.Render(chat.Channel, m.Text)
		var files []*gateway.Document
		for _, f := range m.Files() {
			d, err := Document(f.Name, f.MIME, f.Path)
			if err != nil {
				return nil, err
			}
			if d.As = f.As; f.Voice > 0 {
				d.As, d.Seconds = gateway.AsVoice, int((f.Voice + time.Second/2).Seconds())
			}
			files = append(files, d)
		}
		if len(files) > 0 {
			parts = withFiles(files, parts)
		}
		outs = append(outs, Rows(to, parts, fmt.Sprintf("call/%s/%d", c.ID, i), 0)...)
	}
	return outs, nil
}

// Document is a kept file as a part carries it.
func Document(name, mime, path string) (*gateway.Document, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the file %s that waits to be sent: %w", name, err)
	}
	return &gateway.Document{Name: name, MIME: mime, Sum: filepath.Base(path), Size: info.Size()}, nil
}

// withFiles are the parts of a file, or of an album, and of what is written to it: below
// it when that is short enough for a caption, else after it.
func withFiles(files []*gateway.Document, written []gateway.Part) []gateway.Part {
	p, rest := gateway.Part{}, written
	if len(written) == 1 && written[0].Document == nil && clip.UTF16Len(repeatMark+written[0].Text) <= captionUnits {
		p, rest = written[0], nil
	}
	if len(files) == 1 {
		p.Document = files[0]
	} else {
		p.Album = files
	}
	return append([]gateway.Part{p}, rest...)
}

// Albums are the parts of files that leave in a row: at least two pictures that follow
// each other leave as an album, so much as fits into one.
func Albums(files []*gateway.Document) (parts []gateway.Part) {
	for len(files) > 0 {
		n := 0
		for n < min(len(files), gateway.MaxAlbum) && files[n].As == "" && strings.HasPrefix(files[n].MIME, "image/") {
			n++
		}
		n = max(n, 1)
		if rest := len(files) - n; rest == 1 && n == gateway.MaxAlbum && strings.HasPrefix(files[n].MIME, "image/") {
			n-- // two are left for the next one
		}
		parts = append(parts, withFiles(files[:n], nil)...)
		files = files[n:]
	}
	return parts
}

// markRepeated marks a part that may be there already. Where the text has no
// room for the mark, a button carries it.
func markRepeated(p gateway.Part) gateway.Part {
	units := clip.UTF16Len(repeatMark)
	if clip.UTF16Len(p.Text)+units > MaxUnits {
		p.Buttons = append(slices.Clone(p.Buttons), []gateway.Button{{Text: "↻", Data: "repeated"}})
		return p
	}
	p.Text = repeatMark + p.Text
	p.Entities = slices.Clone(p.Entities)
	for i := range p.Entities {
		p.Entities[i].Offset += units
	}
	return p
}

// pieces cuts a text into pieces of at most that many bytes, at the ends of lines
// where there are any.
func pieces(text string, most int) (all []string) {
	for text != "" {
		piece := clip.Bytes(text, most)
		if end := strings.LastIndexByte(piece, '\n') + 1; end > 0 && len(piece) < len(text) {
			piece = piece[:end]
		}
		all, text = append(all, piece), text[len(piece):]
	}
	return all
}

// SweepFiles deletes the sent files that no row and no running turn needs any more.
func (d *Outbox) SweepFiles(ctx context.Context) error {
	named := map[string]bool{}
	err := d.config.Store.Read(ctx, func(tx *store.Tx) error {
		waiting, err := tx.Outbox().PendingOut(nil, -1)
		if err != nil {
			return err
		}
		for _, o := range waiting {
			var p gateway.Part
			if err := json.Unmarshal(o.Body, &p); err != nil {
				continue
			}
			for _, f := range p.Files() {
				named[f.Sum] = true
			}
		}
		results, err := tx.Turns().CallResults()
		if err != nil {
			return err
		}
		for _, text := range results {
			var r tools.Result
			if err := json.Unmarshal(text, &r); err != nil {
				return err
			}
			for _, a := range r.Artifacts {
				named[filepath.Base(a.Path)] = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	n, err := d.config.Files.Sweep(named)
	if n > 0 {
		d.config.Log.Info("sent files deleted", "files", n)
	}
	return err
}
