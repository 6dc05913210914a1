package tools_test

import (
	"context"
	"encoding/json"
	"testing"

	"klawbot/tools"
	"klawbot/tools/rule"
)

// BenchmarkPipeline is a call that does nothing, with a policy of every kind.
// The promise is at most 100 µs.
func BenchmarkPipeline(b *testing.B) {
	one, err := rule.New("careful", nil, nil, []string{"rm -rf /", "re:^/etc/", ".env"})
	if err != nil {
		b.Fatal(err)
	}
	policy := tools.Policy{
		Everyone: tools.Limits{AllowGroups: []tools.Group{tools.GroupFiles, tools.GroupSystem}, Deny: []string{"shell"}},
		Chats:    map[string]tools.Limits{"telegram_5": {DenyGroups: []tools.Group{tools.GroupNet}}},
		Rules:    []rule.Rule{one},
	}
	e := executor(b, tools.ExecutorConfig{Policy: func() tools.Policy { return policy }}, order())
	c := tools.Call{ID: "c", Name: "buy", Chat: "telegram_5", Arguments: json.RawMessage(`{"dish":"soup","count":"3","extras":["bread"]}`)}
	for b.Loop() {
		if r, err := e.Execute(context.Background(), c, nil); err != nil || !r.Success {
			b.Fatal(r, err)
		}
	}
}
