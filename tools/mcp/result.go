package mcp

import (
	"encoding/json"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"klawbot/tools"
	"klawbot/tools/mcp/shown"
	"klawbot/tools/terminal"
)

// The bounds of one answer.
const (
	maxFiles     = 8
	maxFileBytes = 10 << 20
	// maxData bounds the structured part that is kept beside the text.
	maxData = 64 << 10
)

// result makes an answer of a server a result: its texts are what the model
// reads, its pictures and sounds go to the chat.
func result(c tools.Call, answer *sdk.CallToolResult) tools.Result {
	w := writer{call: c}
	for _, part := range answer.Content {
		w.add(part)
	}
	text := strings.Join(w.texts, "\n\n")
	structured, err := json.Marshal(answer.StructuredContent)
	if err != nil || answer.StructuredContent == nil {
		structured = nil
	}
	if strings.TrimSpace(text) == "" && structured != nil {
		text = string(structured)
	}
	if strings.TrimSpace(text) == "" {
		text = "(no output)"
	}
	r := tools.OK(text)
	if answer.IsError {
		r = tools.Fail(tools.Execution, text)
	}
	r.Artifacts = w.files
	if len(structured) <= maxData {
		r.Data = structured
	}
	return r
}

type writer struct {
	call  tools.Call
	texts []string
	files []tools.Artifact
}

func (w *writer) say(format string, args ...any) {
	w.texts = append(w.texts, fmt.Sprintf(format, args...))
}

func (w *writer) add(part sdk.Content) {
	switch p := part.(type) {
	case *sdk.TextContent:
		w.texts = append(w.texts, terminal.Captured(p.Text))
	case *sdk.ImageContent:
		w.file("image", p.MIMEType, p.Data)
	case *sdk.AudioContent:
		w.file("audio", p.MIMEType, p.Data)
	case *sdk.EmbeddedResource:
		w.resource(p.Resource)
	case *sdk.ResourceLink:
		w.say("[resource %s: %s %s]", shown.Text(p.Name, shown.MaxPart), shown.Text(p.URI, shown.MaxPart), shown.Text(p.Description, shown.MaxPart))
	default:
		w.say("[a part that this program does not understand]")
	}
}

func (w *writer) resource(r *sdk.ResourceContents) {
	switch {
	case r == nil:
	case r.Blob != nil:
		w.file("resource", r.MIMEType, r.Blob)
	default:
		w.say("[resource %s]\n%s", shown.Text(r.URI, shown.MaxPart), r.Text)
	}
}

// file stores a file of the answer as an artifact. The server does not choose its name.
func (w *writer) file(kind, mimeType string, data []byte) {
	mimeType = strings.ToLower(strings.TrimSpace(strings.Split(mimeType, ";")[0]))
	what := fmt.Sprintf("[%s, %s, %d bytes", kind, shown.Text(mimeType, 100), len(data))
	switch {
	case len(w.files) == maxFiles:
		w.say("%s; left out: too many files]", what)
		return
	case len(data) > maxFileBytes:
		w.say("%s; left out: too large]", what)
		return
	}
	name := fmt.Sprintf("%s-%d%s", kind, len(w.files)+1, ending(mimeType))
	dir, err := w.call.Scratch()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
	}
	if err != nil {
		w.say("%s; left out: it could not be stored]", what)
		return
	}
	w.files = append(w.files, tools.Artifact{Name: name, MIME: mimeType, Path: name})
	w.say("%s, %s]", what, name)
}

// ending is the end of a file's name for a type, "" for an unusual one.
func ending(mimeType string) string {
	switch mimeType {
	case "image/jpeg":
		return ".jpg"
	case "image/png", "image/gif", "image/webp":
		return "." + strings.TrimPrefix(mimeType, "image/")
	case "audio/wav", "audio/x-wav":
		return ".wav"
	case "audio/mpeg":
		return ".mp3"
	case "text/plain":
		return ".txt"
	}
	if known, err := mime.ExtensionsByType(mimeType); err == nil && len(known) > 0 {
		return known[0]
	}
	return ""
}
