package config

import (
	"errors"
	"time"

	"klawbot/tools/exec"
	"klawbot/tools/exec/command"
)

// harmless is the entry of tools.exec.allow that stands for the built-in list.
const harmless = "harmless"

// commandPatterns are patterns of commands, or the name of the built-in list.
func commandPatterns(v any) error {
	var faults []error
	for _, text := range v.([]string) {
		if _, err := command.NewPattern(text); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// ShellSettings is what the tool shell may run. The patterns have been checked.
func (c *Config) ShellSettings() exec.ShellSettings {
	e := c.Tools.Exec
	s := exec.ShellSettings{Mode: exec.Mode(e.Mode), Timeout: time.Duration(e.TimeoutSeconds) * time.Second}
	for _, text := range e.Allow {
		if text == harmless {
			s.Harmless = true
		} else if p, err := command.NewPattern(text); err == nil {
			s.Allow = append(s.Allow, p)
		}
	}
	return s
}
