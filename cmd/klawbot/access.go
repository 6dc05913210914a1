package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// readable adds to the error of reading a file what is to be done, when it is
// the rights that are missing.
func readable(name string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if _, hidden := os.Stat(name); hidden != nil {
		return fmt.Errorf("%w; let user %d enter its folder", err, os.Geteuid())
	}
	return fmt.Errorf("%w; let user %d read it: chown %[2]d %[3]s", err, os.Geteuid(), name)
}

// owned adds the same to the error of opening a data folder, which only its
// owner may open.
func owned(data string, err error) error {
	var path *fs.PathError
	if !errors.Is(err, fs.ErrPermission) || !errors.As(err, &path) || !isWithin(data, path.Path) {
		return err
	}
	remedy := "chown -R"
	if _, missing := os.Stat(data); errors.Is(missing, fs.ErrNotExist) {
		remedy = "install -d -m 700 -o"
	}
	return fmt.Errorf("%w; the data folder must belong to user %d, who runs klawbot: %s %[2]d %[4]s", err, os.Geteuid(), remedy, data)
}

func isWithin(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
