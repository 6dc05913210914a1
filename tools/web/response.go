package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"klawbot/tools"
	"klawbot/tools/charset"
	"klawbot/tools/web/load"
	"klawbot/tools/web/page"
)

// maxRead is the longest body, in decoded bytes.
const maxRead = 5_000_000

// response is the result for a response.
func (w *Web) response(ctx context.Context, c tools.Call, a requestArgs, resp *http.Response, slow *load.Slow) tools.Result {
	head := "HTTP " + status(resp) + "\n"
	if location := resp.Header.Get("Location"); location != "" {
		head += "Location: " + fmt.Sprintf("%.2000s", tools.Visible(load.Line(location))) + "\n"
	}
	if a.Method == http.MethodHead {
		return load.Noted(tools.OK(head+shownHeaders(resp.Header)), w.note())
	}
	limit := int64(maxRead)
	if a.Method != http.MethodGet {
		limit = min(limit, w.maxBody())
	}
	plain, err := unpacked(resp)
	if err != nil {
		return load.Noted(tools.Fail(tools.Execution, err.Error()), w.note())
	}
	body, err := io.ReadAll(io.TeeReader(io.LimitReader(plain, limit+1), slow))
	if err != nil && resp.Request.Context().Err() != nil {
		return w.unfinished(resp.Request, err, len(body))
	}
	more := int64(len(body)) > limit
	body = body[:min(int64(len(body)), limit)]
	if err != nil {
		head += fmt.Sprintf("(the response broke off after %s: %s)\n", load.Size(int64(len(body))), load.Explain(err))
	}
	r := w.content(ctx, c, a, loaded{resp: resp, body: body, more: more})
	r.Output = head + r.Output
	return load.Noted(r, w.note())
}

// status is the status of a response in the server's words.
func status(resp *http.Response) string {
	return fmt.Sprintf("%.100s", cmp.Or(tools.Visible(load.Line(resp.Status)), fmt.Sprint(resp.StatusCode)))
}

// loaded is a response with its decoded body.
type loaded struct {
	resp *http.Response
	body []byte
	more bool // the body is longer
}

// content is the result for a body.
func (w *Web) content(ctx context.Context, c tools.Call, a requestArgs, l loaded) tools.Result {
	kind := l.kind()
	if !l.textual(kind) {
		n := fmt.Sprint(len(l.body))
		switch {
		case l.resp.ContentLength > int64(len(l.body)):
			n = fmt.Sprint(l.resp.ContentLength)
		case l.more:
			n = "more than " + n
		}
		return tools.OK(fmt.Sprintf("Binary content (%s bytes, type: %s)", n, kind))
	}
	read := charset.Decode(l.body, l.resp.Header.Get("Content-Type"), l.more)
	text, limit := strings.ReplaceAll(read.Body, "\x00", " "), w.maxBody()
	if l.page() {
		markdown, err := page.Markdown(ctx, text, l.resp.Request.URL)
		if err != nil {
			return tools.Fail(tools.Execution, "can't convert the page to text: "+err.Error())
		}
		text, limit = markdown, min(load.MaxText, limit)
	}
	r := w.fit(ctx, c, a, l, text, limit)
	if l.page() {
		r.Raw = read.Body
	}
	if read.Note != "" {
		r.Output = "(" + read.Note + ")\n" + r.Output
	}
	return r
}

// kind is the media type without its parameters.
func (l loaded) kind() string {
	kind, _, err := mime.ParseMediaType(l.resp.Header.Get("Content-Type"))
	if err != nil || kind == "" || kind == "application/octet-stream" {
		kind, _, _ = strings.Cut(http.DetectContentType(l.body), ";")
	}
	return kind
}

