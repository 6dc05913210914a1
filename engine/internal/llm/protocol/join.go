package protocol

import (
	"strings"

	"klawbot/engine/internal/llm"
)

// Join is the text of a message, its blocks as paragraphs.
func Join(m llm.Message) string {
	var parts []string
	for _, b := range m.Blocks {
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n\n")
}
