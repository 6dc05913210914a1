package keys

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Setting is one value of the configuration.
type Setting struct {
	Path  []string
	Value string
}

// Key is the dotted path.
func (s Setting) Key() string { return strings.Join(s.Path, ".") }

// Flatten lists all values of a configuration, by key, with secrets masked.
func Flatten(c any, mask func(secret string) string) []Setting {
	var all []Setting
	flattenValue(reflect.ValueOf(c), nil, func(path []string, v reflect.Value, secret bool) {
		text := shown(v)
		if secret {
			text = mask(text)
		}
		all = append(all, Setting{path, text})
	})
	slices.SortFunc(all, func(a, b Setting) int { return slices.Compare(a.Path, b.Path) })
	return all
}

func flattenValue(v reflect.Value, path []string, fn func(path []string, v reflect.Value, secret bool)) {
	below := func(name string) []string { return append(slices.Clone(path), name) }
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			at := below(f.Tag.Get("koanf"))
			if f.Tag.Get("secret") != "" {
				fn(at, v.Field(i), true)
				continue
			}
			flattenValue(v.Field(i), at, fn)
		}
	case v.Kind() == reflect.Map && v.Type().Elem().Kind() == reflect.Struct:
		for _, name := range v.MapKeys() {
			flattenValue(v.MapIndex(name), below(name.String()), fn)
		}
	default:
		fn(path, v, false)
	}
}

// shown is a value in one line. Of free-form tables only the keys are shown:
// what a server is sent may be secret.
func shown(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Map:
		names := make([]string, 0, v.Len())
		for _, name := range v.MapKeys() {
			names = append(names, name.String())
		}
		slices.Sort(names)
		return "{" + strings.Join(names, ", ") + "}"
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = shown(v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(v.Interface())
}

// Changes lists the paths of what is not the same in two configurations, and in
// the texts that they were read from: a text may hold keys that this version does
// not know.
func Changes(was, is any, before, after []byte) ([][]string, error) {
	old, err := rawValues(before)
	if err != nil {
		return nil, err
	}
	now, err := rawValues(after)
	if err != nil {
		return nil, err
	}
	changed := map[string]bool{}
	addUnequal(changed, typedValues(was), typedValues(is))
	addUnequal(changed, old, now)
	var paths [][]string
	for at := range changed {
		paths = append(paths, strings.Split(at, pathMark))
	}
	return paths, nil
}

func typedValues(c any) map[string]any {
	values := map[string]any{}
	flattenValue(reflect.ValueOf(c), nil, func(path []string, v reflect.Value, _ bool) {
		values[pathKey(path)] = v.Interface()
	})
	return values
}

// addUnequal adds the keys that are in one map only, or whose values differ.
func addUnequal[V any](all map[string]bool, a, b map[string]V) {
	for k, v := range a {
		if other, is := b[k]; !is || !reflect.DeepEqual(v, other) {
			all[k] = true
		}
	}
	for k := range b {
		if _, is := a[k]; !is {
			all[k] = true
		}
	}
}

// pathMark parts the names of a path in keys of maps: names in tables may hold
// points.
const pathMark = "\x00"

func pathKey(path []string) string { return strings.Join(path, pathMark) }

// rawValues are all plain values and lists of a file, also those of keys that
// this version does not know, by path.
func rawValues(text []byte) (map[string]string, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read config.yaml: %w", err)
	}
	values := map[string]string{}
	for _, n := range doc.Content {
		addRaw(values, n, nil)
	}
	return values, nil
}

// addRaw adds the values at and below a node. An empty section and a
// value that is null are nothing. The text has been read as a configuration
// before, so it is neither deep nor large.
func addRaw(values map[string]string, n *yaml.Node, path []string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			addRaw(values, n.Content[i+1], append(slices.Clone(path), n.Content[i].Value))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			addRaw(values, item, append(slices.Clone(path), fmt.Sprint(i)))
		}
		values[pathKey(path)] += fmt.Sprintf("list of %d;", len(n.Content))
	default:
		if n.Tag != "!!null" {
			values[pathKey(path)] += n.Tag + " " + n.Value + ";"
		}
	}
}
