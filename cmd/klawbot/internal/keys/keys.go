// Package keys reads the values of a configuration by the fields of a struct: from
// YAML, and from variables that override it. It knows no key of klawbot.
package keys

import (
	"reflect"
	"slices"
	"strings"

	"klawbot/tools/near"
)

// Key is a place in a configuration: a struct with named fields, a table
// whose names the owner chooses, or a leaf.
type Key struct {
	fields map[string]*Key
	table  *Key
	leaf   reflect.Type
	secret bool
	whole  bool // the texts of a list are not split at commas
}

// Of reads the keys from a struct type.
func Of(t reflect.Type) *Key {
	switch {
	case t.Kind() == reflect.Struct:
		k := &Key{fields: map[string]*Key{}}
		for i := range t.NumField() {
			f := t.Field(i)
			child := Of(f.Type)
			child.secret, child.whole = f.Tag.Get("secret") != "", f.Tag.Get("whole") != ""
			k.fields[f.Tag.Get("koanf")] = child
		}
		return k
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		return &Key{table: Of(t.Elem())}
	default:
		return &Key{leaf: t}
	}
}

// child is the key below k with the name as it is written.
func (k *Key) child(name string) *Key {
	if k.table != nil {
		return k.table
	}
	return k.fields[name]
}

// maxKeyName is the longest name, in bytes, that is compared with the known
// ones: it is foreign text, and comparing costs its length times theirs.
const maxKeyName = 80

// Suggest finds the known path that was probably meant by path, or "". A name
// that exists elsewhere wins over one that is only similar.
func (k *Key) Suggest(path []string) string {
	name := strings.ToLower(path[len(path)-1])
	if len(name) > maxKeyName {
		return ""
	}
	best, bestCost := "", max(3, len(name)/3+1)
	offer := func(candidate []string) {
		last := strings.ToLower(candidate[len(candidate)-1])
		cost := near.Distance(name, last)
		if !slices.Equal(candidate[:len(candidate)-1], path[:len(path)-1]) {
			if cost > 0 || strings.Contains(strings.Join(candidate, "."), "*") {
				return
			}
			cost = 1
		}
		text := strings.Join(candidate, ".")
		if cost < bestCost || cost == bestCost && best != "" && text < best {
			best, bestCost = text, cost
		}
	}
	k.eachName(nil, offer)
	if at := k.At(path[:len(path)-1]); at != nil {
		for sibling := range at.fields {
			offer(append(slices.Clone(path[:len(path)-1]), sibling))
		}
	}
	return best
}

// eachName calls fn for every path of a field, sections included.
func (k *Key) eachName(path []string, fn func(path []string)) {
	if k.table != nil {
		k.table.eachName(append(slices.Clone(path), "*"), fn)
	}
	for name, child := range k.fields {
		p := append(slices.Clone(path), name)
		fn(p)
		child.eachName(p, fn)
	}
}

// At is the key at path, in its exact spelling; nil when there is none.
func (k *Key) At(path []string) *Key {
	for _, name := range path {
		if k == nil {
			return nil
		}
		k = k.child(name)
	}
	return k
}

// Structured says that the key takes a list or a section.
func (k *Key) Structured() bool {
	return k.leaf == nil || k.leaf.Kind() == reflect.Slice || k.leaf.Kind() == reflect.Map
}

// IsText says that the key takes any text.
func (k *Key) IsText() bool { return k.leaf != nil && k.leaf.Kind() == reflect.String }

// PlainValue is a text as a value of the key, which takes neither a list nor a
// section. The error says what the key takes.
func (k *Key) PlainValue(text string) (any, error) {
	return scalar(text, k.leaf)
}
