package web

import (
	"path"
	"strings"
	"unicode"

	"klawbot/gateway"
)

// maxName is how long the name of a file may be, in characters.
const maxName = 100

// cleanName is a name without folders, and without what changes how it reads.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, path.Base(strings.ReplaceAll(name, `\`, "/")))
	name = strings.TrimLeft(name, ". /")
	if runes := []rune(name); len(runes) > maxName {
		end := path.Ext(name)
		if len([]rune(end)) > 12 {
			end = ""
		}
		name = string(runes[:maxName-len([]rune(end))]) + end
	}
	if name == "" {
		return "file"
	}
	return name
}

// kindOf is how a file is shown, by its name. Nothing that can hold a script is shown.
func kindOf(name string, voice bool) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return "image"
	case ".ogg", ".oga", ".opus", ".mp3", ".wav", ".m4a", ".flac":
		return "audio"
	}
	if voice {
		return "audio"
	}
	return ""
}

// types are those of the files that are shown. Browsers believe them, and guess none.
var types = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".ogg": "audio/ogg", ".oga": "audio/ogg", ".opus": "audio/ogg", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".m4a": "audio/mp4", ".flac": "audio/flac",
}

func typeOf(name string) string {
	if t := types[strings.ToLower(path.Ext(name))]; t != "" {
		return t
	}
	return "application/octet-stream"
}

// attachment is a file as the bot's own code reads it.
func (f *File) attachment() gateway.Attachment {
	a := gateway.Attachment{Kind: gateway.AttachDocument, File: f.Sum, Unique: f.Sum, Name: f.Name, Size: f.Size}
	switch {
	case f.Voice:
		a.Kind, a.MIME = gateway.AttachVoice, typeOf(f.Name)
	case f.Kind == "image":
		a.Kind = gateway.AttachPhoto
	case f.Kind == "audio":
		a.Kind = gateway.AttachAudio
	}
	return a
}
