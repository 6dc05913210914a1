package transcribe

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// hello is a voice message in English, made by espeak-ng: "Hello, can you hear me?"
//
//go:embed hello.ogg
var hello []byte

// helloLength is how long it is.
const helloLength = 2 * time.Second

// Try hears a built-in voice message in English and returns what was heard.
func (e *Ears) Try(ctx context.Context) (Heard, error) {
	f, err := os.CreateTemp("", "klawbot-hello-*.ogg")
	if err != nil {
		return Heard{}, err
	}
	defer os.Remove(f.Name()) // a leftover is harmless
	_, err = f.Write(hello)
	if err := errors.Join(err, f.Close()); err != nil {
		return Heard{}, err
	}
	language := e.settings().Language
	heard, err := e.Hear(ctx, f.Name(), "audio/ogg", helloLength, language)
	english := language == "" || language == "en" // else a server writes it in its own way
	if err == nil && english && !strings.Contains(strings.ToLower(heard.Text), "hear me") {
		err = fmt.Errorf("%s heard %q instead of \"Hello, can you hear me?\"", heard.Model, heard.Text)
	}
	return heard, err
}
