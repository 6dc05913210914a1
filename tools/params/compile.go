// Package params checks the arguments of tools: it compiles JSON schemas, also those of
// servers and plugins, fixes what weak models get wrong, and tells the model what is wrong
// with the rest. The work of a check is bounded.
package params

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"klawbot/tools/budget"
)

// Schema is a compiled schema of arguments, with what coercion and defaults need.
type Schema struct {
	compiled   *validator.Schema
	properties map[string]property
	weighed    weighed
}

// property is a parameter as far as coercion needs to know it.
type property struct {
	Type    any             `json:"type"`
	Default json.RawMessage `json:"default"`
	Items   *property       `json:"items"`

	value any // the decoded default, nil for none
	must  bool
}

// is reports whether the parameter has the type and no other.
func (p *property) is(kind string) bool { return p != nil && p.Type == kind }

// Compile makes a schema usable. Its root must be an object.
func Compile(source json.RawMessage) (*Schema, error) {
	var root struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	if err := json.Unmarshal(source, &root); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	if root.Type != "object" {
		return nil, fmt.Errorf("parameters: the root is %q, not an object", root.Type)
	}
	doc, err := validator.UnmarshalJSON(bytes.NewReader(source))
	if err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	if err := sound(doc, 0); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	const url = "arguments.json"
	c := validator.NewCompiler()
	c.UseLoader(noLoader{})
	s := &Schema{properties: root.Properties, weighed: weighed{doc, len(source), map[string]*budget.Pattern{}}}
	steps := budget.For(len(source))
	c.UseRegexpEngine(func(text string) (validator.Regexp, error) { return s.weighed.pattern(text, steps) }) // only while it compiles
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	if s.compiled, err = c.Compile(url); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	must := map[string]bool{}
	for _, name := range root.Required {
		must[name] = true
	}
	for name, p := range s.properties {
		p.must = must[name]
		if p.Default != nil {
			if p.value, err = parseJSON(string(p.Default)); err != nil {
				return nil, fmt.Errorf("default of %s: %w", name, err)
			}
		}
		s.properties[name] = p
	}
	return s, nil
}

// Check reports why parameters cannot be used as a schema of arguments.
func Check(parameters json.RawMessage) error {
	_, err := Compile(parameters)
	return err
}

// noLoader keeps a schema from reading other files.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("references to other documents are not followed")
}
