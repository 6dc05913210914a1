// Package transcribe turns recordings into text: by a speech model on this machine, in
// a child process, or by a server with the interface of OpenAI. Which of them hears a
// recording is fixed: the local model where it knows the language, then the server that
// the configuration names, and never another one.
//
// It knows no messages: whose words they are is for others to say.
package transcribe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"runtime"
	"time"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/embed"
)

// The kinds of Settings.Type.
const (
	TypeAuto  = "auto"   // the local model, then the server
	TypeLocal = "local"  // the local model alone
	TypeOther = "openai" // the server alone
	TypeOff   = "off"
)

// Settings are what may change while the bot runs.
type Settings struct {
	// Type is one of the constants; "" is TypeAuto.
	Type string
	// Server hears what the local model does not, nil for none.
	Server *Server
	// Language is what people speak where a call does not say, "en" for example.
	Language string
	// Longest is the longest recording; 0 means 10 minutes.
	Longest time.Duration
}

// Config is what New needs.
type Config struct {
	// Settings are read for each recording. Required.
	Settings func() Settings
	// Dirs are the folders of assets; the first that has a file wins.
	Dirs []string
	// Runtime is the file of the ONNX Runtime library, where the owner named one.
	Runtime string
	// HTTP asks the server. It must not follow redirects. Required with a server.
	HTTP *http.Client
	// Threads bounds the local model; 0 means all processors, at most 4.
	Threads int
	// Log is required. It gets no words.
	Log *slog.Logger
}

// Ears hear recordings. They may be used from several goroutines; each recording on
// this machine takes a child process and its memory.
type Ears struct{ config Config }

// New looks at nothing yet.
func New(c Config) *Ears {
	if c.Threads == 0 {
		c.Threads = min(runtime.NumCPU(), 4)
	}
	return &Ears{c}
}

// Heard is what a recording says.
type Heard struct {
	Text string
	// Model heard it, on this machine if Local.
	Model string
	Local bool
}

// Model is the name of the local model, which knows English alone.
const Model = "moonshine-tiny-en"

// NoEars is the detail of the fault confined.NoReader where nothing can hear.
const NoEars = "klawbot assets pull --speech"

// patience is what a child may take besides the length of a recording.
const patience = 30 * time.Second

// Hear returns the words of a recording. length is what its sender says, 0 for unknown;
// language "" is that of the settings. The error is a *confined.Fault for what the file,
// the limits or missing ears did.
func (e *Ears) Hear(ctx context.Context, file, mime string, length time.Duration, language string) (Heard, error) {
	s := e.settings()
	language = cmp.Or(language, s.Language)
	if length > s.Longest {
		return Heard{}, &confined.Fault{Kind: confined.TooLong, Detail: confined.Clock(length)}
	}
	library, dir, ready := e.local(s, language)
	var fault error = &confined.Fault{Kind: confined.NoReader, Detail: NoEars}
	if ready {
		text, err := e.here(ctx, file, library, dir, s)
		if err == nil {
			return Heard{Text: text, Model: Model, Local: true}, nil
		}
		if s.Server == nil || ctx.Err() != nil || !handsOn(err) {
			return Heard{}, err
		}
		e.config.Log.Warn("local transcription failed; ask the server", "provider", s.Server.Name, "error", err)
		fault = err
	}
	if s.Server == nil {
		return Heard{}, fault
	}
	text, err := s.Server.transcribe(ctx, e.config.HTTP, file, mime, language)
	if err != nil {
		return Heard{}, err
	}
	return Heard{Text: text, Model: s.Server.Model}, nil
}

// settings are the settings with what their zero values mean.
func (e *Ears) settings() Settings {
	s := e.config.Settings()
	s.Type, s.Longest = cmp.Or(s.Type, TypeAuto), cmp.Or(s.Longest, 10*time.Minute)
	if s.Type == TypeLocal || s.Type == TypeOff {
		s.Server = nil
	}
	return s
}

// local finds the local model; false where it does not know the language, is not there
// or is not wanted.
func (e *Ears) local(s Settings, language string) (library, dir string, ready bool) {
	if s.Type == TypeOff || s.Type == TypeOther || language != "" && language != "en" {
		return "", "", false
	}
	library, dir, err := Find(e.config.Runtime, e.config.Dirs)
	return library, dir, err == nil
}

// Learns reports whether the local model, once it is there, hears what people speak here.
func (e *Ears) Learns() bool {
	s := e.settings()
	_, err := Needed()
	return err == nil && (s.Type == TypeAuto || s.Type == TypeLocal) && (s.Language == "" || s.Language == "en")
}

// handsOn reports whether another one may succeed: the recording is not what is wrong.
func handsOn(err error) bool {
	f, ok := errors.AsType[*confined.Fault](err)
	return !ok || f.Kind == confined.NoDecoder || f.Kind == confined.GaveUp
}

// here hears a recording on this machine, in a child process.
func (e *Ears) here(ctx context.Context, file, library, dir string, s Settings) (string, error) {
	for _, path := range []*string{&file, &library, &dir} {
		full, err := filepath.Abs(*path)
		if err != nil {
			return "", err
		}
		*path = full
	}
	r, err := confined.Run(ctx, confined.Job{
		Kind: Kind, Input: file, Read: []string{library, dir}, Limit: patience + s.Longest,
		Options: options{Library: library, Dir: dir, Threads: e.config.Threads, Longest: s.Longest}.write(),
	})
	if err != nil {
		return "", err
	}
	return r.Text, nil
}

// Describe says what hears a recording in the language of the settings; false where
// nothing does.
func (e *Ears) Describe() (string, bool) {
	s := e.settings()
	_, _, ready := e.local(s, s.Language)
	switch {
	case s.Type == TypeOff:
		return "off", true
	case ready && s.Server != nil:
		return fmt.Sprintf("%s, here; %s at %s", Model, s.Server.Model, s.Server.Name), true
	case ready:
		return Model + ", here", true
	case s.Server != nil:
		return fmt.Sprintf("%s at %s", s.Server.Model, s.Server.Name), true
	case s.Language != "" && s.Language != "en":
		return "none: the local model knows English only; name a server in media.transcription.provider", false
	}
	return "none: " + NoEars, false
}

// Find finds the ONNX Runtime library and the folder of the model. The error names what
// is missing and is fs.ErrNotExist.
func Find(runtime string, dirs []string) (library, dir string, err error) {
	for _, name := range Files() {
		place, err := embed.FindFile(dirs, name)
		if err != nil {
			return "", "", err
		}
		dir = filepath.Dir(place)
	}
	library = runtime
	if library == "" {
		library, err = embed.FindFile(dirs, embed.LibraryName())
	}
	return library, dir, err
}

// Files are the files of the model, at their places in a folder of assets.
func Files() []string {
	var all []string
	for _, a := range assets {
		all = append(all, a.Path)
	}
	return all
}
