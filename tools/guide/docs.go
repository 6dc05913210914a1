package guide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"klawbot/tools"
)

type docs struct {
	manual fs.FS
	pages  func() ([]page, error)
	index  func() (*index, error)
	// better finds sections by their meaning, too; nil for none.
	better func(ctx context.Context, query string, topK int) (found []Section, ready bool, err error)
}

// Section is a section of a page. Title is empty for what stands before the first heading.
type Section struct{ Page, Title, Text string }

// Sections are the sections of a manual that have a text, by page.
func Sections(manual fs.FS) ([]Section, error) {
	pages, err := readPages(manual)
	var all []Section
	for _, p := range pages {
		for _, s := range sectionsOf(p.path, p.text) {
			if s.text != "" {
				all = append(all, Section{Page: s.page, Title: s.title, Text: s.text})
			}
		}
	}
	return all, err
}

type page struct {
	path, title, text string
}

func readPages(manual fs.FS) ([]page, error) {
	var all []page
	err := fs.WalkDir(manual, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(manual, name)
		if err != nil {
			return err
		}
		p := page{path: name, title: name, text: string(text)}
		for _, s := range sectionsOf(name, p.text) {
			if s.level > 0 {
				p.title = s.title
				break
			}
		}
		all = append(all, p)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the manual: %w", err)
	}
	return all, nil
}

type searchArgs struct {
	Query string `json:"query"`
	TopK  int    `json:"topK,omitempty" default:"5" min:"1" max:"20"`
}

func (d docs) search(ctx context.Context, _ tools.Call, a searchArgs) tools.Result {
	if strings.TrimSpace(a.Query) == "" {
		return tools.Fail(tools.Validation, "query is empty; say in a few words what you want to know")
	}
	found, err := d.find(ctx, a.Query, a.TopK)
	if err != nil {
		return tools.Fail(tools.Execution, err.Error())
	}
	if len(found) == 0 {
		return tools.OK("No documentation found for: " + short(a.Query))
	}
	parts := make([]string, len(found))
	for i, s := range found {
		parts[i] = fmt.Sprintf("### %s — %s\n%s", s.Page, cmp.Or(s.Title, "beginning"), s.Text)
	}
	return tools.OK(strings.Join(parts, "\n\n"))
}

// find finds sections in the best way that there is.
func (d docs) find(ctx context.Context, query string, topK int) ([]Section, error) {
	if d.better != nil {
		if found, ready, err := d.better(ctx, query, topK); err != nil || ready {
			return found, err
		}
	}
	x, err := d.index()
	if err != nil {
		return nil, err
	}
	var found []Section
	for _, s := range x.find(query, topK) {
		found = append(found, Section{Page: s.page, Title: s.title, Text: s.text})
	}
	return found, nil
}

type readArgs struct {
	Path string `json:"path"`
}

func (d docs) read(_ context.Context, _ tools.Call, a readArgs) tools.Result {
	written, part, wanted := strings.Cut(strings.TrimSpace(a.Path), "#")
	name := path.Clean(written)
	if path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
		return tools.Fail(tools.Security, "Access denied: path outside workspace")
	}
	name, text, err := d.page(name)
	if err != nil {
		return missing(written)
	}
	if !wanted || part == "" {
		return tools.OK(text)
	}
	all := sectionsOf(name, text)
	found, ok := partOf(text, all, anchor(part))
	if !ok {
		return tools.Fail(tools.NotFound, fmt.Sprintf("%s has no section '%s'; there are %s", name, short(part), strings.Join(anchors(all), ", ")))
	}
	return tools.OK(found)
}

// page returns a page. Its path may begin with the manual's folder, or lack its ending.
func (d docs) page(name string) (path, text string, err error) {
	short := strings.TrimPrefix(name, "doc/")
	for _, try := range []string{name, name + ".md", short, short + ".md"} {
		if data, err := fs.ReadFile(d.manual, try); err == nil {
			return try, string(data), nil
		}
	}
	return "", "", errors.New("no such page")
}

// missing is the result for a page that does not exist.
func missing(name string) tools.Result {
	text := "File not found: " + short(name)
	return tools.Result{Output: text, Error: text, ErrorKind: tools.NotFound}
}

func anchors(all []section) []string {
	var names []string
	for _, s := range all {
		if s.level > 0 {
			names = append(names, "#"+anchor(s.title))
		}
	}
	return names
}

func (d docs) list(context.Context, tools.Call, noArgs) tools.Result {
	pages, err := d.pages()
	if err != nil {
		return tools.Fail(tools.Execution, err.Error())
	}
	var lines []string
	folder := "."
	for _, p := range pages {
		if dir := path.Dir(p.path); dir != folder {
			folder = dir
			if dir != "." {
				lines = append(lines, dir+"/")
			}
		}
		line := fmt.Sprintf("%s — %s", p.path, p.title)
		if folder != "." {
			line = "  " + line
		}
		lines = append(lines, line)
	}
	return tools.OK(strings.Join(lines, "\n"))
}
