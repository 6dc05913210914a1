package browser

import (
	"strings"
	"testing"
)

// TestControlsPrecedeLongText, because the end of what a model reads is cut.
func TestControlsPrecedeLongText(t *testing.T) {
	for text, want := range map[string]bool{"short": false, strings.Repeat("long ", 2000): true} {
		seen := sight{Title: "T", URL: "http://example.com/", Text: text, Controls: []string{`button "Go" at #go`}, More: 3}.String()
		if first := strings.Index(seen, "#go") < strings.Index(seen, text[:5]); first != want || !strings.HasPrefix(seen, "# T\nhttp://example.com/\n\n") || !strings.Contains(seen, "(and 3 more)\n") {
			t.Errorf("%.200s", seen)
		}
	}
}
