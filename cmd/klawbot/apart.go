package main

import (
	"path/filepath"

	"klawbot/cmd/klawbot/internal/usage"
)

// apart refuses a workspace that holds the configuration or the data folder: the
// tools of files could change there who is let in and what programs are started.
func (f folders) apart(config string) error {
	for _, kept := range []struct{ what, path string }{{"data folder", f.data}, {"configuration", config}} {
		rel, err := filepath.Rel(linkless(f.workspace), linkless(kept.path))
		if err == nil && filepath.IsLocal(rel) {
			return usage.Errorf("agent.workspace: %s holds the %s %s, which the bot's tools could change then; choose another folder", f.workspace, kept.what, kept.path)
		}
	}
	return nil
}

// linkless is a path without links, as far as it is there.
func linkless(path string) string {
	path, err := filepath.Abs(path)
	if err != nil { // the current folder has gone; nothing can be opened there
		return path
	}
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(linkless(parent), filepath.Base(path))
}
