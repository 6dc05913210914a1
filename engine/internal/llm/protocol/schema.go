package protocol

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"klawbot/internal/schemaref"
)

// NoParameters is the schema of a tool that takes nothing.
var NoParameters = json.RawMessage(`{"type":"object","properties":{}}`)

// Dialect is what an endpoint understands of JSON Schema. The zero value is what
// the large providers have in common.
type Dialect string

// The narrower dialects.
const (
	// Gemini knows no references, no unions, no lists of types and few keywords.
	Gemini Dialect = "gemini"
	// Grammar is of servers that make a grammar of the schema, as llama.cpp does:
	// bounds and patterns break it.
	Grammar Dialect = "grammar"
)

// Dialects are the names that a configuration may use.
func Dialects() []Dialect { return []Dialect{"", Gemini, Grammar} }

// dropped are the keywords that each dialect does without. Arguments are
// still validated against the whole schema.
var dropped = map[Dialect][]string{
	"": {"$schema", "$id", "$comment", "$defs", "definitions"},
	Gemini: {
		"additionalProperties", "patternProperties", "propertyNames", "unevaluatedProperties", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"pattern", "format", "const", "not", "if", "then", "else", "default", "examples", "title", "uniqueItems", "contains", "prefixItems",
	},
	Grammar: {
		"pattern", "format", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"patternProperties", "propertyNames", "not", "if", "then", "else",
	},
}

// The bounds of schemas of others, references written out: how deep they nest,
// and how many they are.
const (
	maxDepth   = 12
	maxSchemas = 2000
)

// Schema is a tool's parameters in a dialect: an object at the root with
// properties, references written out, and each property with a type, all in their
// order. A schema that needs no change is returned as it is; anything but an object
// becomes the schema of a tool without parameters. The result is shared: do not
// change it.
func Schema(parameters json.RawMessage, d Dialect) json.RawMessage {
	schemas.Lock()
	defer schemas.Unlock()
	if clean, ok := schemas.known[schemaKey{string(parameters), d}]; ok {
		return clean
	}
	if schemas.known == nil || len(schemas.known) >= schemasKept {
		schemas.known = map[schemaKey]json.RawMessage{}
	}
	clean := cleanSchema(bytes.Clone(parameters), d)
	if len(parameters) <= schemaSize {
		schemas.known[schemaKey{string(parameters), d}] = clean
	}
	return clean
}

// schemas are what Schema has made: each request declares the same tools again.
var schemas struct {
	sync.Mutex
	known map[schemaKey]json.RawMessage
}

type schemaKey struct {
	parameters string
	dialect    Dialect
}

// schemasKept bounds how many are kept, and schemaSize how large they may be, in bytes:
// servers of others declare what they like.
const (
	schemasKept = 1024
	schemaSize  = 16 << 10
)

func cleanSchema(parameters json.RawMessage, d Dialect) json.RawMessage {
	var root map[string]any
	if json.Unmarshal(parameters, &root) != nil || root == nil {
		return NoParameters
	}
	c := cleaner{dialect: d, root: root}
	clean := c.object(root)
	if !c.changed {
		return parameters
	}
	var text bytes.Buffer
	if err := orderOf(parameters).write(&text, clean); err != nil {
		return NoParameters // what was decoded can be encoded
	}
	return text.Bytes()
}

// cleaner brings one schema into a dialect.
type cleaner struct {
	dialect Dialect
	root    map[string]any
	changed bool
	schemas int
}

// object cleans the root, which must be an object: unions at the top become
// the properties of all their members.
func (c *cleaner) object(root map[string]any) map[string]any {
	n := maps.Clone(root)
	for _, union := range []string{"anyOf", "oneOf"} {
		members, ok := n[union].([]any)
		if !ok {
			continue
		}
		delete(n, union)
		for _, m := range members {
			if member, ok := m.(map[string]any); ok {
				merge(n, c.resolve(member, 0))
			}
		}
		delete(n, "required") // what one member requires another may lack
		c.changed = true
	}
	n = c.schema(n, 0)
	if n["type"] != "object" {
		n["type"], c.changed = "object", true
	}
	if _, ok := n["properties"].(map[string]any); !ok {
		n["properties"], c.changed = map[string]any{}, true
	}
	return n
}

