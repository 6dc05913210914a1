package voice

import "klawbot/engine/internal/embed"

// published is where the voices of Piper are.
const published = "https://huggingface.co/rhasspy/piper-voices/resolve/v1.0.0/"

// voices are the voices that are known, by language: for English Joe, of medium quality.
var voices = map[string][]embed.Asset{
	"en": {
		{Path: Folder("en") + "/model.onnx", URL: published + "en/en_US/joe/medium/en_US-joe-medium.onnx", Size: 63_201_294,
			Hashes: []string{"58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06"}},
		{Path: Folder("en") + "/model.onnx.json", URL: published + "en/en_US/joe/medium/en_US-joe-medium.onnx.json",
			Hashes: []string{"3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33"}},
	},
}

// Languages are those that have a known voice.
var Languages = []string{"en"}

// Needed are the files of the voice of a language and the ONNX Runtime library.
func Needed(language string) ([]embed.Asset, error) {
	library, err := embed.Library()
	return append([]embed.Asset{library}, voices[language]...), err
}
