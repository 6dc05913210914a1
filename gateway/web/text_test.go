package web

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

var used = regexp.MustCompile(`\bt "([a-z.]+)"`)

// TestTemplatesUseKnownTexts: a key without a text would be shown as it is.
func TestTemplatesUseKnownTexts(t *testing.T) {
	names, err := fs.Glob(files, "pages/*.html")
	if err != nil || len(names) < 10 {
		t.Fatalf("templates: %v, %v", names, err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range used.FindAllStringSubmatch(string(text), -1) {
			if both := allTexts[m[1]]; both[0] == "" || both[1] == "" {
				t.Errorf("%s uses the text %q, which is not there in both languages", name, m[1])
			}
		}
		for _, forbidden := range []string{" style=", "<script>", "onclick", "javascript:"} {
			if strings.Contains(string(text), forbidden) {
				t.Errorf("%s contains %q, which the policy of the page forbids", name, forbidden)
			}
		}
	}
}
