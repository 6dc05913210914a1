package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// RefusedSuffix ends the name of the file that keeps what a command wrote into a
// read-only file of the workspace, where no mount could keep it from writing.
const RefusedSuffix = ".refused"

// maxReadOnly bounds a file that is kept to be put back, in bytes.
const maxReadOnly = 1 << 20

// keptFile is a file as it was before a command.
type keptFile struct {
	name string
	text []byte
	mode fs.FileMode // 0: there was none
}

// readOnly sees to it that a command does not change files of the workspace: by
// mounts that cannot be written to where the sandbox has mounts and there is a
// file, else by putting back what was there. It returns the latter.
func (s *Sandbox) readOnly(r *request, names []string) (kept []keptFile, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	kept, err = remember(s.config.Workspace, names)
	if err != nil || s.backend.place(s.workspace()) == s.config.Workspace {
		return kept, err
	}
	return slices.DeleteFunc(kept, func(k keptFile) bool {
		if k.mode != 0 {
			r.binds = append(r.binds, Bind{Host: filepath.Join(s.config.Workspace, k.name), Inside: filepath.Join(insideWorkspace, k.name)})
		}
		return k.mode != 0
	}), nil
}

// Keep remembers files of a workspace, for commands that run outside a sandbox.
// putBack makes them what they were and returns the names of those that were
// not, as Outcome.PutBack has them.
func Keep(workspace string, names []string) (putBack func() []string, err error) {
	kept, err := remember(workspace, names)
	return func() []string { return restore(workspace, kept) }, err
}

// remember reads files of a workspace.
func remember(workspace string, names []string) (kept []keptFile, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, name := range names {
		info, err := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			kept = append(kept, keptFile{name: name})
			continue
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular(), info.Size() > maxReadOnly:
			return nil, fmt.Errorf("%s is no file that can be kept as it is", name)
		}
		text, err := root.ReadFile(name)
		if err != nil {
			return nil, err
		}
		kept = append(kept, keptFile{name, text, info.Mode().Perm()})
	}
	return kept, nil
}

// restore makes the files what they were, and returns the names of those that
// were not. What stood there is kept beside them: a person may have written it
// meanwhile.
func restore(workspace string, kept []keptFile) (changed []string) {
	if len(kept) == 0 {
		return nil
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil // there is no workspace any more
	}
	defer root.Close()
	for _, k := range kept {
		if k.same(root) {
			continue
		}
		changed = append(changed, k.name)
		_ = root.RemoveAll(k.name + RefusedSuffix) // what it hides is gone then, too
		if err := root.Rename(k.name, k.name+RefusedSuffix); err != nil {
			_ = root.RemoveAll(k.name) // it was a folder that cannot be moved, or nothing
		}
		if k.mode != 0 {
			_ = root.WriteFile(k.name, k.text, k.mode) // the result names the file in any case
		}
	}
	return changed
}

// same reports whether the file is what it was.
func (k keptFile) same(root *os.Root) bool {
	info, err := root.Lstat(k.name)
	if err != nil || k.mode == 0 {
		return k.mode == 0 && errors.Is(err, fs.ErrNotExist)
	}
	if !info.Mode().IsRegular() {
		return false
	}
	f, err := root.Open(k.name)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxReadOnly+1))
	return err == nil && bytes.Equal(text, k.text)
}
