// Package host holds what the tools share that run programs on the host, outside any
// sandbox: where they find programs, what these read of the system, and how they keep
// the commands in the sandbox out of the way.
package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"klawbot/tools/sandbox"
)

// Files of the system about users, and folders of programs that do not belong to it.
var (
	UserFiles = []string{"/etc/passwd", "/etc/group"}
	Software  = []string{"/opt"}
)

// patience is how long what runs outside the sandbox waits for the commands in
// it to end.
const patience = 10 * time.Second

// Alone waits until no command runs in the sandbox, and lets none start until open is
// called. Such a command could change files of the workspace between their check and
// their use outside the sandbox.
func Alone(ctx context.Context, gate *sandbox.Gate) (open func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	open, err = gate.Close(ctx)
	if err != nil {
		return nil, errors.New("a command runs in the sandbox and could change the files; wait for its end, or end it with shell_manage")
	}
	return open, nil
}

// Folders are the folders that programs are looked for in: those of the bot's own
// PATH, without any that commands can write into.
func Folders(workspace string) []string {
	inside := []string{filepath.Clean(workspace)}
	if real, err := RealPath(workspace); err == nil {
		inside = append(inside, real)
	}
	var folders []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		real, err := filepath.EvalSymlinks(dir)
		if !filepath.IsAbs(dir) || err != nil || worldWritable(real) {
			continue
		}
		if slices.ContainsFunc(inside, func(w string) bool { return real == w || strings.HasPrefix(real, w+"/") }) {
			continue
		}
		folders = append(folders, dir)
	}
	if len(folders) == 0 {
		return []string{"/usr/local/bin", "/usr/bin", "/bin"}
	}
	return folders
}

// worldWritable reports whether anybody may put files into a folder.
func worldWritable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode()&fs.FileMode(0o002) != 0
}

// RealPath is a path, absolute and without links.
func RealPath(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Find is the path of a program. A name with a slash is meant as written, or from dir.
func Find(name, dir string, folders []string) (string, error) {
	if strings.Contains(name, "/") {
		full := name
		if !filepath.IsAbs(full) {
			full = filepath.Join(dir, name)
		}
		return full, executable(full)
	}
	for _, in := range folders {
		full := filepath.Join(in, name)
		if executable(full) == nil {
			return full, nil
		}
	}
	return name, errMissing
}

// fault is what a shell says of a program that it cannot start.
type fault string

func (f fault) Error() string { return string(f) }

const (
	errMissing = fault("command not found")
	errNoRight = fault("permission denied")
)

// executable says why a file cannot be run.
func executable(name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return errMissing
	case info.IsDir(), info.Mode()&0o111 == 0:
		return errNoRight
	}
	return nil
}
