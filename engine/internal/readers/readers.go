// Package readers says who reads which file, as the configuration wants it, and starts
// the reader in the child process. It reads nothing itself.
package readers

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"klawbot/engine/internal/document"
	"klawbot/engine/internal/document/pdfium"
	"klawbot/engine/internal/media"
	"klawbot/engine/internal/picture"
	"klawbot/engine/internal/transcribe"
	"klawbot/engine/settings"
)

// Config is what New needs. All of it is required, but for Assets.
type Config struct {
	Settings func() settings.Settings
	// Assets are the folders of models.
	Assets []string
	// HTTP asks providers.
	HTTP *http.Client
	Log  *slog.Logger
}

// New returns the readers of files.
func New(c Config) media.Readers {
	ears := Ears(c)
	return media.Readers{
		Picture: func(ctx context.Context, file string, maxSide int) ([]byte, int, int, error) {
			p, err := picture.Prepare(ctx, file, maxSide)
			return p.JPEG, p.Width, p.Height, err
		},
		Document: func(ctx context.Context, file, name, mime string) (media.Document, error) {
			d := c.Settings().Media.Documents
			read, err := document.Text(ctx, file, name, mime, document.Options{
				MaxChars: d.FirstChars, MaxPages: d.MaxPages, PDF: d.PDF, PDFium: pdfium.Find(c.Assets), OCR: d.OCR, OCRLanguages: OCRLanguages(c.Settings()),
			})
			if read.Unit != "page" {
				read.Pages = 0
			}
			return media.Document{Text: read.Text, Pages: read.Pages, More: read.More != ""}, err
		},
		Draw: func(ctx context.Context, file string, maxSide int) ([][]byte, error) {
			return document.Draw(ctx, file, maxSide, document.Options{PDF: c.Settings().Media.Documents.PDF, PDFium: pdfium.Find(c.Assets)})
		},
		Text: func(ctx context.Context, file string) (string, error) {
			if c.Settings().Media.Documents.OCR == "off" {
				return "", nil
			}
			return document.OCR(ctx, file, OCRLanguages(c.Settings()))
		},
		Hear: func(ctx context.Context, file, mime string, length time.Duration) (string, error) {
			heard, err := ears.Hear(ctx, file, mime, length, "")
			return heard.Text, err
		},
		Learns: ears.Learns,
		Deaf: func() bool {
			_, hears := ears.Describe()
			return !hears || c.Settings().Media.Transcription.Type == transcribe.TypeOff
		},
	}
}

// Ears are what hears recordings.
func Ears(c Config) *transcribe.Ears {
	return transcribe.New(transcribe.Config{
		Settings: func() transcribe.Settings {
			s := c.Settings()
			t := s.Media.Transcription
			heard := transcribe.Settings{Type: t.Type, Language: t.Language, Longest: t.Longest}
			if t.Provider != "" {
				heard.Server = &transcribe.Server{Name: t.Provider, BaseURL: t.BaseURL, APIKey: t.APIKey, Model: t.Model, Retries: s.Models.Retries}
			}
			return heard
		},
		Dirs: c.Assets, Runtime: c.Settings().Memory.Embedding.Runtime, HTTP: c.HTTP, Log: c.Log,
	})
}

// OCRLanguages are the languages of texts in pictures, as tesseract calls them.
func OCRLanguages(s settings.Settings) string {
	return document.Languages(s.Media.Documents.OCRLanguages, s.Language)
}
