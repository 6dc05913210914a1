// Package shown makes the texts of MCP servers fit for people and models.
package shown

import (
	"strings"

	"klawbot/internal/clip"
	"klawbot/tools"
)

// How many characters are shown: of a part, and of a whole description or error.
const (
	MaxPart  = 500
	MaxAbout = 2000
)

// Text is a text of a server for people and models: nothing hidden, not too long.
func Text(v any, limit int) string {
	text, _ := v.(string)
	var b strings.Builder
	for i, line := range strings.Split(strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD"), "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(tools.Visible(strings.TrimRight(line, "\r")))
	}
	return clip.Within(b.String(), limit)
}

// Line is a text in one line.
func Line(text string, limit int) string {
	return strings.Join(strings.Fields(Text(text, limit)), " ")
}
