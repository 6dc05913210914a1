package configedit

import (
	"errors"
	"slices"
	"strings"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/self"
)

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
	return self.Refuse(tools.PolicyDenied, "%.80s can only be changed by the owner, in config.yaml; this tool changes %s",
		key, strings.Join(settableKeys, ", "))
}

// proveChange reads a changed text of config.yaml back and refuses it unless it
// is valid and differs from the text before in nothing but settable values. It
// looks at what the texts mean, not at what was asked for.
func proveChange(s config.Source, before, after []byte) (*config.Loaded, error) {
	s.Redact = &redact.Set{}
	was, err := s.Parse(before)
	if err != nil {
		return nil, self.Refuse(tools.Execution, "config.yaml has faults already; the owner mends them first")
	}
	is, err := s.Parse(after)
	if err != nil {
		return nil, self.Refuse(tools.Validation, "%s", inWords(err))
	}
	paths, err := config.Changes(was, is, before, after)
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

// inWords are the faults of a configuration without their places.
func inWords(err error) string {
	var faults config.Faults
	if !errors.As(err, &faults) {
		return err.Error()
	}
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = strings.TrimSpace(f.Key + " " + f.Text)
	}
	return strings.Join(texts, "; ")
}
