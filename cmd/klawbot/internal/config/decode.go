package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"klawbot/whitelist"
)

// The bounds of a file, so that no file can eat the machine.
const (
	maxFileBytes = 256 << 10
	maxDepth     = 50
	maxNodes     = 50_000
)

// decoder turns YAML nodes into typed values and gathers what is wrong.
type decoder struct {
	keys   *Key
	getenv func(string) string
	// where says where a node stands, for people.
	where func(*yaml.Node) string
	// substitute says that ${NAME} is replaced.
	substitute bool

	faults  []Fault
	unknown []string
	later   []string
	origins map[string]string // dotted path → where
}

func (d *decoder) fault(n *yaml.Node, path []string, format string, args ...any) {
	d.faults = append(d.faults, Fault{d.where(n), strings.Join(path, "."), fmt.Sprintf(format, args...)})
}

// whole decodes a document, or a value of the environment, for the key at path.
func (d *decoder) whole(n *yaml.Node, k *Key, path []string) (v any, ok bool) {
	nodes := 0
	if !fits(n, 0, &nodes) {
		d.fault(n, path, "is nested too deep or too large")
		return nil, false
	}
	return d.value(n, k, path)
}

// fits says whether the tree below n keeps the bounds, with all aliases
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
func (d *decoder) value(n *yaml.Node, k *Key, path []string) (v any, ok bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil, false
	}
	d.origins[strings.Join(path, ".")] = d.where(n)
	switch {
	case k.leaf == nil:
		return d.section(n, k, path)
	case k.leaf.Kind() == reflect.Slice && k.leaf.Elem().Kind() == reflect.Struct:
		return d.items(n, k, path)
	}
	v, err := d.leaf(n, k)
	if err == nil {
		err = check(path, v)
	}
	if err != nil {
		d.fault(n, path, "%v%s", err, got(n, k))
		return nil, false
	}
	return v, true
}

// got shows a wrong value, unless it is a secret or the error shows it.
func got(n *yaml.Node, k *Key) string {
	switch {
	case k.secret || n.Kind != yaml.ScalarNode || k.leaf.Kind() == reflect.Slice:
		return ""
	case n.Value == "":
		return `, got ""`
	}
	return fmt.Sprintf(", got %.80q", n.Value)
}

func (d *decoder) section(n *yaml.Node, k *Key, path []string) (tree, bool) {
	if n.Kind != yaml.MappingNode {
		d.fault(n, path, "must hold keys, such as %q", k.example())
		return nil, false
	}
	out, seen := tree{}, map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := ourKey(append(slices.Clone(path), n.Content[i].Value), n.Content[i+1])
		at := append(slices.Clone(path), name)
		child := k.child(name)
		switch {
		case seen[name]:
			d.fault(n.Content[i], at, "duplicate key; keep one")
		case comesLater(at):
			d.later = append(d.later, strings.Join(at, "."))
		case child == nil:
			d.unknown = append(d.unknown, unknownKey(d.where(n.Content[i]), at, d.keys))
		default:
			if v, ok := d.value(value, child, at); ok {
				out[name] = v
			}
		}
		seen[name] = true
	}
	return out, true
}

// items decodes a list of sections. Their origins are numbered from 0.
func (d *decoder) items(n *yaml.Node, k *Key, path []string) ([]any, bool) {
	section := keysOf(k.leaf.Elem())
	if n.Kind != yaml.SequenceNode {
		d.fault(n, path, "must be a list of sections, such as [{%s}]", section.example())
		return nil, false
	}
	items := make([]any, 0, len(n.Content))
	for i, item := range n.Content {
		if v, ok := d.value(item, section, append(slices.Clone(path), strconv.Itoa(i))); ok {
			items = append(items, v)
		}
	}
	return items, true
}

// example is the first key below k.
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

func unknownKey(where string, path []string, keys *Key) string {
	text := fmt.Sprintf("%s: %s: unknown key", where, strings.Join(path, "."))
	if s := keys.suggest(path); s != "" {
		text += fmt.Sprintf("; did you mean %s?", s)
	}
	return text
}

