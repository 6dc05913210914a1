// Package yamledit changes single values, items and entries of a YAML file and leaves
// every other byte as it is: comments, order, quotes and blank lines. The parsed file
// only says where something stands.
package yamledit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// ErrByHand means that the file is written in a way that the editor leaves alone.
var ErrByHand = errors.New("the file is written in a way that cannot be edited safely")

// document is the text of the file and the tree that was parsed from it.
type document struct {
	text []byte
	root ast.Node
	// above is the entry whose value was looked up.
	above *ast.MappingValueNode
}

// byteOrderMark stands at the start of files that some editors of Windows write.
var byteOrderMark = []byte("\ufeff")

// parseDocument parses the text as if all its lines ended with LF: the parser
// miscounts lines behind comments that end with CR LF. A file is left alone
// whose lines end with a lone CR, as the parser counts them and place does not.
func parseDocument(text []byte) (*document, error) {
	lines := bytes.ReplaceAll(bytes.TrimPrefix(text, byteOrderMark), []byte("\r\n"), []byte("\n"))
	if bytes.ContainsRune(lines, '\r') {
		return nil, ErrByHand
	}
	f, err := parser.ParseBytes(lines, 0)
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
				return nil, ErrByHand
			}
			*d = *next
			return d.lookup(path)
		}
		at, above = entry.Value, entry
	}
	d.above = above
	return known(at)
}

func (d *document) lookup(path []string) (ast.Node, error) {
	at := d.root
	for _, name := range path {
		entry := find(at, name)
		if entry == nil {
			return nil, ErrByHand
		}
		at, d.above = entry.Value, entry
	}
	return known(at)
}

func known(n ast.Node) (ast.Node, error) {
	if n == nil || n.GetToken() == nil {
		return nil, ErrByHand
	}
	return n, nil
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
		return d.insertFlow(m, path, value)
	}
	indent, at := 0, len(d.text)
	if above != nil {
		if _, null := section.(*ast.NullNode); !null && len(entries(section)) == 0 {
			return ErrByHand
		}
		key, err := d.place(above.Key.GetToken())
		if err != nil {
			return err
		}
		indent, at = d.column(key)+2, d.lineEnd(key.end)
		if inside := entries(section); len(inside) > 0 {
			first, err := d.place(inside[0].Key.GetToken())
			if err != nil {
				return err
			}
			indent = d.column(first)
		}
	}
	var b strings.Builder
	if at > 0 && d.text[at-1] != '\n' {
		b.WriteString(d.lineBreak())
	}
	for i, name := range path {
		b.WriteString(strings.Repeat(" ", indent+2*i) + name + ":")
		if i == len(path)-1 {
			b.WriteString(" " + value)
		}
		b.WriteString(d.lineBreak())
	}
	d.splice(span{at, at}, b.String())
	return nil
}

func (d *document) insertFlow(m *ast.MappingNode, path []string, value string) error {
	text := path[len(path)-1] + ": " + value
	for _, name := range slices.Backward(path[:len(path)-1]) {
		text = name + ": {" + text + "}"
	}
	if len(m.Values) > 0 {
		text += ", "
	}
	brace, err := d.place(m.Start)
	if err != nil {
		return err
	}
	d.splice(span{brace.end, brace.end}, text)
	return nil
}

// span is a part of the text, from start up to end.
type span struct{ start, end int }

// place is where a token stands in the text, by its line and column, which count
// from 1; columns count characters. The parser miscounts in odd texts, so the
// token is refused unless it really stands there.
func (d *document) place(t *token.Token) (span, error) {
	if t == nil || t.Position == nil {
		return span{}, ErrByHand
	}
	at := 0
	if bytes.HasPrefix(d.text, byteOrderMark) {
		at = len(byteOrderMark)
	}
	for range t.Position.Line - 1 {
		at = d.lineEnd(at)
	}
	for range t.Position.Column - 1 {
		_, size := utf8.DecodeRune(d.text[at:])
		at += size
	}
	written := []byte(strings.TrimSpace(t.Origin)) // with its quotes
	if len(written) == 0 || bytes.ContainsRune(written, '\n') || !bytes.HasPrefix(d.text[at:], written) {
		return span{}, ErrByHand
	}
	return span{at, at + len(written)}, nil
}

// colon is the place behind the colon of a key.
func (d *document) colon(entry *ast.MappingValueNode) (span, error) {
	key, err := d.place(entry.Key.GetToken())
	if err != nil {
		return span{}, err
	}
	behind := bytes.TrimLeft(d.text[key.end:], " ")
	if !bytes.HasPrefix(behind, []byte(":")) {
		return span{}, ErrByHand
	}
	at := len(d.text) - len(behind) + 1
	return span{at, at}, nil
}

// column is how many characters stand before a place in its line.
func (d *document) column(s span) int {
	line := d.text[bytes.LastIndexByte(d.text[:s.start], '\n')+1 : s.start]
	return utf8.RuneCount(bytes.TrimPrefix(line, byteOrderMark))
}

// lineEnd is the offset behind the line break that follows at.
func (d *document) lineEnd(at int) int {
	if i := bytes.IndexByte(d.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.text)
}

func (d *document) lineBreak() string {
	if bytes.Contains(d.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func (d *document) splice(old span, text string) {
	d.text = slices.Concat(d.text[:old.start], []byte(text), d.text[old.end:])
}
