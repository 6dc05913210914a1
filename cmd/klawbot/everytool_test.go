package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/engine/data"
	"klawbot/tools"
)

// fuzzedText is the configuration of the bot whose tools are fuzzed. Nobody is
// there to be asked, and what reaches out of the machine is refused by the
// policy: those tools are fuzzed against servers of their own.
const fuzzedText = `
security: {autonomy: supervised}
tools: {policy: {groups: {deny: [net, browser]}}}
`

// anyArguments are what the fuzzing of a tool begins with.
var anyArguments = []string{
	"{}", "null", "[]", `{"path":`, `{"path":"a.md","content":"x"}`, `{"path":["a"],"pattern":"("}`, `{"query":"\u0000"}`,
	`{"name":"../x"}`, `{"action":"get","key":"security.autonomy"}`, strings.Repeat("[", 2000), `{"topK":1e400}`,
	`{"command":"echo \"$(cat"}`, `{"url":"http://[::1","timeout":-1}`, `{"action":"status","id":"x","extra":"--upload-pack=x"}`,
}

// FuzzEveryTool calls every registered tool with whatever comes: a call is
// carried out or is an error result that says what is wrong, and never breaks.
// With TOOL in the environment it calls that tool alone.
func FuzzEveryTool(f *testing.F) {
	home := f.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(fuzzedText), 0o600); err != nil {
		f.Fatal(err)
	}
	var out strings.Builder
	a := newApp([]string{"KLAWBOT_HOME=" + home}, strings.NewReader(""), &out, &out)
	err := a.withData(f.Context(), func(_ *config.Live, folders config.Folders, d *data.Data) error {
		if err := bot.Furnish(folders); err != nil {
			return err
		}
		all := fuzzedTools(f, d)
		f.Add(0, "")
		for i, l := range all {
			for _, seed := range append(anyArguments, `{"`+l.Name+`":1}`) {
				f.Add(i, seed)
			}
		}
		f.Fuzz(func(t *testing.T, tool int, arguments string) {
			name := all[((tool%len(all))+len(all))%len(all)].Name
			r, err := d.CallTool(t.Context(), name, json.RawMessage(arguments))
			switch {
			case err != nil:
				t.Fatalf("%s %q: %v", name, arguments, err)
			case !r.Success && (r.Error == "" || r.ErrorKind == ""):
				t.Errorf("%s %q failed without a word: %+v", name, arguments, r)
			case strings.Contains(r.Error, "broke on this call"):
				t.Errorf("%s %q: %s\n%s", name, arguments, r.Error, out.String())
			}
		})
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
}

// fuzzedTools are all tools, or the one that TOOL names.
func fuzzedTools(f *testing.F, d *data.Data) []tools.Listing {
	all, one := d.Tools("en"), os.Getenv("TOOL")
	if one == "" {
		return all
	}
	i := slices.IndexFunc(all, func(l tools.Listing) bool { return l.Name == one })
	if i < 0 {
		f.Fatalf("there is no tool %q", one)
	}
	return all[i : i+1]
}
