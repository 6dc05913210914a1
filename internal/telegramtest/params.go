package telegramtest

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"unicode/utf8"
)

// maxBody is what the server reads of a request: Telegram takes uploads of 50 MB.
const maxBody = 52 << 20

// params are the parameters of a call, wherever they stood in the request.
type params struct {
	values map[string]string
	files  map[string]File
}

func (p params) str(name string) string { return p.values[name] }

// num reads a number; what is none counts as 0, as it does at Telegram.
func (p params) num(name string) int64 {
	n, err := strconv.ParseInt(p.values[name], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (p params) flag(name string) bool {
	v := p.values[name]
	return v == "true" || v == "True" || v == "1" || v == "yes"
}

// object decodes a parameter that is JSON. An absent one leaves dest alone.
func (p params) object(name string, dest any) error {
	v := p.values[name]
	if v == "" {
		return nil
	}
	return json.Unmarshal([]byte(v), dest)
}

// readParams reads query and body. The error is an *apiError or the client's
// own (it went away).
func readParams(w http.ResponseWriter, r *http.Request) (params, error) {
	p := params{values: map[string]string{}, files: map[string]File{}}
	p.add(r.URL.Query())
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	err := p.readBody(r)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return p, &apiError{status: http.StatusRequestEntityTooLarge, description: "Request Entity Too Large"}
	}
	if err != nil {
		return p, err
	}
	for _, v := range p.values {
		if !utf8.ValidString(v) {
			return p, errNotUTF8()
		}
	}
	return p, nil
}

func (p params) readBody(r *http.Request) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		_, err := io.Copy(io.Discard, r.Body)
		return err
	}
	switch kind {
	case "multipart/form-data":
		return p.readParts(r)
	case "application/json":
		return p.readJSON(r.Body)
	default:
		if err := r.ParseForm(); err != nil {
			return err
		}
		p.add(r.PostForm)
		return nil
	}
}

func (p params) add(form url.Values) {
	for k, v := range form {
		p.values[k] = v[0]
	}
}

func (p params) readParts(r *http.Request) error {
	parts, err := r.MultipartReader()
	if err != nil {
		return badRequest("can't read multipart body")
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		if part.FileName() != "" {
			p.files[part.FormName()] = File{Name: part.FileName(), Data: data}
		} else {
			p.values[part.FormName()] = string(data)
		}
	}
}

func (p params) readJSON(body io.Reader) error {
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if !utf8.Valid(data) {
		// The decoder would repair it silently.
		return errNotUTF8()
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return badRequest("can't parse JSON object")
	}
	for k, raw := range fields {
		var text string
		switch {
		case string(raw) == "null":
		case json.Unmarshal(raw, &text) == nil:
			p.values[k] = text
		default:
			p.values[k] = string(raw)
		}
	}
	return nil
}

// record is what the journal keeps of the parameters.
func (p params) record() map[string]string {
	kept := maps.Clone(p.values)
	for name, f := range p.files {
		kept[name] = f.Name
	}
	return kept
}
