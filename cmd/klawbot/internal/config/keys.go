package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Key is a place in the configuration: a struct with named fields, a table
// whose names the admin chooses, or a leaf.
type Key struct {
	fields map[string]*Key
	table  *Key
	leaf   reflect.Type
	secret bool
	whole  bool // the texts of a list are not split at commas
}

// keysOf reads the keys from the type of the configuration.
func keysOf(t reflect.Type) *Key {
	switch {
	case t.Kind() == reflect.Struct:
		k := &Key{fields: map[string]*Key{}}
		for i := range t.NumField() {
			f := t.Field(i)
			child := keysOf(f.Type)
			child.secret, child.whole = f.Tag.Get("secret") != "", f.Tag.Get("whole") != ""
			k.fields[f.Tag.Get("koanf")] = child
		}
		return k
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		return &Key{table: keysOf(t.Elem())}
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

// laterKeys are keys whose part is not in this version. A whole section stands
// for everything in it.
var laterKeys = []string{
	"channels.web",
}

// comesLater reports whether the key at path belongs to a part of a later version.
func comesLater(path []string) bool {
	return slices.ContainsFunc(laterKeys, func(k string) bool {
		later := strings.Split(k, ".")
		return len(later) <= len(path) && slices.EqualFunc(later, path[:len(later)], func(want, got string) bool {
			return want == "*" || strings.EqualFold(want, got)
		})
	})
}

// maxKeyName is the longest name, in bytes, that is compared with the known
// ones: it is foreign text, and comparing costs its length times theirs.
const maxKeyName = 80

// suggest finds the known path that was probably meant by path, or "". A name
// that exists elsewhere is taken over one that is only similar.
func (k *Key) suggest(path []string) string {
	name := strings.ToLower(path[len(path)-1])
	if len(name) > maxKeyName {
		return ""
	}
	best, bestCost := "", max(3, len(name)/3+1)
	offer := func(candidate []string) {
		last := strings.ToLower(candidate[len(candidate)-1])
		cost := distance(name, last)
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
	if at := k.at(path[:len(path)-1]); at != nil {
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

// at is the key at path, nil when there is none.
func (k *Key) at(path []string) *Key {
	for _, name := range path {
		if k == nil {
			return nil
		}
		k = k.child(name)
	}
	return k
}

// distance counts the letters to insert, remove, replace or swap to get from a
// to b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// Structured says that the key takes a list or a section.
func (k *Key) Structured() bool {
	return k.leaf == nil || k.leaf.Kind() == reflect.Slice || k.leaf.Kind() == reflect.Map
}

// Lookup finds the key with a dotted name, in its exact spelling; nil when there is
// none. later says that the name belongs to a part of a later version, near is the
// name that was probably meant.
func Lookup(name string) (k *Key, later bool, near string) {
	path := strings.Split(name, ".")
	all := keysOf(reflect.TypeFor[Config]())
	if k = all.at(path); k == nil {
		near = all.suggest(path)
	}
	return k, comesLater(path), near
}

// IsText says that the key takes any text.
func (k *Key) IsText() bool { return k.leaf != nil && k.leaf.Kind() == reflect.String }

// PlainValue is a text as a value of the key, which takes neither a list nor a
// section. The error says what the key takes.
func (k *Key) PlainValue(text string) (any, error) {
	if k.IsText() {
		return text, nil
	}
	return scalar(strings.TrimSpace(text), k.leaf)
}

// foreignKey is a key of ours under the name that other bots have for it.
type foreignKey struct {
	name string
	// percent says that the value is in hundredths of ours.
	percent bool
}

// foreignKeys are keys of other bots that are accepted, by dotted path.
var foreignKeys = map[string]foreignKey{
	"tools.sandbox.mode":          {name: "type"},
	"tools.sandbox.networkAccess": {name: "network"},
	"tools.sandbox.maxMemoryMb":   {name: "memoryMB"},
	"tools.sandbox.maxCpuPercent": {name: "cpus", percent: true},
	"tools.sandbox.bindMounts":    {name: "mounts"},
}

// ourKey is our name for the key at path, and its value.
func ourKey(path []string, value *yaml.Node) (string, *yaml.Node) {
	name := path[len(path)-1]
	other, ok := foreignKeys[strings.Join(path, ".")]
	if !ok {
		return name, value
	}
	if n, err := strconv.ParseFloat(value.Value, 64); err == nil && other.percent {
		ours := *value
		ours.Value, ours.Tag = strconv.FormatFloat(n/100, 'f', -1, 64), ""
		value = &ours
	}
	return other.name, value
}
