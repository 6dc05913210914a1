// Package schemaref inlines the references of a JSON schema. It bounds how many may
// follow each other; the caller bounds the size of the result.
package schemaref

import (
	"maps"
	"strings"
)

// most is how many references may lead to one another.
const most = 12

// Inline returns a copy of a part of the schema root without a reference of its own.
// For each that it finds, add puts the target, nil when there is none, into the
// copy, and reports whether to continue: the target may be a reference, too. found
// reports whether there was one. Neither root nor part is changed.
func Inline(root, part map[string]any, add func(into map[string]any, ref string, target map[string]any) bool) (inlined map[string]any, found bool) {
	inlined = maps.Clone(part)
	if inlined == nil {
		return map[string]any{}, false
	}
	more := true
	for range most {
		ref, ok := inlined["$ref"].(string)
		if !ok || !more {
			break
		}
		delete(inlined, "$ref")
		more, found = add(inlined, ref, target(root, ref)), true
	}
	if _, left := inlined["$ref"]; left {
		delete(inlined, "$ref")
		found = true
	}
	return inlined, found
}

// target returns what a reference into the same schema names, or nil.
func target(root map[string]any, ref string) map[string]any {
	if ref == "#" {
		return root
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := root
	for name := range strings.SplitSeq(path, "/") {
		if at, ok = at[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)].(map[string]any); !ok {
			return nil
		}
	}
	return at
}
