package engine

import (
	"context"

	"klawbot/engine/internal/document"
	"klawbot/engine/settings"
)

// wordsIn returns what reads the words in a picture, where a program for it is installed.
func wordsIn(current func() settings.Settings) func(ctx context.Context, file string) (string, error) {
	return func(ctx context.Context, file string) (string, error) {
		s := current()
		if s.Media.Documents.OCR == "off" {
			return "", nil
		}
		return document.OCR(ctx, file, document.Languages(s.Media.Documents.OCRLanguages, s.Language))
	}
}
