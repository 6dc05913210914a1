package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/tools"
)

func TestNamesAreTakenOnce(t *testing.T) {
	for name, second := range map[string]tools.Tool{
		"the same name":        fakeTool("order", nil),
		"a name like an alias": fakeTool("buy", nil),
		"an alias like a name": fake{spec: tools.Spec{Name: "other", Texts: fakeTool("", nil).spec.Texts, Aliases: []tools.Alias{{Name: "order"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tools.NewRegistry(order(), second)
			if err == nil || !strings.HasPrefix(err.Error(), "Tool already registered: ") {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestSchemaMustBeUsable(t *testing.T) {
	for _, schema := range []string{``, `[]`, `{"type":"string"}`, `{"type":"object","properties":{"a":{"type":"nonsense"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`} {
		f := fakeTool("x", nil)
		f.spec.Texts = map[string]tools.Text{"en": {Parameters: json.RawMessage(schema)}}
		if _, err := tools.NewRegistry(f); err == nil {
			t.Errorf("schema %q was accepted", schema)
		}
	}
}

func TestFind(t *testing.T) {
	r := registry(t, order(), fakeTool("file_read", nil), fakeTool("file_write", nil))
	tool, preset, ok := r.Find("buy_large")
	if !ok || tool.Spec().Name != "order" || preset["size"] != "large" {
		t.Errorf("buy_large is %v with %v", tool, preset)
	}
	if _, _, ok := r.Find("nothing"); ok {
		t.Error("found nothing")
	}
	for name, want := range map[string][]string{
		"file_raed": {"file_read"},
		"File_Read": {"file_read"},
		"write":     {"file_write"},
		"buy_larg":  {"order"},
		"xyzxyz":    nil,
		"":          nil,
	} {
		if got := r.Near(name); !cmp.Equal(got, want) {
			t.Errorf("near %q are %v, want %v", name, got, want)
		}
	}
}

func TestList(t *testing.T) {
	r := registry(t, order(), fakeTool("file_read", nil))
	got := r.List("ru")
	if len(got) != 2 || got[0].Name != "file_read" || got[1].Name != "order" {
		t.Fatalf("list is %+v", got)
	}
	if want := []string{"buy", "buy_large"}; !cmp.Equal(got[1].Aliases, want) {
		t.Errorf("aliases are %v, want %v", got[1].Aliases, want)
	}
	if len(r.Group(tools.GroupSystem)) != 1 || len(r.All()) != 2 {
		t.Error("group or all are wrong")
	}
}
