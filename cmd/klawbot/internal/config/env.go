package config

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// envPrefix begins the variables that override the file.
const envPrefix = "KLAWBOT_"

// overrides reads the configuration in the environment: KLAWBOT_A__B is the key
// a.b, compared without case. given is the file's tree, whose names in tables
// are meant when they differ only by case.
func (d *decoder) overrides(environ []string, given tree) tree {
	out := tree{}
	environ = slices.Sorted(slices.Values(environ))
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, envPrefix)
		if !ours {
			continue
		}
		path := d.match(strings.Split(rest, "__"), given)
		k := d.keys.at(path)
		switch {
		case k == nil && len(path) == 1:
			// KLAWBOT_HOME and whatever else others set.
		case comesLater(path):
			d.later = append(d.later, strings.Join(path, "."))
		case k == nil:
			d.unknown = append(d.unknown, unknownKey("$"+name, path, d.keys))
		default:
			d.where = func(*yaml.Node) string { return "$" + name }
			if v, ok := d.whole(envNode(value, k), k, path); ok {
				put(out, path, v)
			}
		}
	}
	return out
}

// match gives the names of the path their right case.
func (d *decoder) match(path []string, given tree) []string {
	matched := make([]string, len(path))
	k := d.keys
	for i, name := range path {
		known := given
		if k != nil && k.table == nil {
			known = tree{}
			for field := range k.fields {
				known[field] = nil
			}
		}
		matched[i] = strings.ToLower(name)
		for _, candidate := range slices.Sorted(maps.Keys(known)) {
			if strings.EqualFold(candidate, name) {
				matched[i] = candidate
			}
		}
		if k != nil {
			k = k.child(matched[i])
		}
		given, _ = given[matched[i]].(tree)
	}
	return matched
}

// envNode is the value of a variable as a YAML node: JSON where a list or a
// section is wanted and the text looks like it, else a text as it stands.
func envNode(value string, k *Key) *yaml.Node {
	text := strings.TrimSpace(value)
	if k.Structured() && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && len(text) <= maxFileBytes {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err == nil && len(doc.Content) == 1 {
			return doc.Content[0]
		}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// put sets the value at path, with the sections above it.
func put(t tree, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		next, ok := t[name].(tree)
		if !ok {
			next = tree{}
			t[name] = next
		}
		t = next
	}
	last := path[len(path)-1]
	if section, ok := v.(tree); ok {
		if old, ok := t[last].(tree); ok {
			maps.Copy(old, section)
			return
		}
	}
	t[last] = v
}
