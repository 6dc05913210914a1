package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

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
func proveChange(s source, before, after []byte) (*loaded, error) {
	s.Redact = &redact.Set{}
	was, err := s.parse(before)
	if err != nil {
		return nil, self.Refuse(tools.Execution, "config.yaml has faults already; the owner mends them first")
	}
	is, err := s.parse(after)
	if err != nil {
		return nil, self.Refuse(tools.Validation, "%s", inWords(err))
	}
	values, err := rawValues(before)
	if err != nil {
		return nil, err
	}
	next, err := rawValues(after)
	if err != nil {
		return nil, err
	}
	paths := changed(&was.Config, &is.Config)
	for at := range unequal(values, next) {
		paths = append(paths, strings.Split(at, pathMark))
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
	var faults Faults
	if !errors.As(err, &faults) {
		return err.Error()
	}
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = strings.TrimSpace(f.Key + " " + f.Text)
	}
	return strings.Join(texts, "; ")
}

// rawValues are all plain values and lists of a file, also those of keys that
// this version does not know, by path.
func rawValues(text []byte) (map[string]string, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read config.yaml: %w", err)
	}
	values := map[string]string{}
	for _, n := range doc.Content {
		addRaw(values, n, nil)
	}
	return values, nil
}

// addRaw writes down what stands at and below a node. An empty section and a
// value that is null are nothing. The text has been read as a configuration
// before, so it is neither deep nor large.
func addRaw(values map[string]string, n *yaml.Node, path []string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			addRaw(values, n.Content[i+1], append(slices.Clone(path), n.Content[i].Value))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			addRaw(values, item, append(slices.Clone(path), fmt.Sprint(i)))
		}
		values[pathKey(path)] += fmt.Sprintf("list of %d;", len(n.Content))
	default:
		if n.Tag != "!!null" {
			values[pathKey(path)] += n.Tag + " " + n.Value + ";"
		}
	}
}

// unequal are the keys whose values are not the same in both maps.
func unequal(a, b map[string]string) map[string]bool {
	all := map[string]bool{}
	for k, v := range a {
		if b[k] != v {
			all[k] = true
		}
	}
	for k, v := range b {
		if a[k] != v {
			all[k] = true
		}
	}
	return all
}