// schema cleans a schema and what is inside it.
func (c *cleaner) schema(n map[string]any, depth int) map[string]any {
	if c.schemas++; depth > maxDepth || c.schemas > maxSchemas {
		c.changed = true
		return map[string]any{"type": "object"}
	}
	n = c.narrow(c.resolve(n, depth), depth)
	for _, keyword := range slices.Concat(dropped[""], dropped[c.dialect]) {
		if _, ok := n[keyword]; ok {
			delete(n, keyword)
			c.changed = true
		}
	}
	if properties, ok := n["properties"].(map[string]any); ok {
		clean := make(map[string]any, len(properties))
		for name, p := range properties {
			clean[name] = c.inner(p, depth)
		}
		n["properties"] = clean
	}
	if items, ok := n["items"]; ok {
		n["items"] = c.inner(items, depth)
	}
	if members, ok := n["anyOf"].([]any); ok {
		clean := make([]any, len(members))
		for i, m := range members {
			clean[i] = c.inner(m, depth)
		}
		n["anyOf"] = clean
	}
	return c.typed(n)
}

// inner cleans a schema inside another one; anything but an object becomes a string.
func (c *cleaner) inner(v any, depth int) map[string]any {
	n, ok := v.(map[string]any)
	if !ok {
		c.changed = true
		return map[string]any{"type": "string"}
	}
	return c.schema(n, depth+1)
}

// resolve returns a copy in which the schema's own reference and what it is all
// of are written out.
func (c *cleaner) resolve(n map[string]any, depth int) map[string]any {
	n, found := schemaref.Inline(c.root, n, func(into map[string]any, ref string, target map[string]any) bool {
		if target == nil || ref == "#" { // a schema in itself has no end
			target = map[string]any{"type": "object"}
		}
		merge(into, target)
		return true
	})
	c.changed = c.changed || found
	if all, ok := n["allOf"].([]any); ok {
		delete(n, "allOf")
		for _, m := range all {
			if c.schemas++; depth > maxDepth || c.schemas > maxSchemas {
				break
			}
			if member, ok := m.(map[string]any); ok {
				merge(n, c.resolve(member, depth+1))
			}
		}
		c.changed = true
	}
	return n
}

// narrow takes null out of types and unions. A union of one is that one, and
// where there are no unions, the first member stands for it.
func (c *cleaner) narrow(n map[string]any, depth int) map[string]any {
	if types, ok := n["type"].([]any); ok {
		kept := slices.DeleteFunc(slices.Clone(types), func(t any) bool { return t == "null" })
		if len(kept) == 1 || len(kept) > 1 && c.dialect == Gemini {
			n["type"], c.changed = kept[0], true
		}
	}
	for _, union := range []string{"anyOf", "oneOf"} {
		members, ok := n[union].([]any)
		if !ok {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(members), func(m any) bool {
			member, ok := m.(map[string]any)
			return !ok || member["type"] == "null"
		})
		switch {
		case len(kept) == 0:
			delete(n, union)
			c.changed = true
		case len(kept) == 1 || c.dialect == Gemini:
			delete(n, union)
			merge(n, c.resolve(kept[0].(map[string]any), depth+1))
			c.changed = true
		case union == "oneOf":
			delete(n, union)
			n["anyOf"], c.changed = kept, true
		case len(kept) != len(members):
			n[union], c.changed = kept, true
		}
	}
	if v, ok := n["const"]; ok && c.dialect == Gemini {
		n["enum"], c.changed = []any{v}, true
	}
	return n
}

// typed gives a schema the type that it means, and an array its items.
func (c *cleaner) typed(n map[string]any) map[string]any {
	if n["type"] == nil && n["anyOf"] == nil {
		kind := "string"
		switch {
		case n["properties"] != nil:
			kind = "object"
		case n["items"] != nil:
			kind = "array"
		}
		n["type"], c.changed = kind, true
	}
	if n["type"] == "array" && n["items"] == nil {
		n["items"], c.changed = map[string]any{"type": "string"}, true
	}
	return n
}

// merge adds to a schema what another one says and it does not. Properties and
// requirements add up.
func merge(into, from map[string]any) {
	for name, v := range from {
		switch have := into[name].(type) {
		case nil:
			into[name] = v
		case map[string]any:
			if more, ok := v.(map[string]any); ok && name == "properties" {
				both := maps.Clone(more)
				maps.Copy(both, have)
				into[name] = both
			}
		case []any:
			if more, ok := v.([]any); ok && name == "required" {
				into[name] = slices.Concat(have, more)
			}
		}
	}
}
