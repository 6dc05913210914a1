//go:build browser

package browser_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"klawbot/tools/web/browser"
)

// everyField is a page with a field of each kind. It tells what each change has
// told it, as pages that are scripts do.
const everyField = `<!doctype html><title>Order</title><form>
<label>Name <input id=name></label>
<label>Note <textarea id=note></textarea></label>
<label>Kind <select id=kind><option value=g>green tea<option value=b>black tea<option>mate</select></label>
<label>Day <input type=date id=day></label>
<input type=range id=strength min=1 max=5 value=1>
<div id=letter contenteditable=true>old words</div>
<input type=checkbox id=gift><input id=fixed readonly value=fixed><select id=none disabled><option>x</select>
<input type=file id=doc></form>
<p id=heard></p><script>
document.addEventListener("change", (e) => { heard.textContent += " [" + e.target.id + "=" + e.target.value + "]"; });
HTMLInputElement.prototype.select = () => { heard.textContent += " lied to"; };
</script>`

// TestBrowserFillsInEveryField: typed text replaces the old one,
// an option is chosen by its name, and what cannot be typed into says so.
func TestBrowserFillsInEveryField(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, everyField)
	}))
	defer s.Close()
	h := furnished(t, browser.Config{})
	if r := h.call("browser", args{"action": "open", "url": s.URL}); !strings.Contains(r.Output, `select "Kind" at #kind holds "green tea", options: "green tea", "black tea", "mate"`) {
		t.Errorf("%+v", r)
	}
	for _, tt := range []struct{ selector, text, want string }{
		{"#name", "Ada", `at #name holds "Ada"`},
		{"#name", "Bea", `at #name holds "Bea"`},
		{"#note", "first", `at #note holds "first"`},
		{"#note", "two\nlines", `at #note holds "two\nlines"`},
		{"#kind", "Black Tea", `at #kind holds "black tea"`},
		{"#kind", "g", `at #kind holds "green tea"`},
		{"#day", "2026-11-28", `at #day holds "2026-11-28"`},
		{"#strength", "4", `at #strength holds "4"`},
		{"#letter", "new words", `div "new words" at #letter`},
		{"#kind", "coffee", `Error: #kind has no option "coffee", but "green tea", "black tea", "mate"`},
		{"#day", "tomorrow", `Error: #day takes a text such as 2026-11-28, not "tomorrow"`},
		{"#gift", "yes", "Error: #gift is not typed into: click it"},
		{"#doc", "/etc/passwd", "Error: #doc takes files, and none are sent"},
		{"#fixed", "x", "Error: #fixed cannot be changed"},
		{"#none", "x", "Error: #none cannot be changed"},
		{"#nowhere", "x", "Error: nothing visible matches #nowhere"},
	} {
		if r := h.call("browser", args{"action": "type", "selector": tt.selector, "text": tt.text}); !strings.Contains(r.Output, tt.want) {
			t.Errorf("%s: %q is missing in\n%s", tt.selector, tt.want, r.Output)
		}
	}
	r := h.call("browser", args{"action": "text"})
	for _, want := range []string{"[kind=b] [kind=g] [day=2026-11-28] [strength=4]", `at #kind holds "green tea"`, `at #fixed holds "fixed"`} {
		if !strings.Contains(r.Output, want) {
			t.Errorf("%q is missing in\n%s", want, r.Output)
		}
	}
	if strings.Contains(r.Output, "lied to") {
		t.Errorf("the page has a word in it:\n%s", r.Output)
	}
}
