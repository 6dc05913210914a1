package media

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/advice"
	"klawbot/tools"
)

// noun is what a file is, for models.
func noun(f *file) string {
	switch {
	case f.Kind == gateway.AttachVideoNote:
		return "video message"
	case f.Kind == gateway.AttachDocument && f.picture():
		return "picture"
	}
	return string(f.Kind)
}

// label is what a file is called in a message, without the brackets.
func (m *Media) label(f *file) string {
	words := []string{noun(f)}
	if f.Name == "" && !f.quoted && (f.Kind == gateway.AttachSticker || f.Kind == gateway.AttachAudio) {
		words[0] = described(f.Message.Text, words[0])
	}
	if f.Name != "" {
		words = append(words, cleanPath(f.Name))
	}
	if f.Duration > 0 {
		words = append(words, confined.Clock(f.Duration))
	}
	return strings.Join(words, " ")
}

// described is what the channel says of a file, in the first line of its message: the
// emoji of a sticker, the title of a song.
func described(text, otherwise string) string {
	line, _, _ := strings.Cut(text, "\n")
	inside, opens := strings.CutPrefix(line, "[")
	inside, closes := strings.CutSuffix(inside, "]")
	if !opens || !closes || strings.ContainsAny(inside, "[]") || tools.ForeignName(inside) == "" {
		return otherwise
	}
	return inside
}

// cleanPath is a path whose parts are clean names.
func cleanPath(name string) string {
	if strings.HasPrefix(name, inbox+"/") {
		return name // cleaned when it was copied
	}
	return cleanName(name, "file")
}

// documentLabel says what more there is of a document.
func (m *Media) documentLabel(f *file, d Document) string {
	label := m.label(f)
	switch {
	case d.Pages == 1:
		label += ", 1 page"
	case d.Pages > 1:
		label += fmt.Sprintf(", %d pages", d.Pages)
	}
	if f.Size > 0 {
		label += ", " + size(f.Size)
	}
	if d.More {
		label += "; document_read reads on"
	}
	return label
}

// thing is what a person calls a file.
func (m *Media) thing(f *file) string {
	if f.Name != "" && f.Kind != gateway.AttachPhoto { // the name of a photo is ours
		return cleanName(path.Base(f.Name), "file")
	}
	switch f.Kind {
	case gateway.AttachPhoto, gateway.AttachSticker:
		return m.say(locale.MediaPhoto)
	case gateway.AttachVoice, gateway.AttachAudio, gateway.AttachVideoNote:
		return m.say(locale.MediaRecording)
	}
	return m.say(locale.MediaFile)
}

func (m *Media) tooBig(f *file, bytes int64) string {
	return m.about(f, locale.MediaTooBig, m.size(bytes), m.size(m.Settings().Media.MaxDownload))
}

// about is a sentence about a file. It begins with a capital letter, unless it begins
// with a name.
func (m *Media) about(f *file, p locale.Phrase, args ...any) string {
	text := m.say(p, append([]any{m.thing(f)}, args...)...)
	if f.Name != "" && f.Kind != gateway.AttachPhoto {
		return text
	}
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[n:]
}

// size is a number of bytes as people read it.
func (m *Media) size(bytes int64) string {
	text := size(bytes)
	if m.Settings().Language == "ru" {
		text = strings.NewReplacer("MB", "МБ", "kB", "КБ", "B", "Б").Replace(text)
	}
	return text
}

// Deaf reports whether the bot can't turn speech into text.
func (m *Media) Deaf() bool { return m.deaf() != "" }

// deaf is the sentence that says why nothing can be heard, "" when something can.
func (m *Media) deaf() string {
	switch {
	case m.Readers.Hear != nil && (m.Readers.Deaf == nil || !m.Readers.Deaf()):
		return ""
	case m.Readers.Learns != nil && !m.Readers.Learns():
		return m.say(locale.NoEarsHere)
	}
	return m.say(locale.NoEars)
}

// sentence is what the person reads when a file could not be read.
func (m *Media) sentence(f *file, err error) string {
	var fault *confined.Fault
	if !errors.As(err, &fault) {
		m.Log.Error("file not read", "kind", string(f.Kind), "err", err)
		if isFull(err) {
			return m.about(f, locale.MediaNoRoom)
		}
		return m.about(f, locale.MediaGaveUp)
	}
	m.Log.Info("file not read", "kind", string(f.Kind), "reason", fault.Error())
	switch fault.Kind {
	case confined.TooMuch:
		return m.about(f, locale.MediaTooMuch)
	case confined.Broken:
		return m.about(f, locale.MediaBroken)
	case confined.Locked:
		return m.about(f, locale.MediaLocked)
	case confined.NoReader:
		if f.sound() {
			return m.say(locale.NoEars)
		}
		return m.about(f, locale.MediaNoReader, advice.Text(fault.Detail))
	case confined.NoWords:
		return m.say(locale.MediaNoWords)
	case confined.NoDecoder:
		return m.about(f, locale.MediaNoDecoder)
	case confined.TooLong:
		return m.say(locale.MediaTooLong, fault.Detail, confined.Clock(m.Settings().Media.Transcription.Longest))
	case confined.Scan:
		return m.about(f, locale.MediaScan)
	}
	return m.about(f, locale.MediaGaveUp)
}

// size is a number of bytes.
func size(bytes int64) string {
	switch {
	case bytes >= 10<<20:
		return fmt.Sprintf("%d MB", bytes>>20)
	case bytes >= 1<<20:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(bytes)/(1<<20)), ".0") + " MB"
	case bytes >= 1<<10:
		return fmt.Sprintf("%d kB", bytes>>10)
	}
	return fmt.Sprintf("%d B", bytes)
}

// Caption is the text of a message without the description of its files, which is its
// first line.
func Caption(m gateway.Message) string {
	if !m.Described {
		return m.Text
	}
	_, rest, _ := strings.Cut(m.Text, "\n")
	return rest
}

// Spoken reports whether people spoke in messages.
func Spoken(seen map[store.InboxID]Seen) bool {
	for _, s := range seen {
		if s.Spoken {
			return true
		}
	}
	return false
}

// Faults are the sentences about the files of messages, each once. alone says that there
// is nothing else in them.
func Faults(items []Item, seen map[store.InboxID]Seen) (faults []string, alone bool) {
	alone = true
	for _, it := range items {
		s := seen[it.Row.ID]
		for _, fault := range s.Faults {
			if !slices.Contains(faults, fault) {
				faults = append(faults, fault)
			}
		}
		alone = alone && s.Empty && Caption(it.Message) == ""
	}
	return faults, alone
}
