package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"klawbot/tools/injection"
)

// The limits for skills.
const (
	maxSkills = 200
	maxSkill  = 1 << 20 // bytes
)

// skillFile makes a directory a skill.
const skillFile = "SKILL.md"

// shelf is an open directory of skills: root, where links may not leave it, or built
// into the program. The zero value is an empty one.
type shelf struct {
	source  Source
	root    *os.Root
	builtIn fs.FS
	base    string
}

func (s shelf) close() {
	if s.root != nil {
		_ = s.root.Close() // it was only read
	}
}

func (s shelf) file(folder string) (fs.File, error) {
	name := path.Join(s.base, folder, skillFile)
	if s.root == nil {
		return s.builtIn.Open(name)
	}
	return s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// folders are the names of directories that may be skills, sorted.
func (s shelf) folders() (names []string) {
	files := s.builtIn
	if s.root != nil {
		files = s.root.FS()
	}
	if files == nil {
		return nil
	}
	entries, err := fs.ReadDir(files, s.base)
	if err != nil {
		return nil // missing or unreadable
	}
	for _, e := range entries {
		folder := e.IsDir() || e.Type()&fs.ModeSymlink != 0
		if folder && !strings.HasPrefix(e.Name(), ".") && len(names) < maxSkills {
			names = append(names, e.Name())
		}
	}
	return names
}

// parse reads the frontmatter of a skill, unless its file is unchanged.
func (s shelf) parse(folder string, known parsed) parsed {
	if s.source == SourceBuiltIn && known.skill.Folder != "" {
		return known
	}
	f, info, err := s.open(folder)
	if err != nil {
		return parsed{skill: Skill{Source: s.source, Folder: folder, Fault: fault(err)}}
	}
	defer f.Close()
	if known.skill.Folder != "" && known.changed.Equal(info.ModTime()) && known.size == info.Size() {
		return known
	}
	p := parsed{changed: info.ModTime(), size: info.Size(), skill: Skill{Source: s.source, Folder: folder}}
	text, err := s.screened(f)
	if err == nil {
		p.skill.Name, p.skill.Description, err = frontmatter(text)
	}
	switch {
	case err != nil:
		p.skill.Name, p.skill.Fault, p.skill.Refused = "", fault(err), errors.Is(err, errRefused)
	case p.skill.Name != folder:
		p.skill.Fault = fmt.Sprintf("is called %q but its directory %q; give both the same name", p.skill.Name, folder)
	}
	return p
}

// read returns the whole SKILL.md.
func (s shelf) read(folder string) (string, error) {
	f, info, err := s.open(folder)
	if err != nil {
		return "", errors.New(fault(err))
	}
	defer f.Close()
	if info.Size() > maxSkill {
		return "", fmt.Errorf("%s is larger than %d KiB", skillFile, maxSkill>>10)
	}
	return s.screened(f)
}

var errRefused = errors.New("looks like an injection")

// screened reads a SKILL.md. A model follows it, so one that looks like an injection is
// not used. Built-in skills are ours.
func (s shelf) screened(r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSkill))
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	if err != nil || s.source == SourceBuiltIn {
		return text, err
	}
	if v := injection.Text(text); v.Level == injection.Block {
		return "", fmt.Errorf("%w (%s)", errRefused, strings.Join(v.Rules(), ", "))
	}
	return text, nil
}

// open opens a SKILL.md that is a regular file: a pipe would block. A file in the
// workspace with a second name is refused, because the other name may be outside.
func (s shelf) open(folder string) (fs.File, fs.FileInfo, error) {
	f, err := s.file(folder)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", skillFile)
	}
	if err == nil && s.source == SourceWorkspace && linked(info) {
		err = fmt.Errorf("%s has a second name (hard link)", skillFile)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func linked(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}

// fault is a short text for an error about a SKILL.md.
func fault(err error) string {
	var inner *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "has no " + skillFile
	case errors.As(err, &inner):
		return skillFile + ": " + inner.Err.Error()
	}
	return err.Error()
}
