package file

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"klawbot/tools"
	"klawbot/tools/budget"
)

type searchArgs struct {
	Pattern     string `json:"pattern"`
	Type        string `json:"type,omitempty" enum:"glob,grep" default:"glob"`
	Path        string `json:"path,omitempty" default:"."`
	FilePattern string `json:"file_pattern,omitempty"`
}

// Bounds of a search: what people and models can read, and what a pattern,
// which is foreign text, may cost.
const (
	searchTimeout = 30 * time.Second
	maxPattern    = 1000
	maxHits       = 200
	maxVisited    = 200_000
)

func (f *files) search(ctx context.Context, _ tools.Call, a searchArgs) tools.Result {
	s, err := f.newSearch(a)
	if err != nil {
		return failed(err, "directory", a.Path)
	}
	p, err := f.locate(a.Path)
	if err != nil {
		return failed(err, "directory", a.Path)
	}
	defer p.root.Close()
	if err := s.run(ctx, p); err != nil {
		return failed(err, "directory", a.Path)
	}
	return tools.OK(s.report(a.Pattern))
}

// search is one search on its way.
type search struct {
	files *files
	// names matches the paths of the files that are looked at, from the folder
	// of the search; nil matches all. Without a slash in the pattern it
	// matches the last part of the path: baseOnly.
	names    *matcher
	baseOnly bool
	// text matches lines; nil for a search by names.
	text *matcher

	hits    []string
	visited int
	// notes say why the search may have missed something.
	notes []string
}

func (f *files) newSearch(a searchArgs) (*search, error) {
	s := &search{files: f}
	if a.Pattern == "" {
		return nil, tools.Refuse(tools.Validation, "pattern is empty")
	}
	if max(len(a.Pattern), len(a.FilePattern)) > maxPattern {
		return nil, tools.Refuse(tools.Validation, "the pattern is longer than %d characters", maxPattern)
	}
	names := a.FilePattern
	if a.Type == "grep" {
		expression, err := budget.Compile(a.Pattern)
		if err != nil {
			return nil, invalid("regex", err)
		}
		s.text, s.baseOnly = newMatcher(expression), !strings.Contains(names, "/")
	} else {
		names = f.relative(a.Pattern)
	}
	if names == "" {
		return s, nil
	}
	if slices.Contains(strings.Split(names, "/"), "..") || strings.HasPrefix(names, "/") {
		return nil, errOutside
	}
	expression, err := glob(strings.TrimPrefix(names, "./"))
	if err != nil {
		return nil, invalid("glob", err)
	}
	s.names = newMatcher(expression)
	return s, nil
}

// relative takes the workspace's own path off the beginning of a pattern.
func (f *files) relative(pattern string) string {
	for _, dir := range names(f.config.Workspace) {
		if rest, ok := strings.CutPrefix(pattern, dir+"/"); ok {
			return rest
		}
	}
	return pattern
}

func invalid(what string, err error) error {
	text := err.Error()
	if e, ok := err.(*syntax.Error); ok {
		text = fmt.Sprintf("%s: `%s`", e.Code, quote(e.Expr))
	}
	return tools.Refuse(tools.Validation, "Invalid %s: %s", what, text)
}

// run searches a folder, or a single file.
func (s *search) run(ctx context.Context, p place) error {
	info, err := p.root.Lstat(p.name)
	if err != nil {
		return err
	}
	if s.text != nil {
		return s.grep(ctx, p, info.IsDir())
	}
	return s.find(ctx, p)
}

// find gathers the files whose paths match.
func (s *search) find(ctx context.Context, p place) error {
	return s.walk(ctx, p, func(name string, e fs.DirEntry) error {
		hit := path.Join(p.shown, name)
		if e.Type()&fs.ModeSymlink != 0 {
			hit += " (link)"
		}
		s.hits = append(s.hits, hit)
		return s.enough()
	})
}

// walk visits what is no folder and matches the pattern of names.
func (s *search) walk(ctx context.Context, p place, visit visitor) error {
	return walkDir(ctx, p, func(name string, e fs.DirEntry) error {
		if s.visited++; s.visited > maxVisited {
			s.notes = append(s.notes, fmt.Sprintf("stopped after %d files and folders; search in a folder below", maxVisited))
			return fs.SkipAll
		}
		if s.spent() {
			return fs.SkipAll
		}
		if e.IsDir() || !s.named(name) {
			return nil
		}
		return visit(name, e)
	})
}

func (s *search) named(name string) bool {
	if s.baseOnly {
		name = path.Base(name)
	}
	if s.names == nil {
		return true
	}
	_, ok := s.names.find([]byte(name))
	return ok
}

// spent reports whether the search has compared long enough.
func (s *search) spent() bool { return s.text.spent() || s.names.spent() }

// enough ends the walk when there are more hits than are shown.
func (s *search) enough() error {
	if len(s.hits) > maxHits {
		return fs.SkipAll
	}
	return nil
}

// report is what the model reads.
func (s *search) report(pattern string) string {
	lines := s.hits
	if len(lines) > maxHits {
		lines = append(slices.Clone(lines[:maxHits]), fmt.Sprintf("... more than %d matches; narrow the pattern, path or file_pattern ...", maxHits))
	}
	if len(lines) == 0 {
		lines = []string{"No matches found for pattern: " + quote(pattern)}
	}
	if s.spent() {
		s.notes = append(s.notes, fmt.Sprintf("stopped after %s of comparing; use a simpler pattern, or narrow path or file_pattern", matchBudget))
	}
	for _, n := range s.notes {
		lines = append(lines, "... "+n+" ...")
	}
	return strings.Join(lines, "\n")
}
