package transcribe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"time"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
)

// Server is a server with OpenAI's POST /audio/transcriptions.
type Server struct {
	// Name is the configured name of the provider, for people.
	Name string
	// BaseURL is the address with its /v1.
	BaseURL string
	// APIKey may be empty where the server wants none.
	APIKey string
	// Model is the server's name of the model.
	Model string
	// Retries is how often a call that failed for a passing reason is repeated.
	Retries int
}

// Bounds of one call: what servers take, and how long they may be silent while they hear.
const (
	maxUpload    = 25 << 20
	maxHearing   = 5 * time.Minute
	maxTextBytes = 1 << 20
	headBytes    = 64 // tell the formats apart
)

// transcribe sends a recording as it is and returns its words.
func (s *Server) transcribe(ctx context.Context, client *http.Client, file, mime, language string) (string, error) {
	body, contentType, err := s.form(file, mime, language)
	if err != nil {
		return "", err
	}
	header := http.Header{}
	if s.APIKey != "" {
		header.Set("Authorization", "Bearer "+s.APIKey)
	}
	endpoint, err := protocol.New(protocol.Config{
		BaseURL: s.BaseURL, Paths: []string{"/audio/transcriptions", "/chat/completions"}, Header: header, Key: s.APIKey, HTTP: client,
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.Name, err)
	}
	var text string
	_, err = llm.Retry(ctx, llm.Policy{Retries: s.Retries}, func(ctx context.Context) (llm.Result, error) {
		text, err = ask(ctx, endpoint, contentType, body)
		return llm.Result{}, err
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("transcribe with %s at %s: %w", s.Model, s.Name, err)
	case text == "":
		return "", &confined.Fault{Kind: confined.NoWords}
	}
	return text, nil
}

func ask(ctx context.Context, endpoint *protocol.Endpoint, contentType string, body []byte) (string, error) {
	r, err := endpoint.PostForm(ctx, "/audio/transcriptions", contentType, body, maxHearing)
	if err != nil {
		return "", err
	}
	defer r.Close()
	var answer struct {
		Text *string `json:"text"`
	}
	if err := r.Decode(&answer); err != nil {
		return "", err
	}
	if answer.Text == nil || len(*answer.Text) > maxTextBytes {
		return "", &llm.Error{Kind: llm.BadRequest, Status: http.StatusOK, Message: "the answer has no text; is baseURL right?"}
	}
	return strings.TrimSpace(strings.ToValidUTF8(*answer.Text, "\uFFFD")), nil
}

// form is the body of a request. Servers know the format by the name of the file.
func (s *Server) form(file, mime, language string) (body []byte, contentType string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, "", err
	}
	defer f.Close() // it was only read
	head := make([]byte, headBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", "audio."+extension(head[:n], mime))
	if err != nil {
		return nil, "", err
	}
	size, err := io.Copy(part, io.LimitReader(io.MultiReader(bytes.NewReader(head[:n]), f), maxUpload+1))
	if err != nil {
		return nil, "", err
	}
	if size > maxUpload {
		return nil, "", &confined.Fault{Kind: confined.TooMuch, Detail: "more than 25 MB for a server"}
	}
	for _, field := range [][2]string{{"model", s.Model}, {"language", language}, {"response_format", "json"}} {
		if field[1] != "" {
			if err := w.WriteField(field[0], field[1]); err != nil {
				return nil, "", err
			}
		}
	}
	err = w.Close()
	return b.Bytes(), w.FormDataContentType(), err
}

// extension is what the name of such a file ends in.
func extension(head []byte, mime string) string {
	switch {
	case bytes.HasPrefix(head, []byte("OggS")):
		return "ogg"
	case bytes.HasPrefix(head, []byte("RIFF")):
		return "wav"
	case bytes.HasPrefix(head, []byte("fLaC")):
		return "flac"
	case len(head) >= 12 && string(head[4:8]) == "ftyp" && strings.HasPrefix(mime, "video/"):
		return "mp4"
	case len(head) >= 12 && string(head[4:8]) == "ftyp":
		return "m4a"
	case bytes.HasPrefix(head, []byte{0x1a, 0x45, 0xdf, 0xa3}):
		return "webm"
	}
	return "mp3"
}
