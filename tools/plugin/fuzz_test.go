package plugin

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"klawbot/tools"
	"klawbot/tools/sandbox"
)

// fake is a tool with a specification that was read.
type fake struct{ spec tools.Spec }

func (f fake) Spec() tools.Spec { return f.spec }

func (fake) Run(context.Context, tools.Call) tools.Result { return tools.OK("") }

func FuzzSpec(f *testing.F) {
	for _, seed := range []string{
		`{"name":"x","description":"X."}`,
		`{"name":"weather","description":"W.","group":"net","changes":false,"timeout":5,"parameters":{"type":"object","properties":{"a":{"type":"string","description":"A."}}},"texts":{"ru":{"description":"П."}}}`,
		`{"name":"x","description":"X.","parameters":{"type":"object","properties":{"a":{"type":["string","null"],"description":"A.","default":1}}}}`,
		`{"name":"x","description":"X.","parameters":{"type":"object","properties":{"a":{"type":"string","pattern":"(","description":"A."}}}}`,
		`[]`, `null`, `{"name":1}`, `{"` + strings.Repeat("\xd8", 400) + `":1}`, `{"` + strings.Repeat("😀 ", 400) + `":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		spec, err := parseSpec(source)
		if err != nil {
			said := err.Error()
			if utf8.RuneCountInString(said) > 400 || strings.Contains(said, "\n") || tools.Visible(said) != said {
				t.Errorf("the fault is not one short line: %q", said)
			}
			return
		}
		if !legalName.MatchString(spec.Name) || spec.Timeout <= 0 || spec.Timeout > tools.MaxTimeout || spec.Text("en").Description == "" {
			t.Errorf("took %+v", spec)
		}
		if _, err := tools.NewRegistry(fake{spec}); err != nil {
			t.Errorf("the registry refuses what was taken: %v", err)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"success":true,"output":"x"}`, `{"success":false}`, `{"error":"x","error_kind":"security"}`, `{"data":{"a":1},"artifacts":[{"path":"/x"}]}`,
		`{"artifacts":[{"path":"/output/../../x"}]}`, `null`, `1`, ``,
	} {
		f.Add([]byte(seed), 0)
		f.Add([]byte(seed), 1)
	}
	f.Fuzz(func(t *testing.T, source []byte, code int) {
		out := sandbox.Outcome{Stdout: sandbox.Output{Head: source, Total: int64(len(source))}, ExitCode: code}
		r := tool{spec: tools.Spec{Name: "p"}}.result(out, "/scratch", "/output")
		if !r.Success && (r.Error == "" || r.Output == "" || r.ErrorKind == "") {
			t.Errorf("an error says nothing: %+v", r)
		}
		if r.Success && code != 0 {
			t.Error("a program that failed counts as a success")
		}
		switch r.ErrorKind {
		case tools.Security, tools.PolicyDenied, tools.ApprovalDenied:
			t.Errorf("it claims to be refused: %s", r.ErrorKind)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("the journal cannot hold it: %v", err)
		}
	})
}
