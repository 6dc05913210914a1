package markdown

import (
	"slices"
	"strings"

	"klawbot/gateway"
	"klawbot/internal/clip"
)

const (
	// maxParts is how many messages one text may be; what is longer is a file.
	maxParts = 5
	// maxFence is the longest block of code, in UTF-16 units, that is better
	// read in messages than in a file.
	maxFence = 12 << 10
	// summaryBytes is how much of a file's text the message before it shows.
	summaryBytes = 600
	// documentName is the name of the file. Bare, it would be taken for an
	// address in Moldova.
	documentName = "answer.md"
)

// Render turns Markdown into messages that Telegram takes. A text of too many
// messages, or with too long a block of code, becomes its beginning and a file
// with the whole.
func Render(markdown string) []gateway.Part {
	parts := messages(markdown)
	if len(parts) <= maxParts && fenceUnits(parts) <= maxFence {
		return parts
	}
	content := clip.Bytes(strings.ToValidUTF8(markdown, "\uFFFD"), gateway.MaxDocument)
	return append(messages(beginning(content) + "\n\n📄 `" + documentName + "`")[:1],
		gateway.Part{Document: &gateway.Document{Name: documentName, Content: content}})
}

// fenceUnits is the length of the longest block of code, pieces of a cut one
// added up.
func fenceUnits(parts []gateway.Part) int {
	longest, run := 0, 0
	for _, p := range parts {
		for _, e := range p.Entities {
			if e.Type != pre {
				continue
			}
			if e.Offset > 0 {
				run = 0 // only the first block of a message can continue the last one's
			}
			run += e.Length
			longest = max(longest, run)
		}
		if !slices.ContainsFunc(p.Entities, func(e gateway.Entity) bool { return e.Type == pre }) {
			run = 0
		}
	}
	return longest
}

// beginning is the first words of a text, cut at a line or a space where there
// is one.
func beginning(markdown string) string {
	short := clip.Bytes(strings.TrimSpace(markdown), summaryBytes)
	if len(short) == len(strings.TrimSpace(markdown)) {
		return short
	}
	for _, end := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(short, end); i >= summaryBytes/2 {
			short = short[:i]
			break
		}
	}
	if strings.Count(short, "```")%2 == 1 {
		short += "\n```\n"
	}
	return strings.TrimRight(short, " ") + " …"
}
