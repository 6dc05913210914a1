package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
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
		r.Outgoing[i].Text = p.clean(r.Outgoing[i].Text)
		if f := r.Outgoing[i].File; f != nil {
			r.Outgoing[i].File = &File{Name: FileName(p.clean(f.Name)), Content: f.Content}
		}
	}
	r.Error = clip.Runes(r.Error, p.limit())
	return p.cut(c, r)
}

// clean takes secrets and broken UTF-8 out of text.
func (p capture) clean(text string) string {
	return p.redact.Text(strings.ToValidUTF8(text, "\uFFFD"))
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

// cut caps the output and stores the whole of it where the model can read on.
func (p capture) cut(c Call, r Result) Result {
	limit := p.limit()
	if utf8.RuneCountInString(r.Output) <= limit {
		return r
	}
	whole := r.Output
	r.Truncated = true
	r.Output = clip.Head(whole, limit) + fmt.Sprintf("\n... output truncated at %d chars ...", limit)
	if name := p.spill.keep(c.ID, whole); name != "" {
		r.Output += fmt.Sprintf("\n(all of it: file_read %s with startLine and maxLines)", name)
	}
	return r
}
