package settings

import "time"

// Media says what the bot sees, hears, reads and speaks, and how much of it is kept.
type Media struct {
	// MaxDownload is how many bytes a file may have, Quota how many bytes of files are
	// kept, Keep how long one that is not used is; 0 for as long as the quota allows.
	MaxDownload, Quota int64
	Keep               time.Duration
	// Workers is how many files are read at one time.
	Workers int
	// Vision is the name of the model that looks at pictures for the others, "" for none.
	Vision        string
	Images        Images
	Documents     Documents
	Transcription Transcription
	Voice         Voice
}

// Images bounds the pictures that a model gets: the longer side in pixels, and how many
// in one request.
type Images struct{ MaxSide, MaxPerRequest int }

// Documents says how documents are read.
type Documents struct {
	// PDF is "auto", "pdftotext", "pdfium" or "off"; OCR is "auto" or "off".
	PDF, OCR string
	// OCRLanguages are tesseract's, such as "eng+rus"; "" for those of the bot's language.
	OCRLanguages string
	// MaxPages is how many pages are read at most, FirstChars how much of a document
	// comes with the message.
	MaxPages, FirstChars int
}

// Service is a part that is on this machine, or at a provider.
type Service struct {
	// Type is "auto", "local", "openai" or "off".
	Type string
	// Provider is its name, for people; BaseURL, APIKey and Model are for calls of it. An
	// empty name is none.
	Provider, BaseURL, APIKey, Model string
}

// Transcription says who turns speech into text.
type Transcription struct {
	Service
	// Language is that of the speech.
	Language string
	// Longest is how long a sound may be.
	Longest time.Duration
	// Echo shows the person what was heard.
	Echo bool
}

// Voice says who turns text into speech.
type Voice struct {
	Service
	// Voice is its name, "" for the usual one. MaxChars is how long a text may be.
	Voice    string
	MaxChars int
}
