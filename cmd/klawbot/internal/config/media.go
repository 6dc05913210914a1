package config

import (
	"cmp"
	"time"

	"klawbot/engine/settings"
)

// Media is what the bot sees, hears, reads and says.
type Media struct {
	MaxDownloadMB int           `koanf:"maxDownloadMB"`
	QuotaMB       int           `koanf:"quotaMB"`
	KeepDays      float64       `koanf:"keepDays"`
	Workers       int           `koanf:"workers"`
	Vision        string        `koanf:"vision"`
	Images        Images        `koanf:"images"`
	Documents     Documents     `koanf:"documents"`
	Transcription Transcription `koanf:"transcription"`
	Voice         Voice         `koanf:"voice"`
}

// Images bounds the pictures that a model gets.
type Images struct {
	MaxSide       int `koanf:"maxSide"`
	MaxPerRequest int `koanf:"maxPerRequest"`
}

// Documents says how documents are read.
type Documents struct {
	PDF          string `koanf:"pdf"`
	OCR          string `koanf:"ocr"`
	OCRLanguages string `koanf:"ocrLanguages"`
	MaxPages     int    `koanf:"maxPages"`
	FirstChars   int    `koanf:"firstChars"`
}

// Transcription says who turns speech into text.
type Transcription struct {
	Type       string  `koanf:"type"`
	Provider   string  `koanf:"provider"`
	Model      string  `koanf:"model"`
	Language   string  `koanf:"language"`
	MaxMinutes float64 `koanf:"maxMinutes"`
	Echo       bool    `koanf:"echo"`
}

// Voice says who turns text into speech.
type Voice struct {
	Type     string `koanf:"type"`
	Provider string `koanf:"provider"`
	Model    string `koanf:"model"`
	Voice    string `koanf:"voice"`
	MaxChars int    `koanf:"maxChars"`
}

func defaultMedia() Media {
	return Media{
		MaxDownloadMB: 20, QuotaMB: 1024, KeepDays: 30, Workers: 1,
		Images:        Images{MaxSide: 1568, MaxPerRequest: 4},
		Documents:     Documents{PDF: "auto", OCR: "auto", MaxPages: 500, FirstChars: 8000},
		Transcription: Transcription{Type: "auto", MaxMinutes: 10, Echo: true},
		Voice:         Voice{Type: "auto", MaxChars: 1200},
	}
}

// engineMedia are the settings of media as the engine wants them.
func (c *Config) engineMedia() settings.Media {
	m := c.Media
	service := func(kind, provider, model string) settings.Service {
		p := c.Models.Providers[provider]
		return settings.Service{Type: kind, Provider: provider, BaseURL: cmp.Or(p.BaseURL, usualAddress[p.Type]), APIKey: p.APIKey, Model: model}
	}
	return settings.Media{
		MaxDownload: int64(m.MaxDownloadMB) << 20, Quota: int64(m.QuotaMB) << 20, Keep: time.Duration(m.KeepDays * float64(24*time.Hour)),
		Workers: m.Workers, Vision: m.Vision, Images: settings.Images(m.Images), Documents: settings.Documents(m.Documents),
		Transcription: settings.Transcription{
			Service:  service(m.Transcription.Type, m.Transcription.Provider, m.Transcription.Model),
			Language: cmp.Or(m.Transcription.Language, c.Agent.Language),
			Longest:  time.Duration(m.Transcription.MaxMinutes * float64(time.Minute)), Echo: m.Transcription.Echo,
		},
		Voice: settings.Voice{
			Service: service(m.Voice.Type, m.Voice.Provider, m.Voice.Model), Voice: m.Voice.Voice, MaxChars: m.Voice.MaxChars,
		},
	}
}

// checkMedia looks at what several keys of media say together.
func checkMedia(c *Config, add func(key, format string, args ...any)) {
	m := c.Media
	if t := c.Channels.Telegram; m.MaxDownloadMB > 20 && t.APIURL == Defaults().Channels.Telegram.APIURL {
		add("media.maxDownloadMB", "must be 1 to 20 at api.telegram.org; more needs an own Bot API server in channels.telegram.apiURL")
	}
	if _, ok := c.Models.Entries[m.Vision]; !ok && m.Vision != "" {
		add("media.vision", "must be one of models.entries (%s), got %q", names(c.Models.Entries), m.Vision)
	}
	for _, s := range []struct{ key, kind, provider, model string }{
		{"media.transcription", m.Transcription.Type, m.Transcription.Provider, m.Transcription.Model},
		{"media.voice", m.Voice.Type, m.Voice.Provider, m.Voice.Model},
	} {
		_, known := c.Models.Providers[s.provider]
		wanted := s.kind == "openai" || s.kind == "auto" && s.provider != ""
		switch {
		case wanted && !known:
			add(s.key+".provider", "must be one of models.providers (%s), got %q", names(c.Models.Providers), s.provider)
		case wanted && s.model == "":
			add(s.key+".model", "must name a model of the provider")
		}
	}
}
