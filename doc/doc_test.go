package doc_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/doc"
	"klawbot/tools"
	"klawbot/tools/exec"
	"klawbot/tools/file"
	"klawbot/tools/find"
	"klawbot/tools/guide"
	"klawbot/tools/job"
	"klawbot/tools/message"
	"klawbot/tools/self"
	"klawbot/tools/web"
)

// documented is every tool that the manual must describe.
func documented() []tools.Tool {
	return slices.Concat(
		file.New(file.Config{}), guide.New(guide.Config{Manual: doc.FS}), self.New(self.Config{}),
		message.New(message.Config{OpenFile: file.Opener(file.Config{})}),
		exec.NewShell(exec.ShellConfig{}).Tools(), []tools.Tool{exec.NewCode(exec.CodeConfig{})},
		job.Tools(job.Config{}), web.New(web.Config{}).Tools(), []tools.Tool{find.NewSearch(nil, nil, nil)},
	)
}

// pages reads the manual.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(doc.FS, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(doc.FS, name)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// parameter is a row of a table of parameters.
type parameter struct {
	Type, Needed, Default string
}

// TestTablesMatchTheSchemas wants one section for each tool, with a table that
// says what the schema says.
func TestTablesMatchTheSchemas(t *testing.T) {
	all := pages(t)
	for _, tool := range documented() {
		spec := tool.Spec()
		t.Run(spec.Name, func(t *testing.T) {
			var found []string
			for _, text := range all {
				if section := sectionOf(text, spec.Name); section != "" {
					found = append(found, section)
				}
			}
			if len(found) != 1 {
				t.Fatalf("the tool is described %d times", len(found))
			}
			if diff := cmp.Diff(schema(t, spec), table(found[0])); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(all["tools/overview.md"], "| "+spec.Name+" |") {
				t.Error("the overview does not list the tool")
			}
		})
	}
}

// sectionOf is the text below the heading of a tool.
func sectionOf(page, name string) string {
	_, section, found := strings.Cut(page, "\n## "+name+"\n")
	if !found {
		return ""
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

func table(section string) map[string]parameter {
	rows := map[string]parameter{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] != "parameter" && cells[0] != "---" {
			rows[cells[0]] = parameter{cells[1], cells[2], cells[3]}
		}
	}
	return rows
}

func schema(t *testing.T, spec tools.Spec) map[string]parameter {
	t.Helper()
	var s struct {
		Properties map[string]struct {
			Type    string `json:"type"`
			Default any    `json:"default"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(spec.Text("en").Parameters, &s); err != nil {
		t.Fatal(err)
	}
	rows := map[string]parameter{}
	for name, p := range s.Properties {
		row := parameter{Type: p.Type, Needed: "no"}
		if slices.Contains(s.Required, name) {
			row.Needed = "yes"
		}
		if p.Default != nil {
			row.Default = fmt.Sprint(p.Default)
		}
		rows[name] = row
	}
	return rows
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestLinksResolve follows every link inside the manual and of the pages beside the
// code, to its heading.
func TestLinksResolve(t *testing.T) {
	all := pages(t)
	for _, name := range []string{"../README.md", "../CONTRIBUTING.md", "../SECURITY.md", "../CHANGELOG.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			page, exists := all[target]
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s does not exist", name, m[1])
			}
			if exists && anchor != "" && !slices.Contains(anchors(page), anchor) {
				t.Errorf("%s: %s has no such heading", name, m[1])
			}
		}
	}
}

// anchors are the headings of a page in the form that links name them by.
func anchors(page string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
				return r
			}
			return -1
		}, strings.ToLower(m[1])))
	}
	return all
}
