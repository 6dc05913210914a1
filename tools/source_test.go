package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/internal/redact"
	"klawbot/tools"
)

// shifting is a source whose tools the test changes.
type shifting struct {
	mu      sync.Mutex
	tools   []tools.Tool
	faults  []tools.Fault
	changed uint64
}

func (s *shifting) Tools() []tools.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

func (s *shifting) Faults() []tools.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults
}

func (s *shifting) Changed() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *shifting) become(faults []tools.Fault, all ...tools.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools, s.faults = all, faults
	s.changed++
}

// withSources is an executor of the tools order and file_read and of sources.
func withSources(t *testing.T, log io.Writer, sources ...tools.Source) *tools.Executor {
	t.Helper()
	return tools.NewExecutor(tools.ExecutorConfig{
		Registry: registry(t, order(), fakeTool("file_read", nil)), Sources: sources,
		Redact: new(redact.Set), Log: slog.New(slog.NewTextHandler(log, nil)),
	})
}

func sunny(context.Context, tools.Call) tools.Result { return tools.OK("sunny") }

func TestSourcesJoinByName(t *testing.T) {
	var first, second shifting
	first.become(nil, fakeTool("weather", sunny), fakeTool("alarm", nil))
	second.become(nil, fakeTool("news", sunny))
	e := withSources(t, new(bytes.Buffer), &first, &second)
	want := []string{"alarm", "file_read", "news", "order", "weather"}
	if diff := cmp.Diff(want, names(e.Offered(tools.Call{}))); diff != "" {
		t.Error(diff)
	}
	if first, second := e.Registry(), e.Registry(); first != second {
		t.Error("the registry is made anew although nothing changed")
	}
	if r, err := e.Execute(t.Context(), tools.Call{ID: "1", Name: "news"}, nil); err != nil || !r.Success {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestATurnKeepsItsTools(t *testing.T) {
	var s shifting
	s.become(nil, fakeTool("weather", sunny))
	e := withSources(t, new(bytes.Buffer), &s)
	turn := e.Snapshot()
	s.become(nil, fakeTool("news", sunny))
	if got := names(turn.Offered(tools.Call{})); !cmp.Equal(got, []string{"file_read", "order", "weather"}) {
		t.Errorf("the turn has %v", got)
	}
	if r, err := turn.Execute(t.Context(), tools.Call{ID: "1", Name: "weather"}, nil); err != nil || !r.Success {
		t.Errorf("%+v, %v", r, err)
	}
	if got := names(e.Snapshot().Offered(tools.Call{})); !cmp.Equal(got, []string{"file_read", "news", "order"}) {
		t.Errorf("the next turn has %v", got)
	}
	if r, err := e.Execute(t.Context(), tools.Call{ID: "1", Name: "weather"}, nil); err != nil || r.ErrorKind != tools.NotFound {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSourcesNeverShadow(t *testing.T) {
	aliased := fakeTool("fine", nil)
	aliased.spec.Aliases = []tools.Alias{{Name: "order"}}
	unusable := fakeTool("unusable", nil)
	unusable.spec.Texts = map[string]tools.Text{tools.English: {Parameters: json.RawMessage(`{"type":"string"}`)}}
	var first, second shifting
	first.become([]tools.Fault{{Name: "broken.sh", Reason: "prints no spec"}},
		fakeTool("order", nil), fakeTool("buy", nil), fakeTool("Loud", nil), fakeTool(strings.Repeat("x", 65), nil), fakeTool("weather", sunny), aliased, unusable)
	second.become(nil, fakeTool("weather", sunny))
	var log bytes.Buffer
	e := withSources(t, &log, &first, &second)
	if got := names(e.Registry().All()); !cmp.Equal(got, []string{"file_read", "order", "weather"}) {
		t.Errorf("tools are %v", got)
	}
	var said []string
	for _, f := range e.Registry().Faults() {
		said = append(said, f.String())
	}
	want := []string{
		"broken.sh: prints no spec",
		`Loud: the name "Loud" is not made of 1 to 64 of a-z, 0-9 and _; rename it`,
		"buy: the name buy belongs to the tool order; rename it",
		"fine: a tool of a plugin or server has no aliases",
		"order: the name order belongs to the tool order; rename it",
		`unusable: tool unusable: parameters: the root is "string", not an object`,
		strings.Repeat("x", 65) + `: the name "` + strings.Repeat("x", 65) + `" is not made of 1 to 64 of a-z, 0-9 and _; rename it`,
		"weather: the name weather belongs to the tool weather; rename it",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(log.String(), "tool left out"); n != len(want) {
		t.Errorf("%d lines are logged:\n%s", n, &log)
	}
	second.become(nil) // the other faults were told
	if e.Registry(); strings.Count(log.String(), "tool left out") != len(want) {
		t.Errorf("told again:\n%s", &log)
	}
}

func TestSourcesChangeWhileOthersCall(t *testing.T) {
	var s shifting
	e := withSources(t, new(bytes.Buffer), &s)
	var work sync.WaitGroup
	work.Go(func() {
		for i := range 200 {
			s.become(nil, fakeTool(fmt.Sprint("t", i), nil))
		}
	})
	for range 4 {
		work.Go(func() {
			for range 200 {
				turn := e.Snapshot()
				for _, o := range turn.Offered(tools.Call{}) {
					if _, _, ok := turn.Registry().Find(o.Spec().Name); !ok {
						t.Errorf("%s is offered and not there", o.Spec().Name)
					}
				}
			}
		})
	}
	work.Wait()
	if got := names(e.Registry().All()); !cmp.Equal(got, []string{"file_read", "order", "t199"}) {
		t.Errorf("tools are %v", got)
	}
}

// names are the canonical names of tools.
func names(all []tools.Tool) []string {
	found := make([]string, len(all))
	for i, t := range all {
		found[i] = t.Spec().Name
	}
	return found
}
