package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"

	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/engine/settings"
	"klawbot/internal/redact"
	"klawbot/whitelist"
)

// delimiter separates the names of a path for koanf. Names in tables may hold dots.
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
	// Problems are lines about what is allowed and does not work.
	Problems []string
	// Notices are the problems and what is only odd.
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

func (l *Loaded) prepare() *Loaded {
	l.engine, l.whitelist = l.settings(), l.Config.whitelist()
	return l
}

// Getenv looks a variable up in the environment.
func (s Source) Getenv(name string) string {
	value, _ := s.lookup(name)
	return value
}

func (s Source) lookup(name string) (value string, set bool) {
	for _, pair := range s.Environ {
		if value, set = strings.CutPrefix(pair, name+"="); set {
			return value, true
		}
	}
	return "", false
}

// Load reads the file and the environment. Wrong values are Faults.
func (s Source) Load() (*Loaded, error) {
	var text []byte
	if s.File != "" {
		var err error
		if text, err = s.Read(); err != nil {
			return nil, keys.Faults{{Text: fmt.Sprintf("configuration: %v", err)}}
		}
	}
	return s.Parse(text)
}

// Read returns the text of config.yaml.
func (s Source) Read() ([]byte, error) { return readSmall(s.File, keys.MaxBytes) }

// Parse reads the configuration from the text of the file and the environment.
// With Faults it returns what is well: enough to find the data directory.
func (s Source) Parse(text []byte) (*Loaded, error) {
	r := &keys.Reader{
		Keys: allKeys(), Lookup: s.lookup, Check: check, Rename: ourKey, IDs: ids, Origins: map[string]string{},
	}
	file := r.File(Display(s.File), text)
	env := r.Environment(s.Environ, file)

	both := koanf.New(delimiter)
	keys.OneSource(file, env, r.Keys)
	if err := merge(both, file, env); err != nil {
		return nil, err
	}
	base := tableDefaults(both.Raw(), s.Getenv)
	keys.OneSource(base, both.Raw(), r.Keys)
	all := koanf.New(delimiter)
	if err := merge(all, base, both.Raw()); err != nil {
		return nil, err
	}
	l := &Loaded{Config: Defaults(), origins: r.Origins, files: []string{s.File}}
	if err := all.Unmarshal("", &l.Config); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	secrets, faults := readSecrets(&l.Config, r.Origins, s.Redact)
	l.files = append(l.files, secrets...)
	r.Faults = append(r.Faults, faults...)
	if len(r.Faults) == 0 {
		r.Faults = append(r.Faults, crossCheck(&l.Config, r.Origins)...)
	}
	if len(r.Faults) > 0 {
		return l, r.Explained()
	}
	l.prepare()
	l.Problems = l.problems(r.Notes)
	l.Notices = slices.Clone(l.Problems)
	if l.Tools.Exec.Approvers == "anyone" {
		l.Notices = append(l.Notices, "tools.exec.approvers is anyone: everyone you allow can control this machine; set it to owner to stop that")
	}
	return l, nil
}

func merge(k *koanf.Koanf, layers ...keys.Tree) error {
	for _, layer := range layers {
		if err := k.Load(confmap.Provider(layer, ""), nil); err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
	}
	return nil
}
