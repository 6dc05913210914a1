package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
)

// sound reports whether a file is heard.
func (f *file) sound() bool {
	switch f.Kind {
	case gateway.AttachVoice, gateway.AttachVideoNote, gateway.AttachAudio:
		return true
	}
	return f.Kind == gateway.AttachDocument && (strings.HasPrefix(f.MIME, "audio/") || has(f.Name, ".mp3", ".wav", ".flac", ".ogg", ".oga", ".opus", ".m4a"))
}

// picture reports whether a file is looked at.
func (f *file) picture() bool {
	switch f.Kind {
	case gateway.AttachPhoto, gateway.AttachSticker, gateway.AttachVideo, gateway.AttachAnimation:
		return true
	}
	return f.Kind == gateway.AttachDocument && (slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, f.MIME) || has(f.Name, ".jpg", ".jpeg", ".png", ".gif", ".webp"))
}

func has(name string, ends ...string) bool {
	return slices.Contains(ends, strings.ToLower(path.Ext(name)))
}

// readAs reads a file as what it is.
func (m *Media) readAs(ctx context.Context, f *file) (outcome, error) {
	switch f.Kind {
	case gateway.AttachPhoto, gateway.AttachAudio, gateway.AttachDocument: // tools may open these
		f.Name = m.copyToInbox(ctx, f)
	}
	m.recognize(f)
	switch {
	case f.sound():
		return m.hear(ctx, f)
	case f.picture():
		return m.look(ctx, f)
	}
	return m.document(ctx, f)
}

// recognize takes a document for the picture that it is, whatever its name says.
func (m *Media) recognize(f *file) {
	if f.Kind != gateway.AttachDocument || f.sound() {
		return
	}
	r, err := m.Files.Open(f.row.Sum)
	if err != nil {
		return // its reader says so
	}
	defer r.Close() // nothing is written
	head := make([]byte, 512)
	n, _ := io.ReadFull(r, head) // a short file is one, too
	if is := http.DetectContentType(head[:n]); strings.HasPrefix(is, "image/") {
		f.MIME = is
	}
}

// copyToInbox copies a file to the workspace and returns its path there, or its name when
// it could not be copied.
func (m *Media) copyToInbox(ctx context.Context, f *file) string {
	otherwise := string(f.Kind) + "-" + f.Message.Time.In(m.Settings().Zone()).Format("20060102-150405")
	if f.Kind == gateway.AttachPhoto {
		otherwise += ".jpg"
	}
	name := cleanName(f.Name, otherwise)
	to, err := m.Files.copyTo(f.Row.Address.Chat.String(), name, f.row.Sum)
	if err == nil {
		err = m.Life.Persist(ctx, f.Row.Address, func(tx *store.Tx) error { return tx.Media().AddCopy(f.row.Sum, to) })
	}
	if err != nil {
		m.Log.Warn("file not copied to the workspace", "err", err)
		return name
	}
	return to
}

// hear turns a recording into text. What the person said for the bot are their words;
// all else is foreign.
func (m *Media) hear(ctx context.Context, f *file) (outcome, error) {
	text, err := m.Readers.Hear(ctx, m.Files.Path(f.row.Sum), f.MIME, f.Duration)
	if err != nil {
		return outcome{}, err
	}
	text = strings.TrimSpace(text)
	o := outcome{Label: "[" + m.label(f) + "]"}
	if f.own() && f.Kind != gateway.AttachAudio && f.Kind != gateway.AttachDocument {
		o.Label += " " + text
		o.heard, o.Spoken = text, true
		return o, nil
	}
	o.setForeign(f, text)
	o.heard = text
	return o, nil
}

// ocrBeside is how long the words of a picture may take that the model sees, ocrAlone
// where they are all that it gets.
const (
	ocrBeside = 2 * time.Second
	ocrAlone  = 20 * time.Second
)

// ocrWithin is how long the words of a picture in a chat may take.
func (m *Media) ocrWithin(ctx context.Context, chat gateway.ChatID) time.Duration {
	if m.Sees != nil && m.Sees(ctx, chat.String()) {
		return ocrBeside
	}
	return ocrAlone
}

// look makes a picture fit for models and reads the words in it.
func (m *Media) look(ctx context.Context, f *file) (outcome, error) {
	o := outcome{Label: "[" + m.label(f) + "]"}
	if m.Readers.Picture == nil {
		return o, nil
	}
	jpeg, width, height, err := m.Readers.Picture(ctx, m.Files.Path(f.row.Sum), m.Settings().Media.Images.MaxSide)
	if err != nil {
		return o, err
	}
	sum, err := m.keep(ctx, f, jpeg)
	if err != nil {
		return o, err
	}
	words := ""
	if m.Readers.Text != nil {
		soon, cancel := context.WithTimeout(ctx, m.ocrWithin(ctx, f.Row.Address.Chat))
		if words, err = m.Readers.Text(soon, m.Files.Path(sum)); err != nil {
			words = "" // what cannot be read is still seen
		}
		cancel()
	}
	o.setForeign(f, strings.TrimSpace(words))
	o.Image = &llm.Image{Sum: sum, MIME: "image/jpeg", Width: width, Height: height, Label: m.label(f)}
	return o, nil
}

