package params

import (
	"errors"
	"fmt"

	"klawbot/tools/budget"
)

// weighed is a schema whose work with a value can be told before it is done: the
// validator itself cannot be stopped.
type weighed struct {
	root     any
	bytes    int
	patterns map[string]*budget.Pattern
}

// maxSchemaDepth is how deep a schema may be, in values in values. The validator
// takes time that grows with the square of it.
const maxSchemaDepth = 100

var (
	errReference = errors.New("references ($ref) are not understood; write them out")
	errDeep      = fmt.Errorf("the schema is %w: it has more than %d values in each other", budget.ErrTooComplex, maxSchemaDepth)
)

// sound refuses a schema that refers to others, because a few references can
// mean as many schemas as there are atoms, and one that is too deep.
func sound(node any, depth int) error {
	if depth > maxSchemaDepth {
		return errDeep
	}
	if n, is := node.(map[string]any); is {
		for _, name := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			if _, text := n[name].(string); text {
				return errReference
			}
		}
	}
	for _, inner := range members(node) {
		if err := sound(inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// affords reports whether arguments of so many bytes can be validated within a
// budget that grows with them and the schema.
func (w weighed) affords(args map[string]any, bytes int) bool {
	m := measure{w.patterns, budget.For(bytes + w.bytes)}
	m.schema(w.root, args)
	return !m.steps.Spent()
}

// measure adds up the work of a schema with a value, at most.
type measure struct {
	patterns map[string]*budget.Pattern
	steps    *budget.Budget
}

func (m measure) schema(node, v any) {
	n, _ := node.(map[string]any) // true and false have none
	if !m.steps.Spend(1 + len(n)) {
		return
	}
	for keyword, inner := range n {
		switch keyword {
		case "properties":
			m.named(inner, v)
		case "patternProperties":
			m.matching(inner, v)
		case "dependentSchemas":
			for _, sub := range members(inner) {
				m.schema(sub, v)
			}
		case "allOf", "anyOf", "oneOf", "not", "if", "then", "else":
			m.each(inner, v)
		case "prefixItems", "items", "contains", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties":
			for _, child := range members(v) {
				m.each(inner, child)
			}
		case "propertyNames":
			object, _ := v.(map[string]any)
			for name := range object {
				m.schema(inner, name)
			}
		case "pattern":
			m.text(inner, v)
		case "enum", "const":
			m.size(inner)
		case "uniqueItems":
			for range 10 {
				m.size(v)
			}
		}
	}
}

// each is a schema, or a list of them, with one value.
func (m measure) each(node, v any) {
	list, several := node.([]any)
	if !several {
		list = []any{node}
	}
	for _, sub := range list {
		m.schema(sub, v)
	}
}

// named is each property with its own schema.
func (m measure) named(node, v any) {
	properties, _ := node.(map[string]any)
	object, _ := v.(map[string]any)
	if !m.steps.Spend(len(properties)) {
		return
	}
	for name, child := range object {
		if sub, known := properties[name]; known {
			m.schema(sub, child)
		}
	}
}

// matching is each pattern with each property.
func (m measure) matching(node, v any) {
	patterns, _ := node.(map[string]any)
	object, _ := v.(map[string]any)
	for pattern, sub := range patterns {
		for name, child := range object {
			m.text(pattern, name)
			m.schema(sub, child)
		}
	}
}

// text is a pattern with a text.
func (m measure) text(pattern, v any) {
	source, _ := pattern.(string)
	text, is := v.(string)
	if p := m.patterns[source]; is && p != nil {
		m.steps.Spend(p.Cost(len(text)))
	}
}

// size is every value in a value.
func (m measure) size(v any) {
	if !m.steps.Spend(1) {
		return
	}
	for _, inner := range members(v) {
		m.size(inner)
	}
}

// members are the values in an array or an object.
func members(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case map[string]any:
		all := make([]any, 0, len(v))
		for _, inner := range v {
			all = append(all, inner)
		}
		return all
	}
	return nil
}

// pattern compiles a pattern. The size of all patterns has a bound that grows with the schema.
func (w weighed) pattern(source string, steps *budget.Budget) (*budget.Pattern, error) {
	if p := w.patterns[source]; p != nil {
		return p, nil
	}
	p, err := budget.Compile(source)
	if err != nil {
		return nil, err
	}
	if !steps.Spend(4 * p.Size()) {
		return nil, fmt.Errorf("the patterns are %w", budget.ErrTooComplex)
	}
	w.patterns[source] = p
	return p, nil
}
