package params

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Struct is the schema of a struct of arguments.
type Struct struct{ schema *jsonschema.Schema }

// Of generates the schema of a struct of arguments, without descriptions: json tags name
// its fields, omitempty makes them optional; default, min, max and enum bound them.
func Of(t reflect.Type) (Struct, error) {
	s, err := jsonschema.ForType(t, nil)
	if err != nil {
		return Struct{}, err
	}
	if s.Type != "object" {
		return Struct{}, fmt.Errorf("arguments are a %s, not a struct", t)
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if p == nil {
			continue
		}
		if err := bound(p, f.Tag); err != nil {
			return Struct{}, fmt.Errorf("parameter %s: %w", name, err)
		}
	}
	sanitise(s)
	return Struct{s}, nil
}

// Describe is the schema as JSON with descriptions of all its parameters.
func (g Struct) Describe(parameters map[string]string) (json.RawMessage, error) {
	s := g.schema.CloneSchemas()
	for name := range parameters {
		if s.Properties[name] == nil {
			return nil, fmt.Errorf("parameter %s does not exist", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if parameters[name] == "" {
			return nil, fmt.Errorf("parameter %s is not described", name)
		}
		s.Properties[name].Description = parameters[name]
	}
	return marshal(s)
}

func marshal(s *jsonschema.Schema) (json.RawMessage, error) {
	source, err := s.MarshalJSON()
	if len(s.Properties) == 0 {
		// Providers want to see that there are none.
		source = bytes.Replace(source, []byte(`"type":"object"`), []byte(`"type":"object","properties":{}`), 1)
	}
	return source, err
}

// Short is the schema with some of its parameters, described where there is a text, and
// without what only a validation needs to know. Parameters that are left out are
// optional.
func (g Struct) Short(shown map[string]string) (json.RawMessage, error) {
	s := g.schema.CloneSchemas()
	for name := range shown {
		if s.Properties[name] == nil {
			return nil, fmt.Errorf("parameter %s does not exist", name)
		}
	}
	for _, name := range s.Required {
		if _, is := shown[name]; !is {
			return nil, fmt.Errorf("parameter %s is required: show it", name)
		}
	}
	for name, p := range s.Properties {
		text, is := shown[name]
		if !is {
			delete(s.Properties, name)
			continue
		}
		p.Description, p.Default, p.Minimum, p.Maximum = text, nil, nil, nil
	}
	s.AdditionalProperties, s.PropertyOrder = nil, nil
	return marshal(s)
}

// sanitise takes out what model providers do not understand: types that may
// also be null. A missing argument says the same.
func sanitise(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if types := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" }); len(types) == 1 {
		s.Type, s.Types = types[0], nil
	}
	sanitise(s.Items)
	for _, p := range s.Properties {
		sanitise(p)
	}
}

// bound puts the tags of a field into its schema.
func bound(p *jsonschema.Schema, tag reflect.StructTag) (err error) {
	if v, ok := tag.Lookup("default"); ok {
		if p.Default, err = literal(p.Type, v); err != nil {
			return err
		}
	}
	if p.Minimum, err = number(tag, "min", p.Minimum); err != nil {
		return err
	}
	if p.Maximum, err = number(tag, "max", p.Maximum); err != nil {
		return err
	}
	if v := tag.Get("enum"); v != "" {
		for word := range strings.SplitSeq(v, ",") {
			p.Enum = append(p.Enum, word)
		}
	}
	return nil
}

func number(tag reflect.StructTag, key string, otherwise *float64) (*float64, error) {
	v, ok := tag.Lookup(key)
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return nil, fmt.Errorf("tag %s: %w", key, err)
	}
	return &n, nil
}

// literal is a tag's value as JSON.
func literal(kind, value string) (json.RawMessage, error) {
	if kind == "string" {
		return json.Marshal(value)
	}
	if !json.Valid([]byte(value)) {
		return nil, fmt.Errorf("tag default: %s is no JSON", value)
	}
	return json.RawMessage(value), nil
}
