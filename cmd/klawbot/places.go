package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// display is the shortest name of the file for people: relative when it is
// below the current folder.
func display(name string) string {
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, name); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return name
}

// findConfig is the path of config.yaml: the flag, $KLAWBOT_CONFIG, or the first
// usual place that has one; empty when there is none.
func findConfig(flag string, getenv func(string) string) (string, error) {
	for _, named := range []string{flag, getenv("KLAWBOT_CONFIG")} {
		if named == "" {
			continue
		}
		switch _, err := os.Stat(named); {
		case errors.Is(err, fs.ErrPermission):
			return "", Faults{{Text: fmt.Sprintf("configuration: %v", readable(named, err))}}
		case err != nil:
			return "", Faults{{Text: fmt.Sprintf("configuration %s: %v; klawbot init writes one", named, plain(err))}}
		}
		return filepath.Abs(named)
	}
	for _, place := range configPlaces(getenv) {
		// What is there and is no file is told when it is read: a container
		// makes a folder of a file that is missing.
		if _, err := os.Stat(place); err == nil {
			return filepath.Abs(place)
		}
	}
	return "", nil
}

func configPlaces(getenv func(string) string) []string {
	var places []string
	if home := getenv("KLAWBOT_HOME"); home != "" {
		places = append(places, filepath.Join(home, "config.yaml"))
	}
	if dir := userDir(getenv, "XDG_CONFIG_HOME", ".config"); dir != "" {
		places = append(places, filepath.Join(dir, "klawbot", "config.yaml"))
	}
	return append(places, "config.yaml")
}

// findData is the absolute path of the data folder: the flag, dataDir, or the
// usual places.
func findData(flag string, c *Config, getenv func(string) string) (string, error) {
	for _, dir := range []string{flag, c.DataDir, getenv("KLAWBOT_HOME")} {
		if dir != "" {
			return filepath.Abs(expandHome(dir, getenv))
		}
	}
	if dir := userDir(getenv, "XDG_DATA_HOME", filepath.Join(".local", "share")); dir != "" {
		return filepath.Abs(filepath.Join(dir, "klawbot"))
	}
	return "", Faults{{Text: "no data folder: set --data, dataDir or $KLAWBOT_HOME"}}
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

// plain is the reason of a file error without its path.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
