// Package voice turns texts into voice messages: by a voice of Piper on this machine, in a
// child process, or by a server with the interface of OpenAI. Which of them speaks is fixed:
// the voice of this machine where there is one for the language, then the server that the
// configuration names, and never another one. It sends nothing.
package voice

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/embed"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
	"klawbot/engine/settings"
	"klawbot/internal/program"
)

// Config is what New needs.
type Config struct {
	// Settings are read for each text. Required.
	Settings func() settings.Settings
	// Dirs are the folders of assets; the first that has a file wins.
	Dirs []string
	// HTTP asks the server. It must not follow redirects. Required.
	HTTP *http.Client
	// Log is required. It gets no words.
	Log *slog.Logger
}

// Mouth speaks. It may be used from several goroutines.
type Mouth struct{ config Config }

// New looks at nothing yet.
func New(c Config) *Mouth { return &Mouth{c} }

// ErrMute is the error of Say where nothing can speak.
var ErrMute = errors.New("nothing can speak here: klawbot assets pull --voice en, with espeak-ng and opus-tools installed, or name a provider in media.voice")

// ErrNothing is the error of Say for a text without words.
var ErrNothing = errors.New("there is nothing to say")

// sayTime bounds a child.
const sayTime = 2 * time.Minute

// Say makes a voice message, Opus in Ogg, of a text in Markdown, which is cut at
// media.voice.maxChars. language "" is that of the bot.
func (m *Mouth) Say(ctx context.Context, text, language string) (ogg []byte, length time.Duration, err error) {
	s := m.config.Settings()
	v := s.Media.Voice
	if text = shortened(plain(text), v.MaxChars); text == "" {
		return nil, 0, ErrNothing
	}
	voice, here := m.local(s, cmp.Or(language, s.Language))
	remote := v.Provider != "" && v.Type != "local" && v.Type != "off"
	err = ErrMute
	if here {
		if ogg, err = m.here(ctx, voice, text); err == nil {
			return measured(ogg)
		}
		if !remote || ctx.Err() != nil {
			return nil, 0, err
		}
		m.config.Log.Warn("the local voice failed; ask the server", "provider", v.Provider, "error", err)
	}
	if !remote {
		return nil, 0, err
	}
	if ogg, err = m.ask(ctx, v, s.Models.Retries, text); err != nil {
		return nil, 0, fmt.Errorf("speak with %s at %s: %w", v.Model, v.Provider, err)
	}
	return measured(ogg)
}

// local is what the child needs for the voice of a language; false where it is not there
// or not wanted.
func (m *Mouth) local(s settings.Settings, language string) (piper, bool) {
	v := s.Media.Voice
	if v.Type == "off" || v.Type == "openai" {
		return piper{}, false
	}
	p := piper{library: s.Memory.Embedding.Runtime}
	model, err := embed.FindFile(m.config.Dirs, Folder(language)+"/model.onnx")
	if p.model = model; p.library == "" && err == nil {
		p.library, err = embed.FindFile(m.config.Dirs, embed.LibraryName())
	}
	return p, err == nil && program.Find("espeak-ng") != "" && program.Find("opusenc") != ""
}

// Folder is the folder of the voice of a language in a folder of assets. It holds
// model.onnx and model.onnx.json of a voice of Piper.
func Folder(language string) string { return "voice/" + language }

// here speaks in a child process.
func (m *Mouth) here(ctx context.Context, p piper, text string) ([]byte, error) {
	f, err := os.CreateTemp("", "klawbot-say-*.txt")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }() // the system removes what is left
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	for _, path := range []*string{&p.library, &p.model} {
		if *path, err = filepath.Abs(*path); err != nil {
			return nil, err
		}
	}
	p.threads = min(runtime.NumCPU(), 4)
	r, err := confined.Run(ctx, confined.Job{
		Kind: Kind, Input: f.Name(), Read: []string{p.library, filepath.Dir(p.model)}, Options: p.write(), Limit: sayTime,
	})
	return r.Data, err
}

// ask lets the server speak.
func (m *Mouth) ask(ctx context.Context, v settings.Voice, retries int, text string) ([]byte, error) {
	body, err := speechRequest(v, text)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	if v.APIKey != "" {
		header.Set("Authorization", "Bearer "+v.APIKey)
	}
	endpoint, err := protocol.New(protocol.Config{
		BaseURL: v.BaseURL, Paths: []string{"/audio/speech", "/chat/completions"}, Header: header, Key: v.APIKey, HTTP: m.config.HTTP,
	})
	if err != nil {
		return nil, err
	}
	var ogg []byte
	_, err = llm.Retry(ctx, llm.Policy{Retries: retries}, func(ctx context.Context) (llm.Result, error) {
		ogg, err = speech(ctx, endpoint, body)
		return llm.Result{}, err
	})
	return ogg, err
}

// Describe says what speaks in the language of the bot; false where nothing does.
func (m *Mouth) Describe() (string, bool) {
	s := m.config.Settings()
	v := s.Media.Voice
	_, here := m.local(s, s.Language)
	switch {
	case v.Type == "off":
		return "off", true
	case here:
		return "a voice for " + s.Language + ", here", true
	case v.Provider != "" && v.Type != "local":
		return fmt.Sprintf("%s at %s", v.Model, v.Provider), true
	}
	return "none: klawbot assets pull --voice en, with espeak-ng and opus-tools installed", false
}

// Speaks reports whether something can speak.
func (m *Mouth) Speaks() bool {
	_, can := m.Describe()
	return can && m.config.Settings().Media.Voice.Type != "off"
}

// measured adds how long a voice message is: its last page tells.
func measured(ogg []byte) ([]byte, time.Duration, error) {
	const pageHead, rate = 27, 48000
	head := strings.Index(string(ogg[:min(len(ogg), 200)]), "OpusHead")
	last := strings.LastIndex(string(ogg), "OggS")
	if head < 0 || len(ogg) < head+12 || last < 0 || len(ogg) < last+pageHead {
		return nil, 0, errors.New("what was spoken is no Opus")
	}
	end := int64(binary.LittleEndian.Uint64(ogg[last+6:])) - int64(binary.LittleEndian.Uint16(ogg[head+10:]))
	const most = 3 * 60 * 60 * rate
	if end <= 0 || end > most {
		return nil, 0, errors.New("what was spoken has no length")
	}
	return ogg, time.Duration(end) * time.Second / rate, nil
}
