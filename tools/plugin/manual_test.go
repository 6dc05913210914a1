package plugin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/internal/needs"
	"klawbot/tools"
)

// example is the code of a language in the section of the manual about plugins.
func example(t *testing.T, language string) string {
	t.Helper()
	page, err := os.ReadFile("../../doc/tools/writing-a-tool.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Plugins\n")
	_, code, _ := strings.Cut(section, "\n```"+language+"\n")
	code, _, found := strings.Cut(code, "\n```\n")
	if !found {
		t.Fatalf("the manual has no plugin in %s", language)
	}
	return code + "\n"
}

func TestPluginsOfTheManual(t *testing.T) {
	needs.Program(t, "python3", "python3")
	b := newBench(t)
	b.put("disk_free", example(t, "sh"), 0o755)
	b.put("word_count", example(t, "python"), 0o755)
	source := filepath.Join(b.data, "fahrenheit.go")
	if err := os.WriteFile(source, []byte(example(t, "go")), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", b.path("fahrenheit"), source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(b.data, "workspace", "notes.md"), []byte("one two\nthree"), 0o644); err != nil {
		t.Fatal(err)
	}
	faults := b.faults()
	for range 9 { // Python may take longer than a specification on a busy machine
		if !strings.Contains(strings.Join(faults, ""), "printed nothing for") {
			break
		}
		b.again()
		faults = b.faults()
	}
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, tt := range []struct {
		name, arguments, want string
		kind                  tools.ErrorKind
	}{
		{"word_count", `{"path":"notes.md"}`, "notes.md has 3 words.", ""},
		{"word_count", `{"path":"no.md"}`, "Error: there is no file no.md; file_list shows what there is", tools.NotFound},
		{"word_count", `{}`, "Error: Missing required parameter: path", tools.Validation},
		{"fahrenheit", `{"celsius":100}`, "100.0 °C are 212.0 °F.", ""},
		{"fahrenheit", `{"celsius":-300}`, "Error: parameter 'celsius' must be at least -273.15", tools.Validation},
		{"disk_free", `{}`, "% full.", ""},
	} {
		r := b.call(tt.name, tt.arguments)
		if !strings.Contains(r.Output, tt.want) || r.ErrorKind != tt.kind {
			t.Errorf("%s %s: %+v", tt.name, tt.arguments, r)
		}
		if sent := len(r.Artifacts) == 1 && r.Artifacts[0].Name == "disks.txt"; sent != (tt.name == "disk_free") {
			t.Errorf("%s sends %+v", tt.name, r.Artifacts)
		}
	}
}
