package main

import (
	"encoding/json"
	"strings"
	"testing"

	"klawbot/engine"
)

// FuzzEveryTool calls every registered tool with whatever comes: a call is
// carried out or is an error result that says what is wrong, and never breaks.
func FuzzEveryTool(f *testing.F) {
	home := f.TempDir()
	var out strings.Builder
	a := newApp([]string{"KLAWBOT_HOME=" + home}, strings.NewReader(""), &out, &out)
	err := a.withData(f.Context(), func(_ *live, folders folders, d *engine.Data) error {
		if err := folders.furnish(); err != nil {
			return err
		}
		f.Add(0, "")
		for i, l := range d.Tools("en") {
			for _, seed := range []string{
				"{}", "null", "[]", `{"path":`, `{"path":"a.md","content":"x"}`, `{"path":["a"],"pattern":"("}`, `{"` + l.Name + `":1}`,
				`{"query":"\u0000"}`, `{"name":"../x"}`, `{"action":"get","key":"security.autonomy"}`, strings.Repeat("[", 2000), `{"topK":1e400}`,
			} {
				f.Add(i, seed)
			}
		}
		f.Fuzz(func(t *testing.T, tool int, arguments string) {
			all := d.Tools("en")
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
