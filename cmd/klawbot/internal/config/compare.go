package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Changes lists the paths of what is not the same in two configurations, and in
// the texts that they were read from: a text may hold keys that this version does
// not know.
func Changes(was, is *Loaded, before, after []byte) ([][]string, error) {
	values, err := rawValues(before)
	if err != nil {
		return nil, err
	}
	next, err := rawValues(after)
	if err != nil {
		return nil, err
	}
	paths := changed(&was.Config, &is.Config)
	for at := range unequal(values, next) {
		paths = append(paths, strings.Split(at, pathMark))
	}
	return paths, nil
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

// addRaw writes down what stands at and below a node. An empty section and a
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

// unequal are the keys whose values are not the same in both maps.
func unequal(a, b map[string]string) map[string]bool {
	all := map[string]bool{}
	for k, v := range a {
		if b[k] != v {
			all[k] = true
		}
	}
	for k, v := range b {
		if a[k] != v {
			all[k] = true
		}
	}
	return all
}
