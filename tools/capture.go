package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"klawbot/internal/clip"
	"klawbot/internal/redact"
)

// defaultMaxOutput is how many characters of an output a model reads.
const defaultMaxOutput = 10_000

// capture makes results fit for a model: no secrets, valid text, not too long.
type capture struct {
	max    func() int
	spill  spill
	redact *redact.Set
}

func (p capture) result(c Call, r Result) Result {
	r.CallID = c.ID
	r.Output, r.Error = p.clean(r.Output), p.clean(r.Error)
	if !r.Success {
		r.Error = cmp.Or(r.Error, "the tool failed and did not say why")
		r.ErrorKind = cmp.Or(r.ErrorKind, Execution)
	}
	if r.Data != nil {
		r.Data = p.data(r.Data)
	}
	r.Outgoing = slices.Clone(r.Outgoing)
	for i := range r.Outgoing {
		m := &r.Outgoing[i]
		m.Text, m.Album = p.clean(m.Text), slices.Clone(m.Album)
		if m.File != nil {
			m.File = p.file(m.File)
		}
		for i := range m.Album {
			m.Album[i] = p.file(m.Album[i])
		}
	}
	r.Error = clip.Middle(r.Error, p.limit())
	return p.cut(c, r)
}

// file is a file with a name that is fit to be shown.
func (p capture) file(f *File) *File {
	return &File{Name: FileName(p.clean(f.Name)), Content: f.Content, Voice: f.Voice, As: f.As}
}

// clean takes secrets, broken UTF-8 and NUL out of text. Some servers of models refuse a
// request with a NUL.
func (p capture) clean(text string) string {
	return p.redact.Text(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", ""))
}

// data takes secrets out of JSON. When a masked number breaks the JSON, there is no data.
func (p capture) data(d json.RawMessage) json.RawMessage {
	clean := json.RawMessage(p.redact.Text(string(p.redact.JSON(d))))
	if !json.Valid(clean) {
		return nil
	}
	return clean
}

func (p capture) limit() int {
	if p.max != nil {
		if n := p.max(); n > 0 {
			return n
		}
	}
	return defaultMaxOutput
}

// Stderr parts standard output from standard error in the output of a tool. Each is cut
// on its own, so that neither hides the end of the other.
const Stderr = "\n[stderr]\n"

// lost is the line in the place of what a command wrote beyond what is kept of it
// (package sandbox).
var lost = regexp.MustCompile(`(?m)^\.\.\. (\d+) lines \((\d+) bytes\) omitted here \.\.\.$`)

// omitted says how much a cut omits of a text, with what was not kept before.
func omitted(cut *clip.Cut, text string) string {
	lines, bytes := 0, 0
	for _, m := range lost.FindAllStringSubmatch(text[len(cut.Head):len(text)-len(cut.Tail)], -1) {
		n, _ := strconv.Atoi(m[1])
		lines += n
		n, _ = strconv.Atoi(m[2])
		bytes += n
	}
	cut.Lines += lines
	if bytes == 0 {
		return cut.Omitted()
	}
	return strings.Replace(cut.Omitted(), " characters)", fmt.Sprintf(" characters, and %d bytes that were not kept)", bytes), 1)
}

// cut caps the output and stores the whole of it where the model can read on.
func (p capture) cut(c Call, r Result) Result {
	limit := p.limit()
	whole := r.Output
	length := utf8.RuneCountInString(whole)
	if length <= limit {
		return r
	}
	r.Truncated = true
	parts := []string{whole}
	if before, after, found := strings.Cut(whole, Stderr); found {
		parts = []string{before + Stderr, after}
	}
	all := ""
	if name := p.spill.keep(c.ID, whole); name != "" {
		all = fmt.Sprintf("\n(all of it: file_read %s with startLine and maxLines; this gap begins at line %%d)", name)
	}
	var b strings.Builder
	line, left := 1, length
	for i, part := range parts {
		size := utf8.RuneCountInString(part)
		left -= size
		share := limit // of the rest, as much as the other part leaves, but at least a half
		if i == 0 && len(parts) > 1 {
			share = max(limit-left, limit/2)
		}
		cut := clip.Ends(part, share)
		limit -= min(size, share)
		note := fmt.Sprintf("... output truncated at %d chars: %s here ...", p.limit(), omitted(&cut, part))
		if all != "" {
			note += fmt.Sprintf(all, line+strings.Count(cut.Head, "\n"))
		}
		b.WriteString(cut.Join(note))
		line += strings.Count(part, "\n")
	}
	r.Output = b.String()
	return r
}
