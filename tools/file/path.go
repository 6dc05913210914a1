package file

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"klawbot/tools"
)

// The limits of a path.
const (
	maxPath  = 4096
	maxDepth = 100
	maxLinks = 40
)

// clean turns what the model wrote into a path below the workspace, with slashes. An
// absolute path must begin with a name of the workspace. Links are not resolved yet.
func clean(workspace []string, written string) (string, error) {
	if strings.ContainsRune(written, 0) {
		return "", tools.Refuse(tools.Validation, "path contains a NUL character")
	}
	if len(written) > maxPath || strings.Count(written, "/") > maxDepth {
		return "", tools.Refuse(tools.Validation, "path is too long")
	}
	name := written
	for _, dir := range workspace {
		rest, inside := strings.CutPrefix(written+"/", strings.TrimSuffix(dir, "/")+"/")
		if inside && dir != "" {
			name = strings.TrimLeft(rest, "/")
			break
		}
	}
	name = filepath.Clean(name)
	if !filepath.IsLocal(name) {
		return "", errOutside
	}
	return filepath.ToSlash(name), nil
}

// names are the absolute paths of the workspace.
func names(dir string) (all []string) {
	abs, err := filepath.Abs(dir)
	if dir == "" || err != nil {
		return nil
	}
	all = append(all, abs)
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		all = append(all, real)
	}
	return all
}

// resolve follows the links in name and returns the path without them. No link may leave
// the root, not even to come back. A missing part stays as it is.
func resolve(root *os.Root, name string) (string, error) {
	var done []string
	links := 0
	for todo := strings.Split(name, "/"); len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return "", errOutside
			}
			done = done[:len(done)-1]
			continue
		}
		here := path.Join(path.Join(done...), part)
		target, err := link(root, here)
		if err != nil {
			return "", err
		}
		if target == "" {
			done = append(done, part)
			continue
		}
		if links++; links > maxLinks || len(todo) > maxDepth {
			return "", tools.Refuse(tools.Security, "Access denied: too many links")
		}
		if filepath.IsAbs(target) {
			return "", errOutside
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return path.Join(append([]string{"."}, done...)...), nil
}

// link returns the target of a link, or "" for anything else.
func link(root *os.Root, name string) (string, error) {
	info, err := root.Lstat(name)
	switch {
	case isMissing(err):
		return "", nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink == 0:
		return "", nil
	}
	return root.Readlink(name)
}
