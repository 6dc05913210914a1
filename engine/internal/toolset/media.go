package toolset

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document"
	"klawbot/engine/internal/document/pdfium"
	"klawbot/engine/settings"
	"klawbot/internal/advice"
	"klawbot/tools"
	"klawbot/tools/media"
)

// documentReader reads documents for document_read.
func documentReader(current func() settings.Settings, assets []string) func(context.Context, media.Request) (media.Document, error) {
	return func(ctx context.Context, r media.Request) (media.Document, error) {
		s := current()
		d, err := document.Text(ctx, r.File, r.Name, "", document.Options{
			Pages: r.Pages, Query: r.Query, MaxChars: fitting(s.MaxOutputChars),
			MaxPages: s.Media.Documents.MaxPages, PDF: s.Media.Documents.PDF, PDFium: pdfium.Find(assets), OCR: s.Media.Documents.OCR,
			OCRLanguages: document.Languages(s.Media.Documents.OCRLanguages, s.Language),
		})
		if err != nil {
			return media.Document{}, refusal(r.Name, err)
		}
		return media.Document{
			Text: d.Text, Kind: d.Kind, Unit: d.Unit, Parts: d.Pages, Shown: d.Shown, More: d.More, Scans: document.Ranges(d.Scans),
			Recognized: d.Recognized, Partial: d.Partial, Found: d.Found,
		}, nil
	}
}

// fitting is how much of a document fits into an output, with the lines around it.
func fitting(most int) int {
	if most <= 0 {
		most = 10_000
	}
	return most * 8 / 10
}

// refusal says for a model why a document cannot be read.
func refusal(name string, err error) error {
	var pages *document.PagesError
	if errors.As(err, &pages) {
		return &tools.Refusal{Kind: tools.Validation, Text: pages.Why}
	}
	var fault *confined.Fault
	if !errors.As(err, &fault) {
		return err
	}
	text := map[confined.FaultKind]string{
		confined.TooMuch:  "%s is too big inside, so it was not opened",
		confined.Broken:   "%s is damaged or of another format",
		confined.Locked:   "%s needs a password; ask for an unlocked copy",
		confined.GaveUp:   "%s took too much time or memory; ask for fewer pages",
		confined.NoReader: "%s can't be read here. To fix that: %s",
		confined.NoWords:  "%s has no words that can be made out",
		confined.Scan:     "%s has no text, only scans",
	}[fault.Kind]
	switch {
	case text == "":
		return err
	case strings.Count(text, "%s") == 2:
		return fmt.Errorf(text, name, advice.Text(fault.Detail))
	case fault.Detail != "" && fault.Kind != confined.GaveUp:
		text += " (" + strings.ReplaceAll(fault.Detail, "%", "") + ")"
	}
	return fmt.Errorf(text, name)
}

// look looks at a picture, where there is a model.
func (h Hooks) look(ctx context.Context, c tools.Call, p media.Picture) tools.Result {
	if h.Look == nil {
		return tools.Fail(tools.Execution, "no model here can see pictures; ask the running bot")
	}
	return h.Look(ctx, c, p)
}
