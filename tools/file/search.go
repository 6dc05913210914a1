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
	"klawbot/tools/file/match"
)

type searchArgs struct {
	Pattern     string `json:"pattern"`
	Type        string `json:"type,omitempty" enum:"glob,grep" default:"glob"`
	Path        string `json:"path,omitempty" default:"."`
	FilePattern string `json:"file_pattern,omitempty"`
}

// The limits of a search.
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

// search is one search.
type search struct {
	files *files
	// names matches paths from the directory of the search, with baseOnly only
	// their last part; nil matches all.
	names    *match.Matcher
	baseOnly bool
	// text matches lines; nil for a search by names.
	text *match.Matcher

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
	var err error
	if a.Type == "grep" {
		if s.text, err = match.Regex(a.Pattern); err != nil {
			return nil, invalid("regex", err)
		}
		s.baseOnly = !strings.Contains(names, "/")
	} else {
		names = f.relative(a.Pattern)
	}
	if names == "" {
		return s, nil
	}
	if slices.Contains(strings.Split(names, "/"), "..") || strings.HasPrefix(names, "/") {
		return nil, errOutside
	}
	if s.names, err = match.Glob(strings.TrimPrefix(names, "./")); err != nil {
		return nil, invalid("glob", err)
	}
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

// run searches a directory, or a single file.
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

// find collects the files whose paths match.
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

// walk visits the files whose names match.
func (s *search) walk(ctx context.Context, p place, visit visitor) error {
	return walkDir(ctx, p, func(name string, e fs.DirEntry) error {
		if s.visited++; s.visited > maxVisited {
			s.notes = append(s.notes, fmt.Sprintf("stopped after %d files and directories; search in a directory below", maxVisited))
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
	_, ok := s.names.Find([]byte(match.Form(name)))
	return ok
}

// spent reports whether the time for comparing is used up.
func (s *search) spent() bool { return s.text.Spent() || s.names.Spent() }

// enough ends the walk when there are more hits than the report shows.
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
		s.notes = append(s.notes, fmt.Sprintf("stopped after %s of comparing; use a simpler pattern, or narrow path or file_pattern", match.Budget))
	}
	for _, n := range s.notes {
		lines = append(lines, "... "+n+" ...")
	}
	return strings.Join(lines, "\n")
}
