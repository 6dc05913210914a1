package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"klawbot/tools/params"
)

// arguments turns what the model wrote into what the tool gets: canonical names, presets
// and defaults filled in, small mistakes fixed.
func (e entry) arguments(written json.RawMessage) (json.RawMessage, error) {
	args, err := params.Parse(written)
	if err != nil {
		return nil, err
	}
	if err := rename(args, e.tool.Spec().Arguments); err != nil {
		return nil, err
	}
	for name, v := range e.preset {
		if _, given := args[name]; !given {
			args[name] = v
		}
	}
	return e.schema.Arguments(args, len(written))
}

// rename gives arguments their canonical names. An alias of several takes an array apart.
func rename(args map[string]any, aliases map[string]string) error {
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		v, given := args[alias]
		if !given {
			continue
		}
		names := strings.Split(aliases[alias], ",")
		values := []any{v}
		if len(names) > 1 {
			list, ok := v.([]any)
			if !ok || len(list) > len(names) {
				return fmt.Errorf("parameter '%s' must be an array of up to %d values: %s", alias, len(names), strings.Join(names, ", "))
			}
			values = list
		}
		if slices.ContainsFunc(names, func(n string) bool { _, twice := args[n]; return twice }) {
			return fmt.Errorf("parameters '%s' and '%s' mean the same; give one", alias, strings.Join(names, "', '"))
		}
		delete(args, alias)
		for i, value := range values {
			args[names[i]] = value
		}
	}
	return nil
}
