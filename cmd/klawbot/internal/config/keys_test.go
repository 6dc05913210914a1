package config

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// TestLongKeysCostNothing: a model that asks for a key of a megabyte must not make
// the bot compare it with all that there are, which took 10 seconds and 400 MB.
func TestLongKeysCostNothing(t *testing.T) {
	keys := keysOf(reflect.TypeFor[Config]())
	if got := keys.suggest([]string{"agent", "langage"}); got != "agent.language" {
		t.Errorf("suggested %q", got)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got := keys.suggest([]string{"agent", strings.Repeat("x", 1<<20)}); got != "" {
		t.Errorf("suggested %q", got)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("it took %d bytes", took)
	}
}
