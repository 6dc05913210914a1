package file

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"klawbot/tools"
	"klawbot/tools/file/match"
)

type listArgs struct {
	Path      string `json:"path,omitempty" default:"."`
	Recursive bool   `json:"recursive,omitempty" default:"false"`
	Depth     int    `json:"depth,omitempty" default:"1" min:"1" max:"20"`
}

// The limits of a list.
const (
	maxEntries     = 2000
	recursiveDepth = 20
)

func (f *files) list(ctx context.Context, _ tools.Call, a listArgs) tools.Result {
	depth := a.Depth
	if a.Recursive {
		depth = recursiveDepth
	}
	entries, err := f.entries(ctx, a.Path, depth)
	if err != nil {
		return failed(err, "directory", a.Path)
	}
	if len(entries) == 0 {
		return tools.OK("(empty directory)")
	}
	if len(entries) > maxEntries {
		entries[maxEntries] = fmt.Sprintf("... more than %d entries; list a directory below, or with less depth ...", maxEntries)
	}
	return tools.OK(strings.Join(entries, "\n"))
}

// entries lists up to maxEntries+1 entries.
func (f *files) entries(ctx context.Context, written string, depth int) ([]string, error) {
	p, err := f.locate(written)
	if err != nil {
		return nil, err
	}
	defer p.root.Close()
	entries, err := walk(ctx, p, depth)
	if !isMissing(err) {
		return entries, err
	}
	skill, found, _ := f.locateSkill(p.shown)
	if !found {
		return nil, err
	}
	defer skill.root.Close()
	return walk(ctx, skill, depth)
}

// walk lists what is below a directory. It marks a name that looks like one before it.
func walk(ctx context.Context, p place, depth int) ([]string, error) {
	var entries []string
	seen := map[string]bool{}
	err := walkDir(ctx, p, func(name string, e fs.DirEntry) error {
		line, form := entry(path.Join(p.shown, name), e), match.Form(name)
		if seen[form] {
			line += " (looks like a name above, stored with different characters)"
		}
		seen[form] = true
		entries = append(entries, line)
		if len(entries) > maxEntries {
			return fs.SkipAll
		}
		if e.IsDir() && strings.Count(name, "/")+1 >= depth {
			return fs.SkipDir
		}
		return nil
	})
	return entries, err
}

// entry is one line of a list. A link is not followed: its target may lie outside.
func entry(name string, e fs.DirEntry) string {
	switch {
	case e.IsDir():
		return name + "/"
	case e.Type()&fs.ModeSymlink != 0:
		return name + " (link)"
	case !e.Type().IsRegular():
		return name + " (special)"
	}
	info, err := e.Info()
	if err != nil {
		return name
	}
	return fmt.Sprintf("%s (%d bytes)", name, info.Size())
}
