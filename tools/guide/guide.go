// Package guide holds the tools that tell the model how to do things: the
// manual (docs_search, docs_read, docs_list) and the skills (skill_list,
// skill_load).
//
// It reads and changes nothing. Where skills are found, and which one wins when
// two have the same name, is decided elsewhere.
package guide

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"sync"

	"klawbot/tools"
)

//go:embed *.md
var texts embed.FS

// Skill is what the model is told about a skill before it loads it.
type Skill struct {
	Name, Description string
}

// ErrNoWorkspace is the error of Skills when there is no workspace.
var ErrNoWorkspace = errors.New("no workspace set")

// Skills are instructions for kinds of tasks. They are safe for several goroutines.
type Skills interface {
	// List returns them by name. The error is for the model.
	List() ([]Skill, error)
	// Load returns the whole text of a skill; found is false when there is none
	// of the name. The error is for the model.
	Load(name string) (text string, found bool, err error)
}

// Config is what New needs.
type Config struct {
	// Manual holds the pages by their paths, as Markdown. It does not change.
	// Without it there are no docs_* tools.
	Manual fs.FS
	// Skills is required.
	Skills Skills
	// Search finds sections of the manual by words and by meaning; ready is false
	// while it cannot. Nil searches by words alone. Its error is for the model.
	Search func(ctx context.Context, query string, topK int) (found []Section, ready bool, err error)
}

// LoadTool is the name of the tool that brings a skill into the conversation.
const LoadTool = "skill_load"

// New returns docs_search, docs_read, docs_list, skill_list and skill_load.
func New(c Config) []tools.Tool {
	s := skills{c.Skills}
	all := []tools.Tool{
		tools.New(tools.Spec{Name: "skill_list", Group: tools.GroupSystem}, texts, s.list),
		tools.New(tools.Spec{
			Name: LoadTool, Group: tools.GroupSystem, Aliases: []tools.Alias{{Name: "skill"}},
		}, texts, s.load),
	}
	if c.Manual == nil {
		return all
	}
	d := docs{
		manual: c.Manual, better: c.Search,
		pages: sync.OnceValues(func() ([]page, error) { return readPages(c.Manual) }),
		index: sync.OnceValues(func() (*index, error) { return readIndex(c.Manual) }),
	}
	return append(all,
		tools.New(tools.Spec{Name: "docs_search", Group: tools.GroupSystem}, texts, d.search),
		tools.New(tools.Spec{Name: "docs_read", Group: tools.GroupSystem}, texts, d.read),
		tools.New(tools.Spec{Name: "docs_list", Group: tools.GroupSystem}, texts, d.list),
	)
}
