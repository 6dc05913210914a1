package web_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"klawbot/gateway/web"
)

// textKey is a key of a text in the code of a page.
var textKey = regexp.MustCompile(`\b(?:t|sorry|card|tile|confirm|show)\((?:"[a-z]+", )?"([a-z]+\.[a-z0-9.]*)"`)

func TestTextsAreThereInBothLanguages(t *testing.T) {
	all := web.Texts()
	for key, both := range all {
		if both[0] == "" || both[1] == "" || both[0] == both[1] && strings.ContainsAny(both[0], " ") {
			t.Errorf("%s: %q, %q", key, both[0], both[1])
		}
		if strings.Count(both[0], "%") != strings.Count(both[1], "%") {
			t.Errorf("%s: the texts take different values: %q, %q", key, both[0], both[1])
		}
	}
	seen := 0
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, found := range textKey.FindAllStringSubmatch(string(text), -1) {
			seen++
			if _, ok := all[found[1]]; !ok && !strings.HasSuffix(found[1], ".") {
				t.Errorf("%s: the text %s is missing", name, found[1])
			}
		}
		return err
	})
	if err != nil || seen < 100 {
		t.Fatal(seen, err)
	}
}
