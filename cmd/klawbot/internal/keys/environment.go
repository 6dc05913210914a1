package keys

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// envPrefix begins the variables that override the file.
const envPrefix = "KLAWBOT_"

// Environment reads the configuration in the environment: KLAWBOT_A__B is the key
// a.b, compared without case. given is what the file has: its names in tables count
// when they differ only by case.
func (r *Reader) Environment(environ []string, given Tree) Tree {
	out := Tree{}
	environ = slices.Sorted(slices.Values(environ))
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, envPrefix)
		if !ours {
			continue
		}
		path := r.match(strings.Split(rest, "__"), given)
		k := r.Keys.At(path)
		switch {
		case k == nil && len(path) == 1:
			// KLAWBOT_HOME and whatever else others set.
		case k == nil:
			r.unknownKey("$"+name, path)
		default:
			r.where = func(*yaml.Node) string { return "$" + name }
			if v, ok := r.whole(envNode(value, k), k, path); ok {
				put(out, path, v)
			}
		}
	}
	return out
}

// match gives the names of the path their right case.
func (r *Reader) match(path []string, given Tree) []string {
	matched := make([]string, len(path))
	k := r.Keys
	for i, name := range path {
		known := given
		if k != nil && k.table == nil {
			known = Tree{}
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
		given, _ = given[matched[i]].(Tree)
	}
	return matched
}

// envNode is the value of a variable as a YAML node: JSON where a list or a
// section is wanted and the text looks like it, else a text as it stands.
func envNode(value string, k *Key) *yaml.Node {
	text := strings.TrimSpace(value)
	if k.Structured() && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && len(text) <= MaxBytes {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err == nil && len(doc.Content) == 1 {
			return doc.Content[0]
		}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// put sets the value at path, with the sections above it.
func put(t Tree, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		next, ok := t[name].(Tree)
		if !ok {
			next = Tree{}
			t[name] = next
		}
		t = next
	}
	last := path[len(path)-1]
	if section, ok := v.(Tree); ok {
		if old, ok := t[last].(Tree); ok {
			maps.Copy(old, section)
			return
		}
	}
	t[last] = v
}

// OneSource makes a later layer's value win over an earlier layer's file of
// the same secret, and the other way round: of token and tokenFile only the
// one of the last layer counts.
func OneSource(earlier, later Tree, k *Key) {
	for name, child := range k.fields {
		if child.secret {
			if _, given := later[name]; given {
				delete(earlier, name+"File")
			}
			if _, given := later[name+"File"]; given {
				delete(earlier, name)
			}
			continue
		}
		descend(earlier, later, name, child)
	}
	if k.table != nil {
		for name := range later {
			descend(earlier, later, name, k.table)
		}
	}
}

func descend(earlier, later Tree, name string, k *Key) {
	e, _ := earlier[name].(Tree)
	l, _ := later[name].(Tree)
	if e != nil && l != nil {
		OneSource(e, l, k)
	}
}
