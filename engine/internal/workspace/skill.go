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

// ErrNoWorkspace means that the folder of the workspace cannot be opened.
var ErrNoWorkspace = errors.New("no workspace set")

// Source says where a skill was found.
type Source string

// The sources of skills. A skill hides those of its name in later sources.
const (
	SourceWorkspace Source = "workspace"
	SourceData      Source = "data"
	SourceBuiltIn   Source = "built-in"
)

// Skill is a folder with instructions for one kind of task.
type Skill struct {
	// Name and Description are from the frontmatter of its SKILL.md, on one
	// line each.
	Name, Description string
	Source            Source
	// Folder is the name of its folder.
	Folder string
	// Fault says what is wrong with it. A skill without a Name cannot be used.
	Fault string
	// Refused says that the fault is what looks like an injection.
	Refused bool
}

// Skills finds skills in the workspace, in the data folder and in the program.
// It looks again each time it is asked, so that a change works at once. It may
// be used from several goroutines.
type Skills struct {
	workspace, data string
	builtIn         fs.FS
	log             *slog.Logger

	mu    sync.Mutex
	known map[place]parsed // guarded by mu; as of the last look
}

// place is a folder of a skill.
type place struct {
	source Source
	folder string
}

// parsed is a SKILL.md whose frontmatter was read.
type parsed struct {
	changed time.Time
	size    int64
	skill   Skill
}

// NewSkills returns the skills of a workspace and a data folder, both of which
// may be missing, and of the program; nil is none.
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
	return sorted(slices.Collect(maps.Values(usable))), nil
}

// Check returns every folder of a skill, hidden and faulty ones too, by source
// and folder.
func (s *Skills) Check() ([]Skill, error) {
	all, err := s.look()
	for i, k := range all {
		same := func(other Skill) bool { return other.Name == k.Name && k.Name != "" }
		if first := slices.IndexFunc(all, same); first >= 0 && first < i && all[first].Source == k.Source {
			all[i].Fault = cmp.Or(k.Fault, "has the name of the skill in the folder "+all[first].Folder)
		}
	}
	return all, err
}

// Load returns the whole SKILL.md of a skill; found is false when there is none
// of the name.
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

// open opens the folder of a source. One that is not there is empty, but for
// the workspace.
func (s *Skills) open(source Source) (shelf, error) {
	if source == SourceBuiltIn {
		return embedded(s.builtIn), nil
	}
	dir := s.workspace
	if source == SourceData {
		dir = filepath.Join(s.data, "skills")
	}
	root, err := os.OpenRoot(dir)
	switch {
	case err == nil && source == SourceWorkspace:
		return onDisk(source, root, "skills"), nil
	case err == nil:
		return onDisk(source, root, "."), nil
	case source == SourceWorkspace:
		return shelf{}, ErrNoWorkspace
	}
	return shelf{source: source, close: func() {}}, nil
}

func sorted(list []Skill) []Skill {
	slices.SortFunc(list, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
