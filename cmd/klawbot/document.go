package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// document is the text of the file and the tree that was parsed from it.
type document struct {
	text []byte
	root ast.Node
	// above is the entry whose value was looked up.
	above *ast.MappingValueNode
}

// parseDocument leaves a file alone whose lines end with a lone CR: the parser
// counts its lines otherwise than the offsets here do.
func parseDocument(text []byte) (*document, error) {
	if bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n")) {
		return nil, errByHand
	}
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, fmt.Errorf("parse the configuration: %w", err)
	}
	doc := &document{text: text}
	if len(f.Docs) > 0 {
		doc.root = f.Docs[0].Body
	}
	return doc, nil
}

// ensure finds the value at path and adds what is missing on the way, with value
// at its end.
func (d *document) ensure(path []string, value string) (ast.Node, error) {
	at := d.root
	var above *ast.MappingValueNode
	for i, name := range path {
		entry := find(at, name)
		if entry == nil {
			if err := d.insert(at, above, path[i:], value); err != nil {
				return nil, err
			}
			next, err := parseDocument(d.text)
			if err != nil {
				return nil, errByHand
			}
			*d = *next
			return d.lookup(path)
		}
		at, above = entry.Value, entry
	}
	d.above = above
	return at, nil
}

func (d *document) lookup(path []string) (ast.Node, error) {
	at := d.root
	for _, name := range path {
		entry := find(at, name)
		if entry == nil {
			return nil, errByHand
		}
		at, d.above = entry.Value, entry
	}
	return at, nil
}

func find(n ast.Node, name string) *ast.MappingValueNode {
	for _, v := range entries(n) {
		if t := v.Key.GetToken(); t != nil && t.Value == name {
			return v
		}
	}
	return nil
}

func entries(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// insert writes the keys of path, ending in value, into the section that above
// names (nil for the top of the file).
func (d *document) insert(section ast.Node, above *ast.MappingValueNode, path []string, value string) error {
	if m, ok := section.(*ast.MappingNode); ok && m.IsFlowStyle {
		text := path[len(path)-1] + ": " + value
		for _, name := range slices.Backward(path[:len(path)-1]) {
			text = name + ": {" + text + "}"
		}
		if len(m.Values) > 0 {
			text += ", "
		}
		d.splice(d.offset(m.Start)+1, 0, text)
		return nil
	}
	indent, at := 0, len(d.text)
	if above != nil {
		if _, null := section.(*ast.NullNode); !null && len(entries(section)) == 0 {
			return errByHand
		}
		key := above.Key.GetToken()
		indent, at = key.Position.Column+1, d.lineEnd(d.offset(key))
		if known := entries(section); len(known) > 0 {
			indent = known[0].Key.GetToken().Position.Column - 1
		}
	}
	var b strings.Builder
	if at > 0 && d.text[at-1] != '\n' {
		b.WriteByte('\n')
	}
	for i, name := range path {
		b.WriteString(strings.Repeat(" ", indent+2*i) + name + ":")
		if i == len(path)-1 {
			b.WriteString(" " + value)
		}
		b.WriteByte('\n')
	}
	d.splice(at, 0, b.String())
	return nil
}

// raw is the token as it is written, with its quotes.
func raw(t *token.Token) string { return strings.TrimSpace(t.Origin) }

// offset is the place of the token in the text, from its line and column, which
// count from 1; columns count characters.
func (d *document) offset(t *token.Token) int {
	at := 0
	for range t.Position.Line - 1 {
		at = d.lineEnd(at)
	}
	column := 1
	for i := range string(d.text[at:]) {
		if column == t.Position.Column {
			return at + i
		}
		column++
	}
	return len(d.text)
}

// lineEnd is the offset behind the line break that follows at.
func (d *document) lineEnd(at int) int {
	if i := bytes.IndexByte(d.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.text)
}

func (d *document) splice(at, cut int, text string) {
	d.text = slices.Concat(d.text[:at], []byte(text), d.text[at+cut:])
}
