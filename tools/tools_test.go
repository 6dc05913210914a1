package tools_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/fstest"

	"klawbot/internal/redact"
	"klawbot/tools"
)

// orderArgs is a struct with every kind of parameter.
type orderArgs struct {
	Dish   string   `json:"dish"`
	Count  int      `json:"count,omitempty" default:"1" min:"1" max:"20"`
	Size   string   `json:"size,omitempty" enum:"small,large" default:"small"`
	Price  float64  `json:"price,omitempty"`
	Hot    bool     `json:"hot,omitempty"`
	Extras []string `json:"extras,omitempty"`
	Table  *int     `json:"table,omitempty"`
	From   int      `json:"from,omitempty"`
	To     int      `json:"to,omitempty"`
}

const orderText = `Orders a dish.

Example: {"dish": "soup"}

- dish: What to eat.
- count: How many.
- size: How large.
- price: What it may cost.
- hot: Whether it is warm.
- extras: What comes with it,
  if anything.
- table: Where to.
- from: The first hour.
- to: The last hour.
`

func orderTexts() fstest.MapFS {
	return fstest.MapFS{"order.en.md": {Data: []byte(orderText)}, "order.ru.md": {Data: []byte(orderText)}}
}

// order is a tool that returns its arguments as the run function saw them.
func order() tools.Tool {
	return tools.New(tools.Spec{
		Name: "order", Group: tools.GroupSystem, Changes: true,
		Aliases:   []tools.Alias{{Name: "buy"}, {Name: "buy_large", Preset: map[string]any{"size": "large", "count": 2}}},
		Arguments: map[string]string{"meal": "dish", "hours": "from,to"},
	}, orderTexts(), func(_ context.Context, _ tools.Call, a orderArgs) tools.Result {
		seen, err := json.Marshal(a)
		if err != nil {
			return tools.Fail(tools.Execution, err.Error())
		}
		return tools.OK(string(seen))
	})
}

// fake is a tool made of a function.
type fake struct {
	spec tools.Spec
	run  func(context.Context, tools.Call) tools.Result
}

func (f fake) Spec() tools.Spec { return f.spec }

func (f fake) Run(ctx context.Context, c tools.Call) tools.Result { return f.run(ctx, c) }

func fakeTool(name string, run func(context.Context, tools.Call) tools.Result) fake {
	return fake{tools.Spec{
		Name:  name,
		Texts: map[string]tools.Text{"en": {Description: name, Parameters: json.RawMessage(`{"type":"object"}`)}},
	}, run}
}

func registry(t testing.TB, all ...tools.Tool) *tools.Registry {
	t.Helper()
	r, err := tools.NewRegistry(all...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func executor(t testing.TB, c tools.ExecutorConfig, all ...tools.Tool) *tools.Executor {
	t.Helper()
	c.Registry = registry(t, all...)
	if c.Redact == nil {
		c.Redact = new(redact.Set)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return tools.NewExecutor(c)
}

// call executes a call of a tool that nothing can stop.
func call(t testing.TB, e *tools.Executor, name, arguments string) tools.Result {
	t.Helper()
	r, err := e.Execute(t.Context(), tools.Call{ID: "c1", Name: name, Arguments: json.RawMessage(arguments)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Success && (r.Error == "" || r.ErrorKind == "") {
		t.Errorf("a failed result without error or kind: %+v", r)
	}
	return r
}
