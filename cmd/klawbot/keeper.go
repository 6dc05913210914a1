package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/tools"
	"klawbot/tools/self"
)

// maxValueBytes bounds a value that the config tool sets.
const maxValueBytes = 4 << 10

// keeper lends the configuration to the tools config and self_info.
type keeper struct {
	live *config.Live
	log  *slog.Logger
	// editing lets one change at a time through.
	editing sync.Mutex
}

var _ self.Configuration = (*keeper)(nil)

// Entries lists all settings as they are in use, secrets masked.
func (k *keeper) Entries() []self.Entry {
	all := config.Flatten(k.live.Config())
	entries := make([]self.Entry, len(all))
	for i, s := range all {
		entries[i] = self.Entry{Key: s.Key(), Value: s.Value, Settable: settable(s.Path)}
	}
	return entries
}

// Settable reports why a key may not be changed by the tool.
func (k *keeper) Settable(name string) error {
	_, err := leafNamed(name)
	return err
}

// leafNamed finds a key that may be set. Only the exact spelling will do.
func leafNamed(name string) (*config.Key, error) {
	leaf, later, near := config.Lookup(name)
	switch {
	case !settable(strings.Split(name, ".")) && (leaf != nil || later):
		return nil, errOwners(name)
	case later:
		return nil, self.Refuse(tools.Validation, "%.80s belongs to a part that comes with a later version", name)
	case leaf == nil:
		if near != "" {
			return nil, self.Refuse(tools.Validation, "unknown key '%.80s'; did you mean %s?", name, near)
		}
		return nil, self.Refuse(tools.Validation, "unknown key '%.80s'; the action list shows all keys", name)
	case leaf.Structured():
		return nil, self.Refuse(tools.Validation, "%.80s is not a plain value; set one of the keys below it", name)
	}
	return leaf, nil
}

// Append refuses: none of the keys that may be set is a list.
func (k *keeper) Append(name, _ string) error {
	if _, err := leafNamed(name); err != nil {
		return err
	}
	return self.Refuse(tools.Validation, "%s is not a list; use the action set", name)
}

// Set changes one value in config.yaml and applies it.
func (k *keeper) Set(name, value string) error {
	leaf, err := leafNamed(name)
	if err != nil {
		return err
	}
	written, err := writtenValue(name, value, leaf)
	if err != nil {
		return err
	}
	if k.live.Source.File == "" {
		return self.Refuse(tools.Execution, "there is no config.yaml to change; klawbot init writes one")
	}
	k.editing.Lock()
	defer k.editing.Unlock()
	if err := k.edit(strings.Split(name, "."), written, canonical(value, leaf)); err != nil {
		return err
	}
	k.live.Reload(k.log)
	return nil
}

// writtenValue is the value as it will stand in the file. References to the
// environment are the owner's: they would show what stands there.
func writtenValue(name, value string, leaf *config.Key) (string, error) {
	switch {
	case strings.Contains(value, "${"):
		return "", self.Refuse(tools.PolicyDenied, "%s: a value with ${…} can only be written by the owner, in config.yaml", name)
	case len(value) > maxValueBytes:
		return "", self.Refuse(tools.Validation, "%s: the value is longer than %d bytes", name, maxValueBytes)
	}
	written, err := yamlValue(value, leaf)
	if err != nil {
		return "", self.Refuse(tools.Validation, "%s %v, got %.80q", name, err, value)
	}
	return written, nil
}

// edit writes the changed file, if the change is what was asked for and no more.
// written is how the value stands in the file, value what comes of it.
func (k *keeper) edit(path []string, written, value string) (err error) {
	file := k.live.Source.File
	unlock, err := lockConfig(file)
	if err != nil {
		return fmt.Errorf("lock the configuration: %w", err)
	}
	defer func() {
		if e := unlock(); err == nil {
			err = e
		}
	}()
	before, err := k.live.Source.Read()
	if err != nil {
		return fmt.Errorf("read config.yaml: %w", err)
	}
	after, err := editValue(before, path, written)
	if err != nil {
		return err
	}
	next, err := proveChange(k.live.Source, before, after)
	if err != nil {
		return err
	}
	if err := inForce(next, path, value); err != nil {
		return err
	}
	if string(after) == string(before) {
		return nil
	}
	if err := replaceFile(file, before, after); err != nil {
		return fmt.Errorf("write config.yaml: %w", err)
	}
	return nil
}

// inForce refuses a change that would not count, because the environment says
// otherwise.
func inForce(next *config.Loaded, path []string, value string) error {
	all := config.Flatten(&next.Config)
	i := slices.IndexFunc(all, func(s config.Setting) bool { return slices.Equal(s.Path, path) })
	if i >= 0 && all[i].Value == value {
		return nil
	}
	name := strings.Join(path, ".")
	if where := next.Given(name); strings.HasPrefix(where, "$") {
		return self.Refuse(tools.Execution, "%s comes from %s in the environment, which wins over config.yaml", name, where)
	}
	return errValueByHand
}

// canonical is a valid value as flatten shows it.
func canonical(value string, leaf *config.Key) string {
	v, err := leaf.PlainValue(value)
	if err != nil {
		return value
	}
	return fmt.Sprint(v)
}

// paths are the files and folders of a bot.
func paths(f config.Folders, configFile string) []self.Entry {
	if configFile == "" {
		configFile = "none"
	}
	if abs, err := filepath.Abs(configFile); err == nil && configFile != "none" {
		configFile = abs
	}
	in := func(name string) string { return filepath.Join(f.Data, name) }
	entries := []self.Entry{
		{Key: "configuration", Value: configFile},
		{Key: "data folder", Value: f.Data},
		{Key: "workspace", Value: f.Workspace},
		{Key: "database", Value: in("klawbot.db")},
		{Key: "conversations", Value: in("conversations")},
		{Key: "skills of the data folder", Value: in("skills")},
		{Key: "backups", Value: in("backups")},
	}
	for i, e := range entries {
		if _, err := os.Stat(e.Value); err != nil && e.Value != "none" {
			entries[i].Value += " (not there)"
		}
	}
	return entries
}
