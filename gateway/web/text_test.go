package web_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"klawbot/gateway/web"
)

// textKey is a key of a text in a template.
var textKey = regexp.MustCompile(`\bt "([a-z][a-z0-9.]*)"`)

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
	err := fs.WalkDir(web.Embedded, "pages", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(web.Embedded, name)
		for _, found := range textKey.FindAllStringSubmatch(string(text), -1) {
			if _, ok := all[found[1]]; !ok && !strings.HasSuffix(found[1], ".") {
				t.Errorf("%s: the text %s is missing", name, found[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
