package web

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"klawbot/tools/web/load"
)

// The limits of the headers of a request.
const (
	maxHeaders     = 50
	maxHeaderBytes = 16 << 10
)

// ours are headers that a call may not set. It could reach another host than the checked
// one, or hide a second request.
var ours = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Expect", "Forwarded", "Host", "Http2-Settings", "Keep-Alive", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Via",
}

// headers checks the headers of a call and adds ours.
func headers(given map[string]string) (http.Header, error) {
	h := http.Header{}
	total := 0
	if len(given) > maxHeaders {
		return nil, fmt.Errorf("there are %d headers, and %d are allowed", len(given), maxHeaders)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value := given[name]
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			return nil, fmt.Errorf("%.40q is not a valid header name", name)
		case slices.Contains(ours, canonical), strings.HasPrefix(canonical, "Proxy-"):
			return nil, fmt.Errorf("the header %s cannot be set", canonical)
		case !httpguts.ValidHeaderFieldValue(value):
			return nil, fmt.Errorf("the value of the header %s contains a line break or another control character", canonical)
		case h[canonical] != nil:
			return nil, fmt.Errorf("the header %s is given twice", canonical)
		}
		h.Set(canonical, value)
		total += len(name) + len(value)
	}
	if total > maxHeaderBytes {
		return nil, fmt.Errorf("the headers have %d bytes, and %d are allowed", total, maxHeaderBytes)
	}
	if h.Get("User-Agent") == "" {
		h.Set("User-Agent", userAgent)
	}
	return h, nil
}

// shownHeaders are the headers of a response to HEAD.
func shownHeaders(h http.Header) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			fmt.Fprintf(&b, "%s: %.500s\n", name, load.Line(value))
		}
	}
	return b.String()
}