// page reports whether the body is a page of the web.
func (l loaded) page() bool {
	kind := l.kind()
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// textual reports whether a body is text, by its kind, or by its bytes if the kind is unknown.
func (l loaded) textual(kind string) bool {
	text := strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
	for _, k := range []string{"json", "xml", "javascript", "ecmascript", "yaml", "x-yaml", "toml", "x-www-form-urlencoded", "x-ndjson", "ld+json", "graphql", "sql", "x-sh"} {
		text = text || kind == "application/"+k
	}
	start := l.body[:min(len(l.body), 64<<10)]
	switch zeros := bytes.Count(start, []byte{0}); {
	case bytes.HasPrefix(start, []byte("%PDF-")):
		return false
	case l.wide(start):
		return text
	case zeros*100 > len(start): // fewer become blanks
		return false
	}
	media := strings.HasPrefix(kind, "image/") || strings.HasPrefix(kind, "audio/") || strings.HasPrefix(kind, "video/") || strings.HasPrefix(kind, "font/")
	return text || !media && validStart(start)
}

// wide reports whether text is UTF-16, by its mark, its markup or the header.
func (l loaded) wide(b []byte) bool {
	_, parameters, err := mime.ParseMediaType(l.resp.Header.Get("Content-Type"))
	if err == nil && strings.HasPrefix(strings.ToLower(parameters["charset"]), "utf-16") {
		return true
	}
	return bytes.HasPrefix(b, []byte("<\x00")) || bytes.HasPrefix(b, []byte("\x00<")) || bytes.HasPrefix(b, []byte{0xFE, 0xFF}) || bytes.HasPrefix(b, []byte{0xFF, 0xFE}) && !bytes.HasPrefix(b, []byte{0xFF, 0xFE, 0, 0})
}

// validStart reports whether b is UTF-8, perhaps cut within a character.
func validStart(b []byte) bool { return utf8.Valid(charset.Whole(b)) }

// fit is the result with at most limit bytes of text. With extract a small model reads a
// longer text, else it is cut.
func (w *Web) fit(ctx context.Context, c tools.Call, a requestArgs, l loaded, text string, limit int64) tools.Result {
	whole := int64(len(text))
	if strings.TrimSpace(text) == "" {
		return l.nothing()
	}
	if whole <= limit && !l.more {
		return tools.OK(text)
	}
	why := "say in extract what you look for"
	if a.Extract != "" {
		answer, err := w.extract(ctx, c, a.Extract, text)
		if err == nil {
			said := load.Size(whole)
			if l.more {
				said = "more than " + said
			}
			r := tools.OK(fmt.Sprintf("(taken out of %s of text: %.200s)\n%s", said, load.Line(a.Extract), answer))
			r.Raw = text
			return r
		}
		why = "extract did not work: " + err.Error()
	}
	kept := strings.ToValidUTF8(text[:min(whole, limit)], "")
	r := tools.OK(fmt.Sprintf("%s\n(cut: %s; %s)", kept, l.part(int64(len(kept)), whole), why))
	r.Truncated = true
	return r
}

// part says how much of the text is shown.
func (l loaded) part(kept, whole int64) string {
	read := load.Size(int64(len(l.body)))
	switch shown, of := load.Size(kept), load.Size(whole); {
	case l.more && kept == whole:
		return "this is the text of the first " + read + ", which is all that is read"
	case l.more:
		return "these are the first " + shown + " of more than " + of
	case shown == of:
		return fmt.Sprintf("these are the first %d bytes of %d", kept, whole)
	default:
		return "these are the first " + shown + " of " + of
	}
}

// nothing is the result for an answer without text.
func (l loaded) nothing() tools.Result {
	what := "answer"
	if l.page() {
		what = "page"
	}
	switch {
	case l.more:
		r := tools.OK(fmt.Sprintf("(the first %s of the %s, which is all that is read, contain no text)", load.Size(int64(len(l.body))), what))
		r.Truncated = true
		return r
	case l.page() && len(l.body) > 0:
		return tools.OK("(the page contains no text; its scripts may add it)")
	}
	return tools.OK("")
}

func (w *Web) extract(ctx context.Context, c tools.Call, question, text string) (string, error) {
	if w.config.Extract == nil {
		return "", errors.New("no model is available here")
	}
	return w.config.Extract(ctx, c, question, text)
}
