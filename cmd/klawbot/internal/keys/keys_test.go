package keys

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

type settings struct {
	Agent struct {
		Language string `koanf:"language"`
		Rounds   int    `koanf:"rounds"`
	} `koanf:"agent"`
	Key     string            `koanf:"key" secret:"true"`
	KeyFile string            `koanf:"keyFile"`
	Words   []string          `koanf:"words"`
	Free    map[string]any    `koanf:"free"`
	Env     map[string]string `koanf:"env"`
}

func reader(variables map[string]string) *Reader {
	return &Reader{
		Keys:    Of(reflect.TypeFor[settings]()),
		Lookup:  func(name string) (string, bool) { v, set := variables[name]; return v, set },
		Check:   func([]string, any) error { return nil },
		Rename:  func(path []string, n *yaml.Node) (string, *yaml.Node) { return path[len(path)-1], n },
		IDs:     func([]string) ([]int64, error) { return nil, errors.New("no ids here") },
		Origins: map[string]string{},
	}
}

// TestLongKeysCostNothing: a model that asks for a key of a megabyte must not make
// the bot compare it with all that there are, which took 10 seconds and 400 MB.
func TestLongKeysCostNothing(t *testing.T) {
	keys := Of(reflect.TypeFor[settings]())
	if got := keys.Suggest([]string{"agent", "langage"}); got != "agent.language" {
		t.Errorf("suggested %q", got)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got := keys.Suggest([]string{"agent", strings.Repeat("x", 1<<20)}); got != "" {
		t.Errorf("suggested %q", got)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("it took %d bytes", took)
	}
}

// TestReferencesNestedDeep: a text made to be costly costs little.
func TestReferencesNestedDeep(t *testing.T) {
	text := strings.Repeat("${A:-", 20_000) + "x" + strings.Repeat("}", 20_000)
	r := reader(nil)
	r.File("f", []byte("key: \""+text+"\"\n"))
	if len(r.Faults)+len(r.Notes) > 2 {
		t.Errorf("%d faults and %d notes", len(r.Faults), len(r.Notes))
	}
	r = reader(nil)
	r.File("f", []byte("key: \""+strings.Repeat("${A}", 40_000)+"\"\n"))
	if n := len(r.Notes); n > 100 {
		t.Errorf("%d notes about one value", n)
	}
}

func TestTrimSecret(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " ": "", `"`: `"`, `""`: `""`, `"a"`: "a", `" a "`: "a", `"a`: `"a`, `a"`: `a"`, "'a\"": "'a\"", "«a»\n": "a", "`a`": "a",
	} {
		if got := TrimSecret(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
