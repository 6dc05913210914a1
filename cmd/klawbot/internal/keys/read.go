package keys

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The bounds of a file, so that no file can use up the machine.
const (
	MaxBytes = 256 << 10
	maxDepth = 50
	maxNodes = 50_000
)

// Tree is a configuration as it is read: nested by key, with typed values.
type Tree = map[string]any

// Reader turns YAML and variables into typed values and gathers what is wrong.
type Reader struct {
	Keys *Key
	// Lookup finds a variable of the environment.
	Lookup func(name string) (value string, set bool)
	// Check says what is wrong with a value.
	Check func(path []string, v any) error
	// Rename gives a key that other bots have our name, and its value our unit.
	Rename func(path []string, value *yaml.Node) (string, *yaml.Node)
	// IDs reads a list of ids.
	IDs func(texts []string) ([]int64, error)

	Faults Faults
	// Notes are about what is odd, but not wrong.
	Notes []Note
	// Origins says where a key was given, by dotted path.
	Origins map[string]string

	where      func(*yaml.Node) string // where a node stands, for people
	at         []string                // the key whose value is read
	substitute bool                    // ${NAME} is replaced
}

// Note is a line about a key.
type Note struct {
	Path []string
	// Text is the line, Why its end without the place.
	Text, Why string
}

func (r *Reader) fault(n *yaml.Node, path []string, format string, args ...any) {
	r.Faults.Add(r.where(n), strings.Join(path, "."), format, args...)
}

// whole decodes a document, or a value of the environment, for the key at path.
func (r *Reader) whole(n *yaml.Node, k *Key, path []string) (v any, ok bool) {
	nodes := 0
	if !fits(n, 0, &nodes) {
		r.fault(n, path, "is nested too deep or too large")
		return nil, false
	}
	return r.value(n, k, path)
}

// fits says whether the Tree below n keeps the bounds, with all aliases
// written out.
func fits(n *yaml.Node, depth int, nodes *int) bool {
	if *nodes++; *nodes > maxNodes || depth > maxDepth {
		return false
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !fits(c, depth+1, nodes) })
}

// value decodes the node for the key at path. ok is false when there is
// nothing to take over: null, or a fault.
func (r *Reader) value(n *yaml.Node, k *Key, path []string) (v any, ok bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil, false
	}
	r.Origins[strings.Join(path, ".")] = r.where(n)
	switch {
	case k.leaf == nil:
		return r.section(n, k, path)
	case k.leaf.Kind() == reflect.Slice && k.leaf.Elem().Kind() == reflect.Struct:
		return r.items(n, k, path)
	}
	r.at = path
	v, err := r.leaf(n, k)
	if err == nil {
		err = r.Check(path, v)
	}
	if err != nil {
		r.fault(n, path, "%v%s", err, got(n, k))
		return nil, false
	}
	return v, true
}

// got shows a wrong value, unless it is a secret or the error shows it.
func got(n *yaml.Node, k *Key) string {
	if k.secret || n.Kind != yaml.ScalarNode || k.leaf.Kind() == reflect.Slice {
		return ""
	}
	return fmt.Sprintf(", got %.80q", n.Value)
}

func (r *Reader) section(n *yaml.Node, k *Key, path []string) (Tree, bool) {
	if n.Kind != yaml.MappingNode {
		r.fault(n, path, "must hold keys, such as %q", k.example())
		return nil, false
	}
	out, seen := Tree{}, map[string]bool{}
	content := merged(n)
	for i := 0; i+1 < len(content); i += 2 {
		name, value := r.Rename(append(slices.Clone(path), content[i].Value), content[i+1])
		at := append(slices.Clone(path), name)
		child := k.child(name)
		switch {
		case seen[name]:
			r.fault(content[i], at, "duplicate key; keep one")
		case child == nil:
			r.unknownKey(r.where(content[i]), at)
		default:
			if v, ok := r.value(value, child, at); ok {
				out[name] = v
			}
		}
		seen[name] = true
	}
	return out, true
}

// merged are the keys of a section and their values. Those that a merge key (<<) brings
// stand behind its own, which win.
func merged(n *yaml.Node) []*yaml.Node {
	var own, more []*yaml.Node
	names := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			more = append(more, n.Content[i+1])
			continue
		}
		names[n.Content[i].Value] = true
		own = append(own, n.Content[i], n.Content[i+1])
	}
	for len(more) > 0 {
		from := more[0]
		if more = more[1:]; from.Kind == yaml.AliasNode {
			from = from.Alias
		}
		if from.Kind == yaml.SequenceNode {
			more = append(slices.Clone(from.Content), more...)
			continue
		}
		pairs := merged(from)
		for i := 0; i+1 < len(pairs); i += 2 {
			if !names[pairs[i].Value] {
				names[pairs[i].Value] = true
				own = append(own, pairs[i], pairs[i+1])
			}
		}
	}
	return own
}

