package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"klawbot/tools"
)

func TestSchemaOfStruct(t *testing.T) {
	text := order().Spec().Text("en")
	if text.Description != "Orders a dish.\n\nExample: {\"dish\": \"soup\"}" {
		t.Errorf("description is %q", text.Description)
	}
	var got any
	if err := json.Unmarshal(text.Parameters, &got); err != nil {
		t.Fatal(err)
	}
	integer := func(description string) map[string]any {
		return map[string]any{"type": "integer", "description": description}
	}
	want := map[string]any{
		"type": "object", "additionalProperties": false, "required": []any{"dish"},
		"properties": map[string]any{
			"dish":   map[string]any{"type": "string", "description": "What to eat."},
			"count":  map[string]any{"type": "integer", "description": "How many.", "default": 1.0, "minimum": 1.0, "maximum": 20.0},
			"size":   map[string]any{"type": "string", "description": "How large.", "default": "small", "enum": []any{"small", "large"}},
			"price":  map[string]any{"type": "number", "description": "What it may cost."},
			"hot":    map[string]any{"type": "boolean", "description": "Whether it is warm."},
			"extras": map[string]any{"type": "array", "description": "What comes with it, if anything.", "items": map[string]any{"type": "string"}},
			"table":  integer("Where to."), "from": integer("The first hour."), "to": integer("The last hour."),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(string(text.Parameters), `{"type":"object","properties":{"dish"`) {
		t.Errorf("the parameters are not in their order: %s", text.Parameters)
	}
}

func TestTextsMustBeComplete(t *testing.T) {
	for name, change := range map[string]func(fstest.MapFS){
		"a language is missing":      func(m fstest.MapFS) { delete(m, "order.ru.md") },
		"a parameter is missing":     func(m fstest.MapFS) { replace(m, "- table: Where to.\n", "") },
		"a parameter does not exist": func(m fstest.MapFS) { replace(m, "- table:", "- tables:") },
		"a parameter comes twice":    func(m fstest.MapFS) { replace(m, "- to: ", "- from: ") },
		"a line is no parameter":     func(m fstest.MapFS) { replace(m, "- hot: ", "hot ") },
		"no description":             func(m fstest.MapFS) { replace(m, "Orders a dish.\n\nExample: {\"dish\": \"soup\"}\n\n", "") },
	} {
		t.Run(name, func(t *testing.T) {
			texts := orderTexts()
			change(texts)
			defer func() {
				if recover() == nil {
					t.Error("New accepted it")
				}
			}()
			tools.New(tools.Spec{Name: "order"}, texts, func(context.Context, tools.Call, orderArgs) tools.Result { return tools.OK("") })
		})
	}
}

func replace(m fstest.MapFS, old, new string) {
	m["order.ru.md"] = &fstest.MapFile{Data: []byte(strings.Replace(orderText, old, new, 1))}
}

func TestTextFallsBackToEnglish(t *testing.T) {
	if got := order().Spec().Text("fr").Description; !strings.HasPrefix(got, "Orders") {
		t.Errorf("the text in French is %q", got)
	}
}

func TestToolWithoutParametersSaysSo(t *testing.T) {
	texts := fstest.MapFS{"ping.en.md": {Data: []byte("Pings.")}, "ping.ru.md": {Data: []byte("Пингует.")}}
	tool := tools.New(tools.Spec{Name: "ping"}, texts, func(context.Context, tools.Call, struct{}) tools.Result { return tools.OK("pong") })
	for _, language := range tools.Languages() {
		if got := string(tool.Spec().Text(language).Parameters); !strings.HasPrefix(got, `{"type":"object","properties":{}`) {
			t.Errorf("%s: %s", language, got)
		}
	}
}
