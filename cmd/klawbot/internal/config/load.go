package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"klawbot/engine/settings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"

	"klawbot/internal/redact"
	"klawbot/whitelist"
)

// delimiter parts the names of a path for koanf. Names in tables may hold dots.
const delimiter = "::"

// Source is where the configuration comes from.
type Source struct {
	// File is the path of config.yaml, empty when there is none.
	File string
	// Environ is the environment, as of os.Environ.
	Environ []string
	// Redact learns every secret that is read.
	Redact *redact.Set
}

// Loaded is a configuration with what is to be said about it.
type Loaded struct {
	Config
	// Notices are lines for the admin about what is not wrong but odd.
	Notices []string
	// files are all files that it was read from.
	files []string
	// origins says where a key was given, by dotted path.
	origins map[string]string

	// What the configuration means to the engine and to the gateway, made once
	// because they are asked for with every message.
	engine    settings.Settings
	whitelist whitelist.List
}

// Given says where the value of a key comes from, empty for a default.
func (l *Loaded) Given(key string) string { return l.origins[key] }

// prepare makes what is asked for often.
func (l *Loaded) prepare() *Loaded {
	l.engine, l.whitelist = l.settings(), l.Config.whitelist()
	return l
}

// Getenv looks a variable up in the environment.
func (s Source) Getenv(name string) string {
	for _, pair := range s.Environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// Load reads the file and the environment. Wrong values are Faults.
func (s Source) Load() (*Loaded, error) {
	var text []byte
	if s.File != "" {
		var err error
		if text, err = s.Read(); err != nil {
			return nil, Faults{{Text: fmt.Sprintf("configuration: %v", err)}}
		}
	}
	return s.Parse(text)
}

// Read returns the text of config.yaml.
func (s Source) Read() ([]byte, error) { return readSmall(s.File, maxFileBytes) }

// Parse reads the configuration from the text of the file and the environment.
// With Faults it returns what is well: enough to find the data folder.
func (s Source) Parse(text []byte) (*Loaded, error) {
	d := &decoder{keys: keysOf(reflect.TypeFor[Config]()), getenv: s.Getenv, origins: map[string]string{}}
	file := d.file(s.File, text)
	env := d.overrides(s.Environ, file)

	both := koanf.New(delimiter)
	dropTwins(file, env, d.keys)
	if err := merge(both, file, env); err != nil {
		return nil, err
	}
	base := tableDefaults(both.Raw(), s.Getenv)
	dropTwins(base, both.Raw(), d.keys)
	all := koanf.New(delimiter)
	if err := merge(all, base, both.Raw()); err != nil {
		return nil, err
	}
	l := &Loaded{Config: Defaults(), origins: d.origins, files: []string{s.File}}
	if err := all.Unmarshal("", &l.Config); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	secrets, faults := readSecrets(&l.Config, d.origins, s.Redact)
	l.files = append(l.files, secrets...)
	d.faults = append(d.faults, faults...)
	if len(d.faults) == 0 {
		d.faults = append(d.faults, crossCheck(&l.Config, d.origins)...)
	}
	if len(d.faults) > 0 {
		return l, Faults(d.faults)
	}
	l.prepare()
	l.Notices = d.unknown
	if l.Tools.Exec.Approvers == "anyone" {
		l.Notices = append(l.Notices, "tools.exec.approvers is anyone: everyone you allow can control this machine; set it to owner to stop that")
	}
	if len(d.later) > 0 {
		l.Notices = append(l.Notices, "not supported yet, ignored: "+strings.Join(d.later, ", "))
	}
	return l, nil
}

func merge(k *koanf.Koanf, layers ...tree) error {
	for _, layer := range layers {
		if err := k.Load(confmap.Provider(layer, ""), nil); err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
	}
	return nil
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// file decodes the text of config.yaml.
func (d *decoder) file(name string, text []byte) tree {
	shown := Display(name)
	d.where = func(n *yaml.Node) string { return fmt.Sprintf("%s:%d", shown, n.Line) }
	d.substitute = true
	defer func() { d.substitute = false }()

	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return tree{}
	}
	if err == nil {
		var second yaml.Node
		if err := dec.Decode(&second); err == nil {
			d.fault(&second, nil, "a second document begins here; keep one, without \"---\" in between")
		}
	}
	if err != nil {
		line := 1
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			line, _ = strconv.Atoi(m[1]) // digits, by the pattern
		}
		why := yamlLine.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "")
		d.fault(&yaml.Node{Line: line}, nil, "invalid YAML: %s", why)
		return tree{}
	}
	if len(doc.Content) == 0 {
		return tree{}
	}
	if v, ok := d.whole(doc.Content[0], d.keys, nil); ok {
		return v.(tree)
	}
	return tree{}
}

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
