package workspace

import (
	"cmp"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// ErrNoWorkspace means that the workspace cannot be opened.
var ErrNoWorkspace = errors.New("no workspace set")

// Source says where a skill was found.
type Source string

// The sources of skills. A skill hides those with its name in later sources.
const (
	SourceWorkspace Source = "workspace"
	SourceData      Source = "data"
	SourceBuiltIn   Source = "built-in"
)

// Skill is a directory with instructions for one kind of task.
type Skill struct {
	// Name and Description are from the frontmatter of its SKILL.md, on one line each.
	Name, Description string
	Source            Source
	// Folder is the name of its directory.
	Folder string
	// Fault is its error. A skill without a Name cannot be used.
	Fault string
	// Refused is set when it looks like an injection.
	Refused bool
}

// Skills finds skills in the workspace, the data directory and the program. Each call
// looks again, so a change works at once. It is safe for several goroutines.
type Skills struct {
	workspace, data string
	builtIn         fs.FS
	log             *slog.Logger

	mu    sync.Mutex
	known map[place]parsed // guarded by mu; from the last look
}

// place is the directory of a skill.
type place struct {
	source Source
	folder string
}

// parsed is a SKILL.md that was read.
type parsed struct {
	changed time.Time
	size    int64
	skill   Skill
}

// NewSkills returns the skills of a workspace, of a data directory and of the program.
// Each of them may be missing.
func NewSkills(workspace, data string, builtIn fs.FS, log *slog.Logger) *Skills {
	return &Skills{workspace: workspace, data: data, builtIn: builtIn, log: log, known: map[place]parsed{}}
}

// List returns the skills that can be used, by name. Without a workspace the
// error is ErrNoWorkspace.
func (s *Skills) List() ([]Skill, error) {
	all, err := s.look()
	if err != nil {
		return nil, err
	}
	usable := map[string]Skill{}
	for _, k := range all {
		if _, hidden := usable[k.Name]; k.Name != "" && !hidden {
			usable[k.Name] = k
		}
	}
	return slices.SortedFunc(maps.Values(usable), func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) }), nil
}

// Check returns every skill, hidden and faulty ones too, by source and directory.
func (s *Skills) Check() ([]Skill, error) {
	all, err := s.look()
	for i, k := range all {
		same := func(other Skill) bool { return other.Name == k.Name && k.Name != "" }
		if first := slices.IndexFunc(all, same); first >= 0 && first < i && all[first].Source == k.Source {
			all[i].Fault = cmp.Or(k.Fault, "has the name of the skill in the directory "+all[first].Folder)
		}
	}
	return all, err
}

// Load returns the SKILL.md of a skill; found is false for an unknown name.
func (s *Skills) Load(name string) (text string, found bool, err error) {
	list, err := s.List()
	if err != nil {
		return "", false, err
	}
	i := slices.IndexFunc(list, func(k Skill) bool { return k.Name == name })
	if i < 0 {
		return "", false, nil
	}
	shelf, err := s.open(list[i].Source)
	if err != nil {
		return "", false, err
	}
	defer shelf.close()
	text, err = shelf.read(list[i].Folder)
	return text, err == nil, err
}

// look reads what has changed since the last look.
func (s *Skills) look() ([]Skill, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Skill
	now := map[place]parsed{}
	for _, source := range []Source{SourceWorkspace, SourceData, SourceBuiltIn} {
		shelf, err := s.open(source)
		if err != nil {
			return nil, err
		}
		for _, folder := range shelf.folders() {
			at := place{source, folder}
			p := shelf.parse(folder, s.known[at])
			if p.skill.Fault != "" && p.skill.Fault != s.known[at].skill.Fault {
				s.log.Warn("skill", "source", string(source), "folder", folder, "fault", p.skill.Fault)
			}
			now[at] = p
			all = append(all, p.skill)
		}
		shelf.close()
	}
	s.known = now
	return all, nil
}

// open opens the directory of a source. A missing one is empty, a missing workspace is
// an error.
func (s *Skills) open(source Source) (shelf, error) {
	at := shelf{source: source, base: "."}
	dir := filepath.Join(s.data, "skills")
	switch source {
	case SourceBuiltIn:
		at.builtIn = s.builtIn
		return at, nil
	case SourceWorkspace:
		dir, at.base = s.workspace, "skills"
	}
	root, err := os.OpenRoot(dir)
	if err != nil && source == SourceWorkspace {
		return at, ErrNoWorkspace
	}
	at.root = root
	return at, nil
}
