package transcribe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/embed"
	"klawbot/engine/internal/transcribe"
	"klawbot/internal/httpclient"
)

func TestMain(m *testing.M) {
	confined.Main(map[string]confined.Kind{transcribe.Kind: transcribe.Child})
	os.Exit(m.Run())
}

// server is a fake of POST /v1/audio/transcriptions. It answers each request with the
// next answer, the last one again and again.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	answers []answer          // guarded by mu, like all that follows
	form    map[string]string // of the last request, with the file's name and its bytes
	asked   int
}

type answer struct {
	status int
	body   string
	header http.Header
}

func newServer(t *testing.T, answers ...answer) *server {
	s := &server{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked++
		s.form = map[string]string{"path": r.URL.Path, "authorization": r.Header.Get("Authorization")}
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			s.form["error"] = err.Error()
		} else {
			for name, values := range r.MultipartForm.Value {
				s.form[name] = strings.Join(values, ",")
			}
			file := r.MultipartForm.File["file"][0]
			f, _ := file.Open()
			raw, _ := io.ReadAll(f)
			s.form["name"], s.form["file"] = file.Filename, string(raw)
		}
		a := s.answers[0]
		if len(s.answers) > 1 {
			s.answers = s.answers[1:]
		}
		for name, values := range a.header {
			w.Header()[name] = values
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) saw() (form map[string]string, asked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.form, s.asked
}

const key = "sk-secret-key-of-a-test"

func ears(settings transcribe.Settings, s *server, dirs ...string) *transcribe.Ears {
	if s != nil {
		settings.Server = &transcribe.Server{Name: "whisper", BaseURL: s.URL + "/v1", APIKey: key, Model: "whisper-1", Retries: 2}
	}
	return transcribe.New(transcribe.Config{
		Settings: func() transcribe.Settings { return settings }, Dirs: dirs, Log: slog.New(slog.DiscardHandler), Threads: 1,
		HTTP: httpclient.New(httpclient.Options{}),
	})
}

// assets is a folder that has files of a model and a runtime by name. They are none.
func assets(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append(transcribe.Files(), embed.LibraryName()) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("no model"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func fixture(t *testing.T, name string) string { return filepath.Join("testdata", name) }

func write(t *testing.T, raw []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "voice")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// silence is a WAV file of so many seconds.
func silence(t *testing.T, seconds int) string {
	t.Helper()
	size := 2 * 8000 * seconds
	head := "RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data"
	return write(t, append([]byte(head+string([]byte{byte(size), byte(size >> 8), byte(size >> 16), byte(size >> 24)})), make([]byte, size)...))
}

func kindOf(err error) confined.FaultKind {
	if f, ok := errors.AsType[*confined.Fault](err); ok {
		return f.Kind
	}
	return ""
}

// TestServerHears: the file goes as it is, by the name that its contents ask for.
func TestServerHears(t *testing.T) {
	s := newServer(t, answer{status: 200, body: `{"text": " Ждём гостей. ", "usage": {"type": "duration", "seconds": 1}}`})
	heard, err := ears(transcribe.Settings{Language: "ru"}, s).Hear(t.Context(), fixture(t, "tone.opus"), "audio/ogg", time.Second, "")
	if err != nil || heard != (transcribe.Heard{Text: "Ждём гостей.", Model: "whisper-1"}) {
		t.Fatalf("%+v, %v", heard, err)
	}
	raw, err := os.ReadFile(fixture(t, "tone.opus"))
	if err != nil {
		t.Fatal(err)
	}
	form, _ := s.saw()
	want := map[string]string{"path": "/v1/audio/transcriptions", "authorization": "Bearer " + key, "model": "whisper-1",
		"language": "ru", "response_format": "json", "name": "audio.ogg", "file": string(raw)}
	for name, value := range want {
		if form[name] != value {
			t.Errorf("%s: %.60q, want %.60q", name, form[name], value)
		}
	}
}

// TestServerFailures: what passes is tried again, what does not pass is an error without
// the key.
func TestServerFailures(t *testing.T) {
	busy := answer{status: 503, body: `{"error": {"message": "busy"}}`}
	ok := answer{status: 200, body: `{"text": "Hello."}`}
	for name, c := range map[string]struct {
		answers []answer
		asked   int
		text    string
		says    string
	}{
		"busy once":       {[]answer{busy, ok}, 2, "Hello.", ""},
		"always busy":     {[]answer{busy}, 3, "", "busy"},
		"wrong key":       {[]answer{{status: 401, body: `{"error": {"message": "wrong key ` + key + `"}}`}}, 1, "", "wrong key [redacted]"},
		"no such model":   {[]answer{{status: 404, body: `{"error": {"message": "no model whisper-1"}}`}}, 1, "", "no model"},
		"redirects":       {[]answer{{status: 302, header: http.Header{"Location": {"http://elsewhere.example/"}}}}, 1, "", "redirects to http://elsewhere.example"},
		"a page":          {[]answer{{status: 200, body: "<html>"}}, 1, "", "is baseURL right?"},
		"another API":     {[]answer{{status: 200, body: `{"segments": []}`}}, 1, "", "has no text"},
		"a wait too long": {[]answer{{status: 429, body: `{}`, header: http.Header{"Retry-After": {"3600"}}}}, 1, "", "429"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, c.answers...)
			heard, err := ears(transcribe.Settings{}, s).Hear(t.Context(), fixture(t, "tone.opus"), "", 0, "")
			_, asked := s.saw()
			if heard.Text != c.text || asked != c.asked || (err == nil) != (c.says == "") {
				t.Fatalf("%q, %v after %d requests", heard.Text, err, asked)
			}
			if err != nil && (!strings.Contains(fmt.Sprint(err), c.says) || strings.Contains(err.Error(), key)) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
	s := newServer(t, answer{status: 200, body: `{"text": " \n"}`})
	if _, err := ears(transcribe.Settings{}, s).Hear(t.Context(), fixture(t, "tone.opus"), "", 0, ""); kindOf(err) != confined.NoWords {
		t.Errorf("no words: %v", err)
	}
}

// TestOrderOfEars: local where it knows the language, then the named server, else nobody.
func TestOrderOfEars(t *testing.T) {
	said := answer{status: 200, body: `{"text": "Hello."}`}
	for name, c := range map[string]struct {
		settings transcribe.Settings
		server   bool
		local    bool
		file     string
		length   time.Duration
		language string
		kind     confined.FaultKind // of the error
		asked    int
	}{
		"nothing":                      {file: "tone.opus", kind: confined.NoReader},
		"off":                          {settings: transcribe.Settings{Type: transcribe.TypeOff}, server: true, local: true, file: "tone.opus", kind: confined.NoReader},
		"local has it":                 {server: true, local: true, kind: confined.NoWords}, // silence: the model is not even loaded
		"another language":             {server: true, local: true, language: "ru", asked: 1},
		"another language, local only": {settings: transcribe.Settings{Type: transcribe.TypeLocal, Language: "ru"}, server: true, local: true, kind: confined.NoReader},
		"server only":                  {settings: transcribe.Settings{Type: transcribe.TypeOther}, server: true, local: true, asked: 1},
		"local breaks down":            {server: true, local: true, file: "tone.opus", asked: 1},
		"a format for others":          {server: true, local: true, file: "ears_test.go", asked: 1},
		"a format for nobody":          {local: true, file: "ears_test.go", kind: confined.NoDecoder},
		"too long, as it says":         {server: true, local: true, length: time.Hour, kind: confined.TooLong},
		"too long in truth":            {settings: transcribe.Settings{Longest: time.Second}, server: true, local: true, length: time.Second, kind: confined.TooLong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s *server
			if c.server {
				s = newServer(t, said)
			}
			var dirs []string
			if c.local {
				dirs = append(dirs, t.TempDir(), assets(t))
			}
			file := silence(t, 4)
			switch {
			case strings.HasSuffix(c.file, ".go"):
				file = c.file
			case c.file != "":
				file = fixture(t, c.file)
			}
			_, err := ears(c.settings, s, dirs...).Hear(t.Context(), file, "", c.length, c.language)
			if kindOf(err) != c.kind || (err == nil) != (c.asked == 1) {
				t.Errorf("%v, want %q", err, c.kind)
			}
			if s != nil {
				if _, asked := s.saw(); asked != c.asked {
					t.Errorf("the server was asked %d times", asked)
				}
			}
		})
	}
}

// TestEarsDescribeThemselves: for the start table.
func TestEarsDescribeThemselves(t *testing.T) {
	s, dir := newServer(t, answer{}), assets(t)
	for want, e := range map[string]*transcribe.Ears{
		"none: klawbot assets pull --speech true":             ears(transcribe.Settings{}, nil),
		"moonshine-tiny-en, here false":                       ears(transcribe.Settings{}, nil, dir),
		"whisper-1 at whisper false":                          ears(transcribe.Settings{Language: "ru"}, s, dir),
		"moonshine-tiny-en, here; whisper-1 at whisper false": ears(transcribe.Settings{Language: "en"}, s, dir),
		"off false": ears(transcribe.Settings{Type: transcribe.TypeOff}, s, dir),
		"none: the local model knows English only; name a server in media.transcription.provider true": ears(transcribe.Settings{Language: "ru"}, nil, dir),
	} {
		text, ok := e.Describe()
		if got := fmt.Sprint(text, " ", !ok); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestStoppedHearing: the cause comes back, and no server is asked then.
func TestStoppedHearing(t *testing.T) {
	s := newServer(t, answer{status: 200, body: `{"text": "Hello."}`})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("stopped by a person")
	cancel(why)
	_, err := ears(transcribe.Settings{}, s, assets(t)).Hear(ctx, silence(t, 1), "", 0, "")
	if _, asked := s.saw(); !errors.Is(err, why) || asked != 0 {
		t.Errorf("%v, %d requests", err, asked)
	}
}

// TestTriedEars: what is heard is compared with what the clip says.
func TestTriedEars(t *testing.T) {
	for text, ok := range map[string]bool{"Hello, can you hear me?": true, "Thank you for watching!": false} {
		s := newServer(t, answer{status: 200, body: fmt.Sprintf(`{"text": %q}`, text)})
		heard, err := ears(transcribe.Settings{}, s).Try(t.Context())
		if heard.Text != text || (err == nil) != ok {
			t.Errorf("%q: %+v, %v", text, heard, err)
		}
	}
	if _, err := ears(transcribe.Settings{}, nil).Try(t.Context()); kindOf(err) != confined.NoReader {
		t.Error(err)
	}
}

// TestLengthsInFaults: they are read by people.
func TestLengthsInFaults(t *testing.T) {
	e := ears(transcribe.Settings{Longest: 2 * time.Second}, nil, assets(t))
	for length, want := range map[time.Duration]string{3*time.Hour + 2*time.Second: "3:00:02", 67 * time.Second: "1:07", 0: ">0:02"} {
		_, err := e.Hear(t.Context(), silence(t, 4), "", length, "")
		if f, ok := errors.AsType[*confined.Fault](err); !ok || f.Kind != confined.TooLong || f.Detail != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
