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

// nestedPage has a frame of its own site, with a component in it, a component that is
// open, and what is hidden or out of reach.
const nestedPage = `<!doctype html><title>Nested</title><h1>Outside</h1>
<iframe id=f src=/frame></iframe><iframe src=/hidden style="display:none"></iframe><iframe src=/hidden width=1 height=1 frameborder=0></iframe>
<my-group style="display:contents"></my-group>
<my-box><span>slotted words</span></my-box><my-safe></my-safe>
<script>
customElements.define("my-box", class extends HTMLElement { connectedCallback() {
	this.attachShadow({mode: "open"}).innerHTML = "<style>p{color:red}</style><p>words in a box</p><p hidden>hidden words</p><slot></slot><input placeholder=Boxed><button>Box button</button>";
	this.shadowRoot.querySelector("button").onclick = () => { this.shadowRoot.querySelector("p").textContent = "box clicked"; };
}});
customElements.define("my-group", class extends HTMLElement { connectedCallback() { this.attachShadow({mode: "open"}).innerHTML = "<p>words in a group</p>"; } });
customElements.define("my-safe", class extends HTMLElement { connectedCallback() { this.attachShadow({mode: "closed"}).innerHTML = "closed words"; } });
</script>`

const nestedFrame = `<!doctype html><p id=p>words in a frame</p><select id=s><option>one<option>two</select>
<button id=b onclick="p.textContent = 'frame clicked'">Frame button</button><deep-box></deep-box>
<script>customElements.define("deep-box", class extends HTMLElement { connectedCallback() {
	this.attachShadow({mode: "open"}).innerHTML = "<textarea id=deep></textarea>";
}});</script>`

// TestBrowserReadsFrames reads and uses frames of the same site and in
// open components, and tells no more of them than a person sees.
func TestBrowserReadsFrames(t *testing.T) {
	mux := http.NewServeMux()
	for path, text := range map[string]string{"/{$}": nestedPage, "/frame": nestedFrame, "/hidden": "never seen"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, text)
		})
	}
	s := httptest.NewServer(mux)
	defer s.Close()
	h := furnished(t, browser.Config{})
	r := h.call("browser", args{"action": "open", "url": s.URL})
	for _, want := range []string{
		"Outside", "words in a frame", "words in a box", "words in a group", "slotted words", `button "Frame button" at #f >>> #b`, `at #f >>> #s holds "one"`, "at #f >>> deep-box:nth-of-type(1) >>> #deep",
		`field text "Boxed" at my-box:nth-of-type(1) >>> input:nth-of-type(1)`, `button "Box button" at my-box:nth-of-type(1) >>> button:nth-of-type(1)`,
	} {
		if !strings.Contains(r.Output, want) {
			t.Errorf("%q is missing in\n%s", want, r.Output)
		}
	}
	for _, not := range []string{"never seen", "hidden words", "closed words", "color:red"} {
		if strings.Contains(r.Output, not) {
			t.Errorf("%q is shown:\n%s", not, r.Output)
		}
	}
	for _, tt := range []struct{ action, selector, text, want string }{
		{"click", "#f >>> #b", "", "frame clicked"},
		{"click", "my-box >>> button", "", "box clicked"},
		{"type", "my-box >>> input", "Ada", `>>> input:nth-of-type(1) holds "Ada"`},
		{"type", "#f >>> #s", "two", `at #f >>> #s holds "two"`},
		{"type", "#f >>> deep-box >>> #deep", "far in", `>>> #deep holds "far in"`},
		{"text", "#f >>> #p", "", "frame clicked"},
		{"text", "#f >>> #none", "", "Error: nothing matches #f >>> #none"},
		{"click", "#f >>> #none", "", "Error: nothing visible matches #f >>> #none"},
		{"click", "h1 >>> p", "", "Error: nothing visible matches h1 >>> p"},
	} {
		a := args{"action": tt.action, "selector": tt.selector}
		if tt.text != "" {
			a["text"] = tt.text
		}
		if r := h.call("browser", a); !strings.Contains(r.Output, tt.want) {
			t.Errorf("%s %s: %q is missing in\n%s", tt.action, tt.selector, tt.want, r.Output)
		}
	}
}
