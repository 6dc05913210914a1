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

// Bounds of what is read of skills.
const (
	maxSkills = 200
	maxSkill  = 1 << 20
)

// skillFile is the file that makes a folder a skill.
const skillFile = "SKILL.md"

// shelf is a folder of skills that is open. The zero value but for close is an
// empty one.
type shelf struct {
	source Source
	list   func() ([]fs.DirEntry, error)
	file   func(folder string) (fs.File, error)
	close  func()
}

// onDisk is the folder base below root. Links may not leave root.
func onDisk(source Source, root *os.Root, base string) shelf {
	return shelf{
		source: source,
		list:   func() ([]fs.DirEntry, error) { return fs.ReadDir(root.FS(), base) },
		file: func(folder string) (fs.File, error) {
			return root.OpenFile(path.Join(base, folder, skillFile), os.O_RDONLY|syscall.O_NONBLOCK, 0)
		},
		close: func() { _ = root.Close() }, // it was only read
	}
}

// embedded is a file system whose folders are skills; nil is an empty one.
func embedded(fsys fs.FS) shelf {
	s := shelf{source: SourceBuiltIn, close: func() {}}
	if fsys != nil {
		s.list = func() ([]fs.DirEntry, error) { return fs.ReadDir(fsys, ".") }
		s.file = func(folder string) (fs.File, error) { return fsys.Open(path.Join(folder, skillFile)) }
	}
	return s
}

// folders are the names of what may be skills, sorted.
func (s shelf) folders() []string {
	if s.list == nil {
		return nil
	}
	entries, err := s.list()
	if err != nil {
		return nil // no folder, or none that may be read
	}
	var names []string
	for _, e := range entries {
		folder := e.IsDir() || e.Type()&fs.ModeSymlink != 0
		if folder && !strings.HasPrefix(e.Name(), ".") && len(names) < maxSkills {
			names = append(names, e.Name())
		}
	}
	return names
}

// parse reads the frontmatter of a skill, unless its file is as it was known.
func (s shelf) parse(folder string, known parsed) parsed {
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
		p.skill.Fault = fmt.Sprintf("is called %q but its folder %q; give both the same name", p.skill.Name, folder)
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

// screened reads a SKILL.md. A model follows it, so that one which looks like an
// injection is not used; what is in the program is ours.
func (s shelf) screened(r io.Reader) (string, error) {
	text, err := readText(r, maxSkill)
	if err != nil || s.source == SourceBuiltIn {
		return text, err
	}
	if v := injection.Text(text); v.Level == injection.Block {
		return "", fmt.Errorf("%w (%s)", errRefused, strings.Join(v.Rules(), ", "))
	}
	return text, nil
}

// open opens the SKILL.md, if it is a file of its own: a pipe must not hold the
// bot up, and a second name of a file in the workspace may lie outside.
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

func readText(r io.Reader, limit int) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(limit)))
	return strings.ToValidUTF8(string(data), "\uFFFD"), err
}

// fault is an error about a SKILL.md in few words.
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
