package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"

	"klawbot/engine"
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
	engine    engine.Settings
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
		l.Notices = append(l.Notices, "known keys whose part comes with a later version, ignored here: "+strings.Join(d.later, ", "))
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
		d.fault(&yaml.Node{Line: line}, nil, "is no YAML: %s", why)
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
