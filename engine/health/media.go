package health

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document"
	"klawbot/engine/internal/document/pdfium"
	"klawbot/engine/internal/readers"
	"klawbot/engine/internal/toolset"
	"klawbot/engine/internal/transcribe"
	"klawbot/engine/internal/voice"
	"klawbot/engine/settings"
)

// readingText says which documents can be read here, and what to install for the others.
func readingText(ctx context.Context, c settings.Documents, assets []string) string {
	var can, lacks []string
	p := document.Installed(ctx, documentOptions(c, assets))
	switch {
	case c.PDF == "off":
	case p.PDF != "":
		can = append(can, p.PDF)
	default:
		lacks = append(lacks, "no PDF: "+strings.Replace(p.Lacks, "apt install", "install", 1))
	}
	can = append(can, "office")
	switch {
	case c.OCR == "off":
	case len(p.Languages) > 0:
		can = append(can, "OCR "+strings.Join(p.Languages, "+"))
		if missing := missingLanguages(c, p.Languages); missing != "" {
			lacks = append(lacks, "no OCR language "+strings.ReplaceAll(missing, "tesseract-ocr-", ""))
		}
	default:
		lacks = append(lacks, "no OCR: install tesseract-ocr")
	}
	return strings.Join(append([]string{strings.Join(can, ", ")}, lacks...), "; ")
}

func documentOptions(c settings.Documents, assets []string) document.Options {
	return document.Options{PDF: c.PDF, PDFium: pdfium.Find(assets), OCR: c.OCR}
}

// readingFinding reads a sample as documents of people are read.
func readingFinding(ctx context.Context, c settings.Documents, assets []string) Finding {
	if err := document.TrySample(ctx, documentOptions(c, assets)); err != nil {
		if fault, is := errors.AsType[*confined.Fault](err); is && fault.Kind == confined.NoReader {
			return Broken("reading", fault.Detail, errors.New("the PDFium library cannot be loaded"))
		}
		return Broken("reading", sampleFix(err), err)
	}
	text := "read the sample; " + readingText(ctx, c, assets)
	if missing := missingLanguages(c, document.Installed(ctx, document.Options{}).Languages); missing != "" {
		return Limited("reading", "install tesseract-ocr-"+missing+", or change media.documents.ocrLanguages", text)
	}
	return OK("reading", "%s", text)
}

// sampleFix says what to do when the sample could not be read.
func sampleFix(err error) string {
	var file *fs.PathError
	switch {
	case errors.As(err, &file) && strings.HasPrefix(file.Path, "/proc/"):
		return "mount /proc: each file is read in a process of its own, which starts from there"
	case errors.As(err, &file):
		return "the directory for temporary files (TMPDIR) must be writable"
	}
	return "report it with klawbot version"
}

// missingLanguages are those that the configuration names for OCR and that are not
// installed; without any other, scans are read as English.
func missingLanguages(c settings.Documents, installed []string) string {
	if c.OCR == "off" || len(installed) == 0 {
		return ""
	}
	wanted := document.LanguageNames(c.OCRLanguages)
	wanted = slices.DeleteFunc(wanted, func(l string) bool { return slices.Contains(installed, l) })
	return strings.Join(wanted, ", tesseract-ocr-")
}

// Senses are what hears, speaks, sees and reads, as the configuration says. They load and
// ask nothing.
func Senses(ctx context.Context, c toolset.Config) []Finding {
	speaking, speaks := mouthOf(c).Describe()
	hearing, hears := earsOf(c).Describe()
	s := c.Settings()
	seeing, sees := seeingText(s)
	return []Finding{
		onOff("speaking", speaking, speaks), onOff("hearing", hearing, hears), onOff("seeing", seeing, sees),
		OK("reading", "%s", readingText(ctx, s.Media.Documents, c.Assets)),
	}
}

func onOff(name, text string, on bool) Finding {
	if on && text != "off" {
		return OK(name, "%s", text)
	}
	return without(name, text)
}

// turnOn is what turns a sense on that the configuration turns off, or does not name.
var turnOn = map[string]string{
	"hearing": "media.transcription.type in config.yaml", "speaking": "media.voice.type in config.yaml",
	"seeing": "klawbot model, or media.vision in config.yaml",
}

// without is the finding about a sense that is not there, with what brings it.
func without(name, text string) Finding {
	text, fix, _ := strings.Cut(text, ": ")
	why, what, both := strings.Cut(fix, "; ")
	switch {
	case text == "no": // a model that does not see, or none
		text, fix = text+": "+fix, ""
	case both:
		text, fix = text+": "+why, what
	}
	return Off(name, cmp.Or(fix, turnOn[name]), text)
}

func earsOf(c toolset.Config) *transcribe.Ears {
	return readers.Ears(readers.Config{Settings: c.Settings, Assets: c.Assets, HTTP: c.HTTP, Log: slog.New(slog.DiscardHandler)})
}

func mouthOf(c toolset.Config) *voice.Mouth {
	return voice.New(voice.Config{Settings: c.Settings, Dirs: c.Assets, HTTP: c.HTTP, Log: slog.New(slog.DiscardHandler)})
}

// wanted reports whether the owner has asked for a part by name, so that its absence is a
// fault.
func wanted(s settings.Service) bool {
	return s.Type == "local" || s.Type == "openai" || s.Provider != ""
}

// hearingFinding lets the ears hear a built-in clip. No ears are no fault unless they are
// wanted.
func hearingFinding(ctx context.Context, c toolset.Config) Finding {
	const fix = transcribe.NoEars + ", or correct media.transcription in config.yaml"
	text, hears := earsOf(c).Describe()
	service := c.Settings().Media.Transcription.Service
	switch {
	case !hears && wanted(service):
		return Broken("hearing", fix, errors.New(text))
	case !hears, service.Type == transcribe.TypeOff:
		return without("hearing", text)
	}
	started := time.Now()
	heard, err := earsOf(c).Try(ctx)
	if err != nil {
		return Broken("hearing", fix, fmt.Errorf("%s: %w", text, err))
	}
	return OK("hearing", "heard: %s (%s, in %s)", strconv.Quote(heard.Text), text, time.Since(started).Round(time.Millisecond))
}

// speakingFinding lets the voice say a word. It asks no server, which costs money.
func speakingFinding(ctx context.Context, c toolset.Config) Finding {
	const fix = "klawbot assets pull --voice en, with espeak-ng and opus-tools installed, or correct media.voice in config.yaml"
	text, speaks := mouthOf(c).Describe()
	service := c.Settings().Media.Voice.Service
	switch {
	case !speaks && wanted(service):
		return Broken("speaking", fix, errors.New(text))
	case !speaks, service.Type == "off":
		return without("speaking", text)
	case service.Provider != "":
		return OK("speaking", "%s", text)
	}
	_, length, err := mouthOf(c).Say(ctx, "Hello, can you hear me?", "")
	if err != nil {
		return Broken("speaking", fix, fmt.Errorf("%s: %w", text, err))
	}
	return OK("speaking", "spoke for %s (%s)", length.Round(100*time.Millisecond), text)
}
