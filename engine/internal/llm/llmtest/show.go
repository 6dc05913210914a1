package llmtest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"klawbot/engine/internal/llm"
)

// events writes down what was shown. Neighbours are joined, because how the
// pieces are cut does not matter.
type events struct {
	lines  []string
	kind   string
	joined string
}

func (e *events) add(ev llm.Event) {
	kind, text := "text", ev.Text
	if ev.Thinking != "" {
		kind, text = "thinking", ev.Thinking
	}
	if ev.Unsaid {
		kind, text = "unsaid", ""
	}
	if kind != e.kind {
		e.flush()
		e.kind = kind
	}
	e.joined += text
}

func (e *events) flush() {
	if e.kind != "" {
		e.lines = append(e.lines, fmt.Sprintf("shown %s: %q\n", e.kind, e.joined))
	}
	e.joined = ""
}

func (e *events) String() string {
	e.flush()
	e.kind = ""
	return strings.Join(e.lines, "")
}

func showResult(r llm.Result) string {
	var out strings.Builder
	for _, b := range r.Message.Blocks {
		switch {
		case b.Thinking != nil:
			showThinking(&out, b.Thinking)
		case b.Call != nil:
			fmt.Fprintf(&out, "call %q %s %s\n", b.Call.WireID, b.Call.Name, b.Call.Arguments)
			if b.Call.Extra != nil {
				fmt.Fprintf(&out, "  extra %s\n", b.Call.Extra)
			}
			if b.Call.Fault != "" {
				fmt.Fprintf(&out, "  fault: %s\n", b.Call.Fault)
			}
		case b.Extra != nil:
			fmt.Fprintf(&out, "extra %s\n", b.Extra.Fields)
		default:
			fmt.Fprintf(&out, "text: %q\n", b.Text)
		}
	}
	fmt.Fprintf(&out, "stop: %s\nmodel: %s\nusage: %d %d %d\n", r.Stop, r.Model, r.Usage.Input, r.Usage.Output, r.Usage.Cached)
	return out.String()
}

func showThinking(out *strings.Builder, t *llm.Thinking) {
	if t.Redacted != "" {
		fmt.Fprintf(out, "redacted thinking: %q\n", t.Redacted)
		return
	}
	fmt.Fprintf(out, "thinking (%s): %q\n", t.Field, t.Text)
	if t.Signature != "" {
		fmt.Fprintf(out, "  signature %q\n", t.Signature)
	}
}

func showError(t *testing.T, err error) string {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) || errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if strings.Contains(err.Error(), Key) {
		t.Errorf("the key is in %q", err)
	}
	out := fmt.Sprintf("error: %s\ntemporary: %v\n", err, e.Temporary())
	for _, f := range []struct {
		name  string
		value string
		set   bool
	}{
		{"feature", e.Feature, e.Feature != ""},
		{"wait", e.RetryAfter.String(), e.RetryAfter != 0},
		{"window", strconv.Itoa(e.Window), e.Window != 0},
		{"request", e.RequestID, e.RequestID != ""},
		{"started", "true", e.Started},
	} {
		if f.set {
			out += f.name + ": " + f.value + "\n"
		}
	}
	return out
}