// keep keeps a picture that models may see.
func (m *Media) keep(ctx context.Context, f *file, jpeg []byte) (sum string, err error) {
	sum, size, err := m.Files.Put(func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(jpeg))
		return err
	})
	if err == nil {
		err = m.Life.Persist(ctx, f.Row.Address, func(tx *store.Tx) error {
			return tx.Media().Keep(store.Media{Sum: sum, MIME: "image/jpeg", Bytes: size})
		})
	}
	return sum, err
}

// drawn is a document of scans as pictures of its first pages, for a model that sees.
func (m *Media) drawn(ctx context.Context, f *file) (o outcome, ok bool) {
	if m.Readers.Draw == nil || m.Sees == nil || !m.Sees(ctx, f.Row.Address.Chat.String()) {
		return o, false
	}
	pages, err := m.Readers.Draw(ctx, m.Files.Path(f.row.Sum), m.Settings().Media.Images.MaxSide)
	for i, page := range pages {
		var c image.Config
		var sum string
		if c, err = jpeg.DecodeConfig(bytes.NewReader(page)); err == nil {
			sum, err = m.keep(ctx, f, page)
		}
		if err != nil {
			break
		}
		o.Pages = append(o.Pages, llm.Image{
			Sum: sum, MIME: "image/jpeg", Width: c.Width, Height: c.Height, Label: fmt.Sprintf("page %d of %s", i+1, m.label(f)),
		})
	}
	if err != nil {
		m.Log.Warn("scan not drawn", "err", err)
		return o, false
	}
	o.Label = fmt.Sprintf("[%s; scans, here as pictures of the first pages]", m.documentLabel(f, Document{}))
	o.setForeign(f, "")
	return o, true
}

// document reads the first part of a document.
func (m *Media) document(ctx context.Context, f *file) (outcome, error) {
	o := outcome{Label: "[" + m.label(f) + "]"}
	if m.Readers.Document == nil {
		return o, nil
	}
	d, err := m.Readers.Document(ctx, m.Files.Path(f.row.Sum), path.Base(f.Name), f.MIME)
	if fault, is := errors.AsType[*confined.Fault](err); is && fault.Kind == confined.Scan {
		if o, drawn := m.drawn(ctx, f); drawn {
			return o, nil
		}
	}
	if err != nil {
		return o, err
	}
	o.Label = "[" + m.documentLabel(f, d) + "]"
	if strings.TrimSpace(d.Text) != "" {
		o.setForeign(f, d.Text)
	}
	return o, nil
}

// setForeign sets a text that is data, with the marks around it.
func (o *outcome) setForeign(f *file, text string) {
	source := path.Base(f.Name)
	if f.Name == "" {
		source = ""
	}
	o.Open, o.Text, o.End = tools.Foreign(noun(f), source, text)
}

const (
	// mostEcho is how much of a transcript a message shows, in characters.
	mostEcho  = 3500
	heardMark = "🎙 "
)

// echo shows the person what was heard, in the transaction that stores it.
func (m *Media) echo(tx *store.Tx, turn store.Turn, f *file, heard string) error {
	if heard == "" || !m.Settings().Media.Transcription.Echo {
		return nil
	}
	var parts []gateway.Part
	for text := []rune(heard); len(text) > 0; {
		size := min(len(text), mostEcho)
		p := gateway.Part{Text: heardMark + string(text[:size]), Silent: true}
		p.Entities = []gateway.Entity{{Type: "expandable_blockquote", Length: clip.UTF16Len(p.Text)}}
		parts, text = append(parts, p), text[size:]
	}
	outs := outbox.Rows(turn.Address, parts, fmt.Sprintf("turn/%d/heard/%d-%d", turn.ID, f.row.Inbox, f.row.Position), turn.ReplyTo)
	return outbox.Add(tx, outs)
}

// faulty is the outcome of a file that could not be read.
func (m *Media) faulty(f *file, sentence string) outcome {
	return outcome{Label: "[" + m.label(f) + ": " + strings.NewReplacer("[", "(", "]", ")").Replace(sentence) + "]", Fault: sentence}
}

func (m *Media) say(p locale.Phrase, args ...any) string {
	return locale.Say(m.Settings().Language, p, args...)
}
