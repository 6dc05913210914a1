package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"klawbot/tools/near"
	"klawbot/tools/params"
)

// Registry holds the tools by name. It never changes and is safe for several goroutines.
type Registry struct {
	byName map[string]entry
	sorted []Tool
	// faults are the tools of sources that are left out.
	faults []Fault
}

// entry is what a name means: a tool, the preset of an alias, the compiled schema.
type entry struct {
	tool   Tool
	preset map[string]any
	schema *params.Schema
	// route is that of the alias, nil for others.
	route func(Call, map[string]any) string
}

// NewRegistry collects tools. A name or alias that is there twice is an error,
// and so is a schema that cannot be used.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{byName: map[string]entry{}, sorted: sortedByName(tools)}
	for _, t := range tools {
		if err := r.add(t); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// sortedByName is a list of tools by their canonical names.
func sortedByName(tools []Tool) []Tool {
	return slices.SortedFunc(slices.Values(tools), func(a, b Tool) int { return cmp.Compare(a.Spec().Name, b.Spec().Name) })
}

func (r *Registry) add(t Tool) error {
	spec := t.Spec()
	s, err := params.Compile(spec.Text(English).Parameters)
	if err != nil {
		return fmt.Errorf("tool %s: %w", spec.Name, err)
	}
	for _, a := range append([]Alias{{Name: spec.Name}}, spec.Aliases...) {
		if other, taken := r.byName[a.Name]; taken && (a.Route == nil || other.route == nil) {
			return duplicate(a.Name)
		}
		preset, err := decoded(a.Preset)
		if err != nil {
			return fmt.Errorf("alias %s: %w", a.Name, err)
		}
		r.byName[a.Name] = entry{tool: t, preset: preset, schema: s, route: a.Route}
	}
	return nil
}

// decoded turns Go values into decoded JSON, which validation works on.
func decoded(preset map[string]any) (map[string]any, error) {
	source, err := json.Marshal(preset)
	if err != nil {
		return nil, err
	}
	return params.Parse(source)
}

// duplicate is the error for a name that is taken.
type duplicate string

func (d duplicate) Error() string { return "Tool already registered: " + string(d) }

// Find returns the tool of a canonical name or alias, with the arguments that
// the alias presets; ok is false when nothing has the name.
func (r *Registry) Find(name string) (t Tool, preset map[string]any, ok bool) {
	e, ok := r.byName[name]
	return e.tool, e.preset, ok
}

// routed is the entry that a call by a routed alias means. Arguments that cannot
// be read stay as they are: the next step says what is wrong with them.
func (r *Registry) routed(c *Call, e entry) entry {
	args, err := params.Parse(c.Arguments)
	if err != nil {
		return e
	}
	to, ok := r.byName[e.route(*c, args)]
	if source, err := json.Marshal(args); err == nil && ok {
		c.Arguments = source
		return to
	}
	return e
}

// Near returns up to three canonical names that may have been meant, the nearest first.
func (r *Registry) Near(name string) []string {
	var found []string
	for _, n := range near.Names(name, slices.Sorted(maps.Keys(r.byName)), len(r.byName)) {
		canonical := r.byName[n].tool.Spec().Name
		if !slices.Contains(found, canonical) && len(found) < near.Most {
			found = append(found, canonical)
		}
	}
	return found
}

// All returns every tool, by name.
func (r *Registry) All() []Tool { return slices.Clone(r.sorted) }

// Group returns the tools of a group, by name.
func (r *Registry) Group(g Group) []Tool {
	var found []Tool
	for _, t := range r.sorted {
		if t.Spec().Group == g {
			found = append(found, t)
		}
	}
	return found
}

// Listing is what programs are told about a tool. Its JSON form is stable.
type Listing struct {
	Name        string          `json:"name"`
	Group       Group           `json:"group"`
	Changes     bool            `json:"changes"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Aliases     []string        `json:"aliases"`
	// Outside is as in Spec.
	Outside bool `json:"-"`
}

// List describes every tool that can work now in a language, by name.
func (r *Registry) List(language string) []Listing {
	all := make([]Listing, 0, len(r.sorted))
	for _, t := range r.sorted {
		spec := t.Spec()
		if spec.missing() != "" {
			continue
		}
		text := spec.Text(language)
		all = append(all, Listing{spec.Name, spec.Group, spec.Changes, text.Description, text.Parameters, spec.names()[1:], spec.Outside})
	}
	return all
}
