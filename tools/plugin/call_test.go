package plugin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/tools"
)

func TestCalls(t *testing.T) {
	for name, tt := range map[string]struct {
		body, arguments string
		want            string // in the output
		kind            tools.ErrorKind
	}{
		"a result":          {`echo '{"success":true,"output":"sunny"}'`, `{}`, "sunny", ""},
		"arguments":         {`printf '{"output":"%s"}' "$(cat | tr -d '{}"')"`, `{"n":5}`, "n:5", ""},
		"defaults":          {`printf '{"output":"%s"}' "$(cat | tr -d '{}"')"`, ``, "n:7", ""},
		"a secret":          {`echo '{"output":"the key is hunter2-secret"}'`, `{}`, "the key is [redacted]", ""},
		"invalid arguments": {`echo '{"output":"ran"}'`, `{"n":"many"}`, "Error: ", tools.Validation},
		"its own error":     {`echo '{"success":false,"error":"no such city","error_kind":"not_found"}'`, `{}`, "Error: no such city", tools.NotFound},
		"an error alone":    {`echo '{"error":"no such city"}'`, `{}`, "Error: no such city", tools.Execution},
		"a kind of others":  {`echo '{"error":"no","error_kind":"policy_denied"}'`, `{}`, "Error: no", tools.Execution},
		"an exit code":      {`echo '{"output":"half of it"}'; echo oops >&2; exit 2`, `{}`, "half of it\n[exit code 2]: oops", tools.Execution},
		"colours":           {`printf '%s' '{"output":"one \u001b[31mtwo\u001b[0m"}'`, `{}`, "one two", ""},
		"no result":         {`echo oops >&2; exit 1`, `{}`, "Error: p ended with exit code 1 and printed no result (unexpected end of JSON input): oops", tools.Execution},
		"not one":           {`echo '{"output":1}'`, `{}`, "Error: p ended with exit code 0 and printed no result", tools.Execution},
		"too much":          {`head -c 2000000 /dev/zero`, `{}`, "Error: p printed more than 1048576 bytes", tools.Execution},
		"too slow":          {`sleep 600`, `{}`, "Error: p did not finish within 2s and was stopped with all its processes", tools.Timeout},
		"the workspace":     {`pwd | sed 's/.*/{"output":"&"}/'`, `{}`, "/workspace", ""},
		"a clean environment": {
			`printf '{"output":"%s"}' "$(env | grep -c PLUGIN_TEST_SECRET)"`, `{}`, "0", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PLUGIN_TEST_SECRET", "x")
			b := newBench(t)
			if tt.kind == tools.Timeout {
				b.timeout = 2
			}
			b.say("p", tt.body)
			r := b.call("p", tt.arguments)
			if !strings.Contains(r.Output, tt.want) || r.ErrorKind != tt.kind || r.Success != (tt.kind == "") {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestEveryProcessOfACallEnds(t *testing.T) {
	b := newBench(t)
	b.timeout = 2
	mark := filepath.Join(b.data, "workspace", "still-here")
	b.say("p", `(sleep 4; touch still-here) & sleep 600`)
	begun := time.Now()
	equal(t, "the kind", b.call("p", `{}`).ErrorKind, tools.Timeout)
	<-time.After(5*time.Second - time.Since(begun))
	if _, err := os.Stat(mark); !os.IsNotExist(err) {
		t.Errorf("a child of the plugin went on: %v", err)
	}
}

func TestPluginNeedsApprovalUnlessReadOnly(t *testing.T) {
	b := newBench(t)
	b.policy = tools.Policy{}
	b.say("p", `echo '{"output":"ran"}'`)
	check := func() tools.Verdict { return b.Check(tools.Call{Name: "p", Arguments: []byte(`{}`)}).Verdict }
	equal(t, "the verdict", check(), tools.Ask)
	equal(t, "the kind", b.call("p", `{}`).ErrorKind, tools.ApprovalDenied) // nobody can be asked
	b.policy = tools.Policy{Autonomy: tools.ReadOnly}
	equal(t, "the verdict", check(), tools.Deny)
	b.reads = []string{"p"}
	b.look()
	equal(t, "the verdict", check(), tools.Allow)
	b.policy = tools.Policy{Everyone: tools.Limits{Deny: []string{"p"}}}
	equal(t, "the verdict", check(), tools.Deny)
}

func TestPluginThatChangedSinceItWasOffered(t *testing.T) {
	b := newBench(t)
	b.say("p", `echo '{"output":"first"}'`)
	turn := b.Snapshot()
	b.say("p", `echo '{"output":"second"}'`)
	r, err := turn.Execute(t.Context(), tools.Call{ID: "c1", Name: "p"}, nil)
	if err != nil || r.Success || !strings.Contains(r.Output, "was changed or removed since it was offered") {
		t.Errorf("%+v, %v", r, err)
	}
	b.look()
	equal(t, "the output", strings.Contains(b.call("p", `{}`).Output, "second"), true)
}

func TestFilesOfAPlugin(t *testing.T) {
	b := newBench(t)
	secret := filepath.Join(b.data, "secret")
	if err := os.WriteFile(secret, []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.say("p", `printf '\211PNG\r\n\032\n' > "$OUTPUT_DIR/chart.png"
printf 'a,b' > "$OUTPUT_DIR/t.csv"
ln -s `+secret+` "$OUTPUT_DIR/link"
printf '{"output":"drawn","artifacts":[{"path":"chart.png"},{"name":"table.csv","mime":"text/csv","path":"%s/t.csv"},{"path":"%s/link"},{"path":"`+secret+`"}]}' "$OUTPUT_DIR" "$OUTPUT_DIR"`)
	r := b.call("p", `{}`)
	want := []tools.Artifact{{Name: "chart.png", MIME: "image/png", Path: "\x89PNG\r\n\x1a\n"}, {Name: "table.csv", MIME: "text/csv", Path: "a,b"}}
	if diff := cmp.Diff(want, r.Artifacts); diff != "" {
		t.Error(diff)
	}
	for _, said := range []string{"(link is not sent: it cannot be read)", "(secret is not sent: it does not lie in the call's scratch directory)"} {
		if !strings.Contains(r.Output, said) {
			t.Errorf("%q is not said: %s", said, r.Output)
		}
	}
}

func TestNoWorkspace(t *testing.T) {
	b := newBench(t)
	b.say("p", `echo '{"output":"ran"}'`)
	b.look()
	if err := os.RemoveAll(filepath.Join(b.data, "workspace")); err != nil {
		t.Fatal(err)
	}
	equal(t, "the output", b.call("p", `{}`).Error, "No workspace set")
}
