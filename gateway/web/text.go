package web

import (
	_ "embed" // the texts
	"fmt"
	"maps"

	"klawbot/gateway/web/control"
)

// texts are sentences by key, in English and Russian.
type texts map[string][2]string

//go:embed texts.txt
var textsFile string

// allTexts are the texts of all pages; those beside the chat have their own.
var allTexts = join(control.ReadTexts(textsFile), control.Texts)

func join(parts ...texts) texts {
	all := texts{}
	for _, p := range parts {
		maps.Copy(all, p)
	}
	return all
}

// say is a text in a language; a key that is unknown is shown as it is.
func say(lang, key string, args ...any) string {
	both, ok := allTexts[key]
	if !ok {
		return key
	}
	text := both[0]
	if lang == "ru" {
		text = both[1]
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}
