package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/cmd/klawbot/internal/usage"
)

// Display is the shortest name of the file for people: relative when it is
// below the current folder.
func Display(name string) string {
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, name); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return name
}

// Find is the path of config.yaml: the flag, $KLAWBOT_CONFIG, or the first
// usual path that has one; empty when there is none.
func Find(flag string, getenv func(string) string) (string, error) {
	for _, named := range []string{flag, getenv("KLAWBOT_CONFIG")} {
		if named == "" {
			continue
		}
		switch _, err := os.Stat(named); {
		case errors.Is(err, fs.ErrPermission):
			return "", keys.Faults{{Text: fmt.Sprintf("configuration: %v", readable(named, err))}}
		case err != nil:
			return "", keys.Faults{{Text: fmt.Sprintf("configuration %s: %v; klawbot init writes one", named, Reason(err))}}
		}
		return filepath.Abs(named)
	}
	for _, name := range Paths(getenv) {
		// A folder in place of the file is reported when it is read: containers
		// make one for a missing file.
		if _, err := os.Stat(name); err == nil {
			return filepath.Abs(name)
		}
	}
	return "", nil
}

// Paths are where config.yaml is looked for, the first of them first.
func Paths(getenv func(string) string) []string {
	var paths []string
	if home := getenv("KLAWBOT_HOME"); home != "" {
		paths = append(paths, filepath.Join(home, "config.yaml"))
	}
	if dir := userDir(getenv, "XDG_CONFIG_HOME", ".config"); dir != "" {
		paths = append(paths, filepath.Join(dir, "klawbot", "config.yaml"))
	}
	return append(paths, "config.yaml")
}

// Folders are those of a bot.
type Folders struct {
	Data, Workspace string
}

// FindFolders finds the folders of a bot: the flag, the configuration, or the usual
// paths.
func FindFolders(flag, configFile string, c *Config, getenv func(string) string) (f Folders, err error) {
	if f.Data, err = findData(flag, c, getenv); err != nil {
		return Folders{}, err
	}
	if f.Workspace, err = filepath.Abs(expandHome(c.Agent.Workspace, getenv)); err != nil {
		return Folders{}, err
	}
	if c.Agent.Workspace == "" {
		f.Workspace = filepath.Join(f.Data, "workspace")
	}
	return f, f.apart(configFile)
}

// findData is the absolute path of the data directory: the flag, dataDir, or the
// usual paths.
func findData(flag string, c *Config, getenv func(string) string) (string, error) {
	for _, dir := range []string{flag, c.DataDir, getenv("KLAWBOT_HOME")} {
		if dir != "" {
			return filepath.Abs(expandHome(dir, getenv))
		}
	}
	if dir := userDir(getenv, "XDG_DATA_HOME", filepath.Join(".local", "share")); dir != "" {
		return filepath.Abs(filepath.Join(dir, "klawbot"))
	}
	return "", keys.Faults{{Text: "no data directory: set --data, dataDir or $KLAWBOT_HOME"}}
}

// apart refuses a workspace that holds the configuration or the data directory: the
// tools of files could change there who is let in and what programs are started.
func (f Folders) apart(config string) error {
	for _, kept := range []struct{ what, path string }{{"data directory", f.Data}, {"configuration", config}} {
		rel, err := filepath.Rel(linkless(f.Workspace), linkless(kept.path))
		if err == nil && filepath.IsLocal(rel) {
			return usage.Errorf("agent.workspace: %s holds the %s %s, which the bot's tools could change then; choose another directory", f.Workspace, kept.what, kept.path)
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

func userDir(getenv func(string) string, xdg, usual string) string {
	if dir := getenv(xdg); dir != "" {
		return dir
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, usual)
	}
	return ""
}

func expandHome(dir string, getenv func(string) string) string {
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		return filepath.Join(getenv("HOME"), rest)
	}
	return dir
}

// Reason is the reason of a file error without its path.
func Reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
