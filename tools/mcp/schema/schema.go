// Package schema turns the schema of a server's tool into one of ours.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"klawbot/internal/schemaref"
	"klawbot/tools/budget"
	"klawbot/tools/mcp/shown"
	"klawbot/tools/params"
)

// The bounds of a schema with its references written out, and of its texts.
const (
	maxDepth       = 12
	maxSchemas     = 2000
	maxSchemaBytes = 128 << 10
	// maxWritten is how long a schema may be with its references written out, when it
	// grows by that to more than twice its length: every model reads it in every turn.
	maxWritten = 16 << 10
)

// noParameters is the schema of a tool that takes nothing.
const noParameters = `{"properties":{},"type":"object"}`

// Clean makes a server's schema one of ours: an object with references written out, a type
// and a description for every property, and no invisible characters. Inner parts that
// repeat themselves accept anything, and so does a schema that is none or too large.
func Clean(schema json.RawMessage) json.RawMessage {
	root, ok := decode(schema)
	if !ok || len(schema) > maxSchemaBytes {
		return json.RawMessage(noParameters)
	}
	if kind := root["type"]; kind != nil && kind != "object" {
		return json.RawMessage(noParameters)
	}
	var clean map[string]any
	for depth := maxDepth; depth > 0; depth /= 2 {
		steps := budget.For(len(schema))
		if clean = (&cleaner{root: root, depth: depth, steps: steps}).whole(); steps.Spent() {
			continue // its parts stand in it many times
		}
		text, err := json.Marshal(clean)
		if err != nil || len(text) > max(maxWritten, 2*len(schema)) {
			continue
		}
		if params.Check(text) == nil {
			return text
		}
		break
	}
	if text, err := json.Marshal(loose(clean)); err == nil && params.Check(text) == nil {
		return text
	}
	return json.RawMessage(noParameters)
}

// loose is a schema that says what there is and forbids nothing, in place of one that
// cannot be compiled, such as one with a pattern that RE2 does not know.
func loose(n map[string]any) map[string]any {
	properties := map[string]any{}
	for name, p := range n["properties"].(map[string]any) {
		about := p.(map[string]any)["description"]
		properties[name] = map[string]any{"type": anyType, "description": about}
	}
	return map[string]any{"type": "object", "properties": properties}
}

func decode(schema json.RawMessage) (map[string]any, bool) {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	var root map[string]any
	err := d.Decode(&root)
	return root, err == nil && root != nil
}

type cleaner struct {
	root    map[string]any
	depth   int // how deep it looks
	schemas int // how many it has seen
	// steps are for all that is written out: what is spent accepts anything.
	steps *budget.Budget
}

func (c *cleaner) whole() map[string]any {
	clean := c.schema(c.root, 0)
	clean["type"] = "object"
	if _, ok := clean["properties"].(map[string]any); !ok {
		clean["properties"] = map[string]any{}
	}
	return clean
}

// schema cleans a schema and what is inside it. What is too deep accepts anything.
func (c *cleaner) schema(n map[string]any, depth int) map[string]any {
	if c.schemas++; depth > c.depth || c.schemas > maxSchemas || !c.steps.Spend(1) {
		return map[string]any{}
	}
	n = c.resolve(n)
	for name, v := range n {
		if !c.steps.Spend(8 + len(name)) {
			return map[string]any{}
		}
		switch {
		case strings.HasPrefix(name, "$"), name == "definitions", name == "dependencies", misspelt(name):
			delete(n, name)
		case name == "description" || name == "title":
			n[name] = c.shown(v)
		case name == "properties" || name == "patternProperties" || name == "dependentSchemas":
			n[name] = c.members(v, depth, name == "properties")
		case slices.Contains([]string{"anyOf", "oneOf", "allOf", "prefixItems"}, name):
			n[name] = c.list(v, depth)
		default:
			if inner, ok := v.(map[string]any); ok && holdsSchema(name) {
				n[name] = c.schema(inner, depth+1)
			} else if !c.copied(v) {
				return map[string]any{}
			}
		}
	}
	return n
}

// shown is a text of the schema for people and models.
func (c *cleaner) shown(v any) string {
	text, _ := v.(string)
	if !c.steps.Spend(len(text)) {
		return ""
	}
	return shown.Text(text, shown.MaxPart)
}

// copied takes up a value as it is, and reports whether that was within the budget.
func (c *cleaner) copied(v any) bool {
	switch v := v.(type) {
	case string:
		return c.steps.Spend(1 + len(v))
	case []any:
		for _, inner := range v {
			if !c.copied(inner) {
				return false
			}
		}
	case map[string]any:
		for name, inner := range v {
			if !c.steps.Spend(len(name)) || !c.copied(inner) {
				return false
			}
		}
	}
	return c.steps.Spend(1)
}

