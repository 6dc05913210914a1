package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/doc"
	"klawbot/engine/data"
	"klawbot/tools"
)

// withRegistry runs fn with the data directory of a fresh bot, and so with every
// tool that this program registers.
func withRegistry(t *testing.T, home string, fn func(*data.Data)) {
	t.Helper()
	var out strings.Builder
	a := newApp([]string{"KLAWBOT_HOME=" + home}, strings.NewReader(""), &out, &out)
	err := a.withData(t.Context(), func(_ *config.Live, f config.Folders, d *data.Data) error {
		if err := bot.Furnish(f); err != nil {
			return err
		}
		fn(d)
		return nil
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
}

// shape is a schema without what differs between languages.
type shape struct {
	Type       string   `json:"type"`
	Required   []string `json:"required"`
	Properties map[string]struct {
		Type        string `json:"type"`
		Description string `json:"description"`
	} `json:"properties"`
}

func shapeOf(t *testing.T, l tools.Listing) shape {
	t.Helper()
	var s shape
	if err := json.Unmarshal(l.Parameters, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCataloguesAreComplete looks at every registered tool in both languages.
func TestCataloguesAreComplete(t *testing.T) {
	withRegistry(t, t.TempDir(), func(d *data.Data) {
		english, russian := d.Tools("en"), d.Tools("ru")
		if len(english) < 16 || len(english) != len(russian) {
			t.Fatalf("%d tools in English, %d in Russian", len(english), len(russian))
		}
		for i, en := range english {
			ru := russian[i]
			if en.Name != ru.Name || !speaks(en.Description, unicode.Latin) || !speaks(ru.Description, unicode.Cyrillic) {
				t.Errorf("%s: %q and %q", en.Name, en.Description, ru.Description)
			}
			checkParameters(t, en.Name, shapeOf(t, en), shapeOf(t, ru))
		}
	})
}

func checkParameters(t *testing.T, tool string, en, ru shape) {
	t.Helper()
	if en.Type != "object" || en.Properties == nil || len(en.Properties) != len(ru.Properties) {
		t.Errorf("%s: %+v and %+v", tool, en, ru)
	}
	for name, p := range en.Properties {
		if p.Type == "" || p.Type != ru.Properties[name].Type {
			t.Errorf("%s, %s: type %q and %q", tool, name, p.Type, ru.Properties[name].Type)
		}
		if !speaks(p.Description, unicode.Latin) || !speaks(ru.Properties[name].Description, unicode.Cyrillic) {
			t.Errorf("%s, %s: %q and %q", tool, name, p.Description, ru.Properties[name].Description)
		}
	}
}

// speaks reports whether a text has a word in a script.
func speaks(text string, script *unicode.RangeTable) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(script, r) })
}

// TestManualHasEveryTool wants a section with all parameters in the manual and a
// row in the overview for each registered tool.
func TestManualHasEveryTool(t *testing.T) {
	pages := map[string]string{}
	err := fs.WalkDir(doc.FS, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(doc.FS, name)
		pages[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	withRegistry(t, t.TempDir(), func(d *data.Data) {
		for _, l := range d.Tools("en") {
			if !strings.Contains(pages["tools/overview.md"], "| "+l.Name+" |") {
				t.Errorf("tools/overview.md does not list %s", l.Name)
			}
			section := ""
			for _, text := range pages {
				_, rest, _ := strings.Cut(text, "\n## "+l.Name+"\n")
				rest, _, _ = strings.Cut(rest, "\n## ")
				section += rest
			}
			if section == "" {
				t.Errorf("no page has a section %s", l.Name)
			}
			for name := range shapeOf(t, l).Properties {
				if !strings.Contains(section, "\n| "+name+" |") {
					t.Errorf("the section %s does not tell of %s", l.Name, name)
				}
			}
			for _, alias := range l.Aliases {
				if !strings.Contains(section, "`"+alias+"`") {
					t.Errorf("the section %s does not tell of the name %s", l.Name, alias)
				}
			}
		}
	})
}

// TestPaths makes the calls of testdata/paths.jsonl with the real tools.
func TestPaths(t *testing.T) {
	cases := readPathCases(t)
	if len(cases) != 8 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Log(c.Why)
			base := t.TempDir()
			c.prepare(t, base)
			withRegistry(t, filepath.Join(base, "home"), func(d *data.Data) {
				r, err := d.CallTool(t.Context(), c.Tool, json.RawMessage(c.arguments(t)))
				if err != nil {
					t.Fatal(err)
				}
				if want := c.Expect == "allow"; r.Success != want || strings.Contains(r.Output+r.Error, "SECRET") || len(r.Outgoing) > 0 {
					t.Errorf("want %s: %+v", c.Expect, r)
				}
				if r.Success == (r.Error != "") {
					t.Error(errors.New("a result without success must have an error"))
				}
			})
		})
	}
}
