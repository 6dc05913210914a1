package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"klawbot/tools/self"
)

// setting is one value of the configuration.
type setting struct {
	path  []string
	value string
}

func (s setting) key() string { return strings.Join(s.path, ".") }

// flatten lists all values of a configuration, by key, with secrets masked.
func flatten(c *Config) []setting {
	var all []setting
	flattenValue(reflect.ValueOf(*c), nil, func(path []string, v reflect.Value, secret bool) {
		text := shown(v)
		if secret {
			text = self.Mask(text)
		}
		all = append(all, setting{path, text})
	})
	slices.SortFunc(all, func(a, b setting) int { return slices.Compare(a.path, b.path) })
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

// changed lists the paths whose values are not the same in two configurations.
func changed(a, b *Config) [][]string {
	var all [][]string
	values := map[string]any{}
	flattenValue(reflect.ValueOf(*a), nil, func(path []string, v reflect.Value, _ bool) {
		values[pathKey(path)] = v.Interface()
	})
	flattenValue(reflect.ValueOf(*b), nil, func(path []string, v reflect.Value, _ bool) {
		before, known := values[pathKey(path)]
		if !known || !reflect.DeepEqual(before, v.Interface()) {
			all = append(all, path)
		}
		delete(values, pathKey(path))
	})
	for gone := range values {
		all = append(all, strings.Split(gone, pathMark))
	}
	return all
}

// pathMark parts the names of a path in keys of maps: names in tables may hold
// points.
const pathMark = "\x00"

func pathKey(path []string) string { return strings.Join(path, pathMark) }
