package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"klawbot/tools/self"
)

// Setting is one value of the configuration.
type Setting struct {
	Path  []string
	Value string
}

// Key is the dotted path.
func (s Setting) Key() string { return strings.Join(s.Path, ".") }

// Flatten lists all values of a configuration, by key, with secrets masked.
func Flatten(c *Config) []Setting {
	var all []Setting
	flattenValue(reflect.ValueOf(*c), nil, func(path []string, v reflect.Value, secret bool) {
		text := shown(v)
		if secret {
			text = self.Mask(text)
		}
		all = append(all, Setting{path, text})
	})
	slices.SortFunc(all, func(a, b Setting) int { return slices.Compare(a.Path, b.Path) })
	return all
}

// flattenValue calls fn for every leaf below v.
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
