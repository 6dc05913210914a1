package yamledit

import (
	"bytes"
	"regexp"

	"github.com/goccy/go-yaml/ast"
)

func edited(text []byte, edit func(*document) error) ([]byte, error) {
	doc, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	if err := edit(doc); err != nil {
		return nil, err
	}
	return doc.text, nil
}

// Set returns the text with one plain value set at path.
func Set(text []byte, path []string, value string) ([]byte, error) {
	return edited(text, func(d *document) error {
		node, err := d.ensure(path, value)
		if err != nil {
			return err
		}
		return d.replace(node, value)
	})
}

// Add returns the text with an entry at path, unless there is one. Its value is
// written in one line, such as a section in braces.
func Add(text []byte, path []string, value string) ([]byte, error) {
	return edited(text, func(d *document) error {
		_, err := d.ensure(path, value)
		return err
	})
}

// Remove returns the text without the entry at path.
func Remove(text []byte, path []string) ([]byte, error) {
	return edited(text, func(d *document) error {
		last := len(path) - 1
		section, err := d.lookup(path[:last])
		if err != nil {
			return err
		}
		entry := find(section, path[last])
		if entry == nil {
			return ErrByHand
		}
		cut, err := d.extent(section, entry)
		if err == nil {
			d.splice(cut, "")
		}
		return err
	})
}

func (d *document) replace(n ast.Node, value string) error {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
	default:
		return ErrByHand
	}
	at, err := d.place(n.GetToken())
	if _, null := n.(*ast.NullNode); err != nil && null {
		// Nothing is written there.
		at, err = d.colon(d.above)
		value = " " + value
	}
	if err != nil {
		return ErrByHand
	}
	d.splice(at, value)
	return nil
}

var (
	commaBehind = regexp.MustCompile(`^\s*,\s*`)
	commaBefore = regexp.MustCompile(`,\s*$`)
)

// extent is the part of the text that an entry of a section takes, with what
// parts it from its neighbours.
func (d *document) extent(section ast.Node, entry *ast.MappingValueNode) (span, error) {
	key, err := d.place(entry.Key.GetToken())
	if err != nil {
		return span{}, err
	}
	if m, ok := section.(*ast.MappingNode); ok && m.IsFlowStyle {
		value, ok := entry.Value.(*ast.MappingNode)
		if !ok || !value.IsFlowStyle {
			return span{}, ErrByHand
		}
		last, err := d.place(value.End)
		if err != nil {
			return span{}, err
		}
		if comma := commaBehind.FindIndex(d.text[last.end:]); comma != nil {
			return span{key.start, last.end + comma[1]}, nil
		}
		if comma := commaBefore.FindIndex(d.text[:key.start]); comma != nil {
			return span{comma[0], last.end}, nil
		}
		return span{key.start, last.end}, nil
	}
	column := d.column(key)
	cut := span{bytes.LastIndexByte(d.text[:key.start], '\n') + 1, d.lineEnd(key.end)}
	for at := cut.end; at < len(d.text); at = d.lineEnd(at) {
		line := bytes.TrimRight(d.text[at:d.lineEnd(at)], "\r\n ")
		indent := len(line) - len(bytes.TrimLeft(line, " "))
		if len(line) > 0 && indent <= column {
			break
		}
		if len(line) > 0 {
			cut.end = d.lineEnd(at)
		}
	}
	return cut, nil
}