// misspelt reports whether only the case makes a keyword none: some readers ignore case.
func misspelt(keyword string) bool {
	return slices.ContainsFunc([]string{"type", "properties", "required", "items", "default"}, func(k string) bool {
		return k != keyword && strings.EqualFold(k, keyword)
	})
}

// holdsSchema reports whether the value of a keyword is a schema.
func holdsSchema(keyword string) bool {
	return slices.Contains([]string{
		"items", "additionalProperties", "not", "contains", "if", "then", "else", "propertyNames", "additionalItems",
		"unevaluatedProperties", "unevaluatedItems", "contentSchema",
	}, keyword)
}

// members cleans schemas by name. Properties get a type and a description.
func (c *cleaner) members(v any, depth int, properties bool) map[string]any {
	members, _ := v.(map[string]any)
	clean := make(map[string]any, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		inner, _ := members[name].(map[string]any) // true says as much as {}
		p := c.schema(inner, depth+1)
		if properties {
			describe(p, name)
		}
		clean[name] = p
	}
	return clean
}

func (c *cleaner) list(v any, depth int) []any {
	members, _ := v.([]any)
	clean := []any{}
	for _, m := range members {
		inner, _ := m.(map[string]any)
		clean = append(clean, c.schema(inner, depth+1))
	}
	return clean
}

// resolve returns a copy in which the schema's own reference is written out.
// One that leads nowhere, or elsewhere, says nothing.
func (c *cleaner) resolve(n map[string]any) map[string]any {
	n, _ = schemaref.Inline(c.root, n, func(into map[string]any, ref string, target map[string]any) bool {
		if !c.steps.Spend(8*len(ref) + len(target)) {
			return false
		}
		for name, v := range target {
			if _, own := into[name]; !own {
				into[name] = v
			}
		}
		return true
	})
	return n
}

// describe gives a property what it lacks of a type and a description.
func describe(p map[string]any, name string) {
	if text, _ := p["description"].(string); strings.TrimSpace(text) == "" {
		about, _ := p["title"].(string)
		if strings.TrimSpace(about) == "" {
			about = strings.TrimSpace(strings.ReplaceAll(name, "_", " "))
		}
		p["description"] = shown.Text(about, shown.MaxPart)
		if p["description"] == "" {
			p["description"] = "a value"
		}
	}
	if p["type"] == nil {
		p["type"] = typeOf(p)
	}
}

// anyType is the type of what may be anything.
var anyType = []any{"string", "number", "boolean", "object", "array", "null"}

// typeOf is the type that a schema means without saying so.
func typeOf(p map[string]any) any {
	values, _ := p["enum"].([]any)
	if v, ok := p["const"]; ok {
		values = append(values, v)
	}
	union, _ := p["anyOf"].([]any)
	if more, ok := p["oneOf"].([]any); ok && union == nil {
		union = more
	}
	switch {
	case len(values) > 0:
		return common(values, kindOf)
	case p["properties"] != nil:
		return "object"
	case p["items"] != nil:
		return "array"
	case len(union) > 0:
		return common(union, func(m any) any {
			member, _ := m.(map[string]any)
			if member["type"] == nil {
				return typeOf(member)
			}
			return member["type"]
		})
	}
	return anyType
}

// common is the types that several things have together: one, or a list.
func common(things []any, kind func(any) any) any {
	var kinds []any
	add := func(k any) {
		if (k == "integer" || slices.Contains(anyType, k)) && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	for _, v := range things {
		k := kind(v)
		list, several := k.([]any)
		if !several {
			list = []any{k}
		}
		for _, k := range list {
			add(k)
		}
	}
	switch len(kinds) {
	case 0:
		return anyType
	case 1:
		return kinds[0]
	}
	return kinds
}

func kindOf(v any) any {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// Descriptions are the descriptions inside a schema as a model reads them, a line for
// each with the place where it stands.
func Descriptions(schema json.RawMessage) []string {
	root, _ := decode(Clean(schema)) // it is an object
	return said(nil, root, "")
}

// said adds the descriptions inside a schema, each with its place.
func said(lines []string, node map[string]any, place string) []string {
	if text, ok := node["description"].(string); ok {
		lines = append(lines, "  "+shown.Text(place, shown.MaxPart)+": "+text)
	}
	below := func(name string) string { return strings.TrimPrefix(place+"."+name, ".") }
	for _, keyword := range slices.Sorted(maps.Keys(node)) {
		switch v := node[keyword].(type) {
		case map[string]any:
			if keyword != "properties" && keyword != "patternProperties" {
				lines = said(lines, v, below(keyword))
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				inner, _ := v[name].(map[string]any)
				lines = said(lines, inner, below(name))
			}
		case []any:
			for i, member := range v {
				if inner, ok := member.(map[string]any); ok {
					lines = said(lines, inner, below(fmt.Sprintf("%s %d", keyword, i+1)))
				}
			}
		}
	}
	return lines
}
