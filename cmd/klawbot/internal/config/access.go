package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