// items decodes a list of sections. Their origins are numbered from 0.
func (r *Reader) items(n *yaml.Node, k *Key, path []string) ([]any, bool) {
	section := Of(k.leaf.Elem())
	if n.Kind != yaml.SequenceNode {
		r.fault(n, path, "must be a list of sections, such as [{%s}]", section.example())
		return nil, false
	}
	items := make([]any, 0, len(n.Content))
	for i, item := range n.Content {
		if v, ok := r.value(item, section, append(slices.Clone(path), strconv.Itoa(i))); ok {
			items = append(items, v)
		}
	}
	return items, true
}

func (k *Key) example() string {
	names := make([]string, 0, len(k.fields))
	for name := range k.fields {
		names = append(names, name)
	}
	if len(names) == 0 {
		return "name: {…}"
	}
	return slices.Min(names) + ": …"
}

func (r *Reader) unknownKey(where string, path []string) {
	why := "unknown key"
	if s := r.Keys.Suggest(path); s != "" {
		why += fmt.Sprintf("; did you mean %s?", s)
	}
	r.addNote(where, path, why)
}

// maxNotes bounds the notes: a file may be made to have very many.
const maxNotes = 50

// addNote adds a note, once.
func (r *Reader) addNote(where string, path []string, why string) {
	note := Note{path, fmt.Sprintf("%s: %s: %s", where, strings.Join(path, "."), why), why}
	if len(r.Notes) < maxNotes && !slices.ContainsFunc(r.Notes, func(n Note) bool { return n.Text == note.Text }) {
		r.Notes = append(r.Notes, note)
	}
}

// leaf converts the node to the type of the key.
func (r *Reader) leaf(n *yaml.Node, k *Key) (any, error) {
	if k.leaf == reflect.TypeFor[map[string]string]() {
		return r.words(n)
	}
	if k.leaf.Kind() == reflect.Map {
		v := map[string]any{}
		if err := r.filled(n).Decode(&v); err != nil {
			return nil, errors.New("must hold keys and values, such as {key: value}")
		}
		return v, nil
	}
	if k.leaf.Kind() == reflect.Slice {
		if k.leaf.Elem().Kind() == reflect.String {
			if k.whole && n.Kind == yaml.SequenceNode {
				return r.texts(n)
			}
			return r.list(n, "names, such as [clever, local]")
		}
		texts, err := r.list(n, "ids, such as [123456, -1001234567890]")
		if err != nil {
			return nil, err
		}
		return r.IDs(texts)
	}
	if n.Kind != yaml.ScalarNode {
		return nil, fmt.Errorf("must be %s", typeName(k.leaf))
	}
	text := r.text(n)
	if k.secret {
		text = TrimSecret(text)
	}
	return scalar(text, k.leaf)
}

func (r *Reader) words(n *yaml.Node) (map[string]any, error) {
	words := map[string]any{}
	if n.Kind != yaml.MappingNode {
		return nil, errors.New("must hold names and texts, such as {NAME: text}")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		v := n.Content[i+1]
		if v.Kind == yaml.AliasNode {
			v = v.Alias
		}
		if v.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("must hold names and texts; %.80q is none", n.Content[i].Value)
		}
		words[n.Content[i].Value] = r.text(v)
	}
	return words, nil
}

func (r *Reader) texts(n *yaml.Node) ([]string, error) {
	texts := make([]string, len(n.Content))
	for i, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return nil, errors.New("must be a list of texts")
		}
		texts[i] = r.text(item)
	}
	return texts, nil
}

func scalar(text string, t reflect.Type) (v any, err error) {
	text = Trim(text)
	switch t.Kind() {
	case reflect.String:
		return text, nil
	case reflect.Bool:
		v, err = strconv.ParseBool(text)
	case reflect.Int:
		v, err = strconv.Atoi(text)
	case reflect.Int64:
		v, err = strconv.ParseInt(text, 10, 64)
	case reflect.Float64:
		v, err = strconv.ParseFloat(text, 64)
	}
	if err != nil {
		return nil, fmt.Errorf("must be %s", typeName(t))
	}
	return v, nil
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	default:
		return "a text"
	}
}

// list reads texts: a list, or one text with commas between them. what says
// what is expected.
func (r *Reader) list(n *yaml.Node, what string) ([]string, error) {
	texts := []string{}
	add := func(item *yaml.Node) {
		for _, text := range strings.Split(r.text(item), ",") {
			if text = Trim(text); text != "" {
				texts = append(texts, text)
			}
		}
	}
	wrong := errors.New("must be a list of " + what)
	switch n.Kind {
	case yaml.ScalarNode:
		add(n)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, wrong
			}
			add(item)
		}
	default:
		return nil, wrong
	}
	return texts, nil
}
