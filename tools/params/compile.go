// Package params checks the arguments of tools: it compiles JSON schemas, also those of
// servers and plugins, fixes what weak models get wrong, and tells the model what is wrong
// with the rest. The work of a check is bounded.
package params

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"klawbot/tools/budget"
)

// Schema is a compiled schema of arguments, with what coercion and defaults need.
type Schema struct {
	fields
	compiled *validator.Schema
	weighed  weighed
}

// property is a parameter as far as coercion needs to know it.
type property struct {
	fields
	Type    any             `json:"type"`
	Default json.RawMessage `json:"default"`
	Items   *property       `json:"items"`
	Enum    []any           `json:"enum"`
	Const   json.RawMessage `json:"const"`
	AnyOf   []property      `json:"anyOf"`
	OneOf   []property      `json:"oneOf"`

	value any // the decoded default, nil for none
}

// UnmarshalJSON reads what it can. The validator says what is wrong with a schema.
func (p *property) UnmarshalJSON(source []byte) error {
	type plain property
	_ = json.Unmarshal(source, (*plain)(p)) // true and {} say as much
	return nil
}

// fields are the parameters of an object.
type fields struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

// is reports whether the parameter has the type and no other, but perhaps null.
func (p *property) is(kind string) bool {
	if p == nil {
		return false
	}
	list, several := p.Type.([]any)
	return p.Type == kind || several && slices.Contains(list, any(kind)) && len(list) == 2 && slices.Contains(list, any("null"))
}

// nullable reports whether the schema takes null, which means something then, such as
// to clear a field.
func (p *property) nullable() bool {
	list, several := p.Type.([]any)
	switch null := any("null"); {
	case p.Const != nil:
		return string(p.Const) == "null"
	case p.Enum != nil:
		return slices.Contains(p.Enum, nil)
	case several:
		return slices.Contains(list, null)
	case p.Type != nil:
		return p.Type == null
	}
	of := slices.Concat(p.AnyOf, p.OneOf)
	return len(of) == 0 || slices.ContainsFunc(of, func(one property) bool { return one.nullable() })
}

// Compile makes a schema usable. Its root must be an object.
func Compile(source json.RawMessage) (*Schema, error) {
	var root struct {
		Type string `json:"type"`
		fields
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
	s := &Schema{fields: root.fields, weighed: weighed{doc, len(source), map[string]*budget.Pattern{}}}
	steps := budget.For(len(source))
	c.UseRegexpEngine(func(text string) (validator.Regexp, error) { return s.weighed.pattern(text, steps) }) // only while it compiles
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	if s.compiled, err = c.Compile(url); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	for name, p := range s.Properties {
		if p.Default != nil {
			if p.value, err = parseJSON(string(p.Default)); err != nil {
				return nil, fmt.Errorf("default of %s: %w", name, err)
			}
		}
		s.Properties[name] = p
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