// leaf converts the node to the type of the key.
func (d *decoder) leaf(n *yaml.Node, k *Key) (any, error) {
	if k.leaf == reflect.TypeFor[map[string]string]() {
		return d.words(n)
	}
	if k.leaf.Kind() == reflect.Map {
		v := map[string]any{}
		if err := n.Decode(&v); err != nil {
			return nil, errors.New("must hold keys and values, such as {key: value}")
		}
		return v, nil
	}
	if k.leaf.Kind() == reflect.Slice {
		if k.leaf.Elem().Kind() == reflect.String {
			if k.whole && n.Kind == yaml.SequenceNode {
				return d.texts(n)
			}
			return d.list(n, "names, such as [clever, local]")
		}
		return d.ids(n)
	}
	if n.Kind != yaml.ScalarNode {
		return nil, fmt.Errorf("must be %s", typeName(k.leaf))
	}
	return scalar(d.text(n), k.leaf)
}

// words reads texts by name.
func (d *decoder) words(n *yaml.Node) (map[string]any, error) {
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
		words[n.Content[i].Value] = d.text(v)
	}
	return words, nil
}

// texts reads a list of texts as they are.
func (d *decoder) texts(n *yaml.Node) ([]string, error) {
	texts := make([]string, len(n.Content))
	for i, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return nil, errors.New("must be a list of texts")
		}
		texts[i] = d.text(item)
	}
	return texts, nil
}

func scalar(text string, t reflect.Type) (v any, err error) {
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

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}`)

// text is the scalar with ${NAME} and ${NAME:-default} replaced. As in a
// shell, the default also stands in for an empty value.
func (d *decoder) text(n *yaml.Node) string {
	if !d.substitute {
		return n.Value
	}
	return variable.ReplaceAllStringFunc(n.Value, func(match string) string {
		groups := variable.FindStringSubmatch(match)
		if v := d.getenv(groups[1]); v != "" {
			return v
		}
		return groups[2]
	})
}

// list reads texts: a list, or one text with commas between them. what says
// what is expected.
func (d *decoder) list(n *yaml.Node, what string) ([]string, error) {
	texts := []string{}
	add := func(item *yaml.Node) {
		for _, text := range strings.Split(d.text(item), ",") {
			if text = strings.TrimSpace(text); text != "" {
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

// ids reads a list of ids.
func (d *decoder) ids(n *yaml.Node) ([]int64, error) {
	texts, err := d.list(n, "ids, such as [123456, -1001234567890]")
	if err != nil {
		return nil, err
	}
	ids := make([]int64, 0, len(texts))
	var wrong []error
	for _, text := range texts {
		id, err := ParseID(text)
		if err != nil {
			wrong = append(wrong, err)
		}
		ids = append(ids, id)
	}
	if err := joined(wrong); err != nil {
		return ids, fmt.Errorf("%w; %s", err, FindID)
	}
	return ids, nil
}

// joined joins errors in one line, nil for none.
func joined(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return errors.New(strings.Join(texts, "; "))
}

// FindID says how a person finds an id.
const FindID = "write to the bot and read the id in its log (\"unknown sender blocked\"), or let klawbot init find it"

// ParseID reads an id in any of its forms: 123456, -100123,
// telegram_123456.
func ParseID(text string) (int64, error) {
	channel, id, err := whitelist.ParseID(text)
	if err != nil {
		return 0, err
	}
	if channel != "" && channel != "telegram" {
		return 0, fmt.Errorf("%q is an id of the channel %s, not of telegram", text, channel)
	}
	if id == 0 {
		return 0, fmt.Errorf("%q is no id", text)
	}
	return id, nil
}

// ParseIDs reads ids from the command line.
func ParseIDs(args []string) ([]int64, error) {
	ids := make([]int64, len(args))
	for i, arg := range args {
		id, err := ParseID(arg)
		if err != nil {
			return nil, fmt.Errorf("%w; %s", err, FindID)
		}
		ids[i] = id
	}
	return ids, nil
}

// Unique drops ids that stand in the list already, and keeps the order.
func Unique(ids []int64) []int64 {
	var kept []int64
	for _, id := range ids {
		if !slices.Contains(kept, id) {
			kept = append(kept, id)
		}
	}
	return kept
}
