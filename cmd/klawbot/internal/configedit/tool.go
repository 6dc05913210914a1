package configedit

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/cmd/klawbot/internal/yamledit"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/self"
)

// maxValueBytes bounds a value that the config tool sets.
const maxValueBytes = 4 << 10

// Tool is the configuration for the tools config and self_info.
type Tool struct {
	live *config.Live
	log  *slog.Logger
	// editing lets one change at a time through.
	editing sync.Mutex
}

var _ self.Configuration = (*Tool)(nil)

// NewTool changes the configuration l.
func NewTool(l *config.Live, log *slog.Logger) *Tool { return &Tool{live: l, log: log} }

// Entries lists all settings as they are in use, secrets masked.
func (t *Tool) Entries() []self.Entry {
	all := keys.Flatten(*t.live.Config(), self.Mask)
	entries := make([]self.Entry, len(all))
	for i, s := range all {
		entries[i] = self.Entry{Key: s.Key(), Value: s.Value, Settable: settable(s.Path)}
	}
	return entries
}

// Settable reports why a key may not be changed by the tool.
func (t *Tool) Settable(name string) error {
	_, err := leafNamed(name)
	return err
}

// leafNamed finds a key that may be set. Only the exact spelling will do.
func leafNamed(name string) (*keys.Key, error) {
	leaf, near := config.Lookup(name)
	switch {
	case leaf != nil && !settable(strings.Split(name, ".")):
		return nil, errOwners(name)
	case leaf == nil:
		if near != "" {
			return nil, tools.Refuse(tools.Validation, "unknown key '%.80s'; did you mean %s?", name, near)
		}
		return nil, tools.Refuse(tools.Validation, "unknown key '%.80s'; the action list shows all keys", name)
	case leaf.Structured():
		return nil, tools.Refuse(tools.Validation, "%.80s is not a plain value; set one of the keys below it", name)
	}
	return leaf, nil
}

// Set changes one value in config.yaml and applies it.
func (t *Tool) Set(name, value string) error {
	leaf, err := leafNamed(name)
	if err != nil {
		return err
	}
	written, err := writtenValue(name, value, leaf)
	if err != nil {
		return err
	}
	if t.live.Source.File == "" {
		return tools.Refuse(tools.Execution, "there is no config.yaml to change; klawbot init writes one")
	}
	t.editing.Lock()
	defer t.editing.Unlock()
	if err := t.edit(strings.Split(name, "."), written, canonical(value, leaf)); err != nil {
		return err
	}
	t.live.Reload(t.log)
	return nil
}

// writtenValue is the value as it will stand in the file. References to the
// environment are the owner's: they would show what stands there.
func writtenValue(name, value string, leaf *keys.Key) (string, error) {
	switch {
	case strings.Contains(value, "${"):
		return "", tools.Refuse(tools.PolicyDenied, "%s: a value with ${…} can only be written by the owner, in config.yaml", name)
	case len(value) > maxValueBytes:
		return "", tools.Refuse(tools.Validation, "%s: the value is longer than %d bytes", name, maxValueBytes)
	}
	written, err := yamlValue(value, leaf)
	if err != nil {
		return "", tools.Refuse(tools.Validation, "%s %v, got %.80q", name, err, value)
	}
	return written, nil
}

// edit writes the changed file, if the change is what was asked for and no more.
// written is how the value stands in the file, value what comes of it.
func (t *Tool) edit(path []string, written, value string) error {
	return change(t.live.Source, "config.yaml", func(before []byte) ([]byte, error) {
		after, err := yamledit.Set(before, path, written)
		if err != nil {
			return nil, errValueByHand
		}
		next, err := proveChange(t.live.Source, before, after)
		if err != nil {
			return nil, err
		}
		return after, inForce(next, path, value)
	})
}

// inForce refuses a change that would not count, because the environment says
// otherwise.
func inForce(next *config.Loaded, path []string, value string) error {
	all := keys.Flatten(next.Config, self.Mask)
	i := slices.IndexFunc(all, func(s keys.Setting) bool { return slices.Equal(s.Path, path) })
	if i >= 0 && all[i].Value == value {
		return nil
	}
	name := strings.Join(path, ".")
	if where := next.Given(name); strings.HasPrefix(where, "$") {
		return tools.Refuse(tools.Execution, "%s comes from %s in the environment, which wins over config.yaml", name, where)
	}
	return errValueByHand
}

func canonical(value string, leaf *keys.Key) string {
	v, err := leaf.PlainValue(value)
	if err != nil {
		return value
	}
	return fmt.Sprint(v)
}

// errValueByHand means that a value is written in a way that the editor leaves
// alone.
var errValueByHand = errors.New("config.yaml is written in a way that cannot be edited safely here; the owner changes it by hand")

var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./+-]*$`)

// yamlWords are texts that mean something else when they stand without quotes.
var yamlWords = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|y|n|null)$`)

// yamlValue is a value as it is written in the file. The error says what the
// key takes.
func yamlValue(value string, leaf *keys.Key) (string, error) {
	if leaf.IsText() && plainText.MatchString(value) && !yamlWords.MatchString(value) {
		return value, nil
	}
	v, err := leaf.PlainValue(value)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(v)
	return string(b), err
}

// settableKeys are what the config tool may change; * stands for everything
// below. All the rest is the owner's.
var settableKeys = []string{
	"agent.language", "agent.timezone", "agent.debounceMs",
	"models.default", "models.small",
	"memory.search.*", "memory.autoRecall.*", "context.*", "heartbeat.*",
	"log.level",
}

func settable(path []string) bool {
	return slices.ContainsFunc(settableKeys, func(k string) bool {
		names := strings.Split(k, ".")
		if last := len(names) - 1; names[last] == "*" {
			return len(path) > last && slices.Equal(names[:last], path[:last])
		}
		return slices.Equal(names, path)
	})
}

// errOwners is the refusal of a change of anything else.
func errOwners(key string) error {
	return tools.Refuse(tools.PolicyDenied, "%.80s can only be changed by the owner, in config.yaml; this tool changes %s",
		key, strings.Join(settableKeys, ", "))
}

// proveChange reads a changed text of config.yaml back and refuses it unless it
// is valid and differs from the text before in nothing but settable values. It
// looks at what the texts mean, not at what was asked for.
func proveChange(s config.Source, before, after []byte) (*config.Loaded, error) {
	s.Redact = &redact.Set{}
	was, err := s.Parse(before)
	if err != nil {
		return nil, tools.Refuse(tools.Execution, "config.yaml has faults already; the owner has to fix them first")
	}
	is, err := s.Parse(after)
	if err != nil {
		return nil, tools.Refuse(tools.Validation, "%s", inWords(err))
	}
	paths, err := keys.Changes(was.Config, is.Config, before, after)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if !settable(path) {
			return nil, errOwners(strings.Join(path, "."))
		}
	}
	return is, nil
}

// inWords are the faults of a configuration without their lines.
func inWords(err error) string {
	var faults keys.Faults
	if !errors.As(err, &faults) {
		return err.Error()
	}
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = strings.TrimSpace(f.Key + " " + f.Text)
	}
	return strings.Join(texts, "; ")
}
