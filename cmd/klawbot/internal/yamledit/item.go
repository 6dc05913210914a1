package yamledit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// AddItem returns the text with an item in the list at path, unless one that is the
// same is in it. same gets an item as it is written; it returns an error for one that
// it cannot read. A lone item that stands without a list becomes one.
func AddItem(text []byte, path []string, item string, same func(string) (bool, error)) ([]byte, error) {
	return edited(text, func(d *document) error {
		list, err := d.ensure(path, "[]")
		if err != nil {
			return err
		}
		return d.addItem(list, item, same)
	})
}

// RemoveItem returns the text without the items of the list at path that are the
// same.
func RemoveItem(text []byte, path []string, same func(string) (bool, error)) ([]byte, error) {
	for removed := true; removed; {
		var err error
		text, err = edited(text, func(d *document) error {
			list, err := d.ensure(path, "[]")
			if err == nil {
				removed, err = d.removeItem(list, same)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return text, nil
}

func (d *document) addItem(list ast.Node, text string, same func(string) (bool, error)) error {
	switch n := list.(type) {
	case *ast.SequenceNode:
		if index(n, same) >= 0 {
			return nil
		}
		return d.append(n, text)
	case *ast.NullNode:
		return d.replace(n, "["+text+"]")
	case *ast.IntegerNode, *ast.StringNode:
		is, err := same(list.GetToken().Value)
		if err != nil {
			return ErrByHand
		}
		if is {
			return nil
		}
		at, err := d.place(list.GetToken())
		if err != nil {
			return err
		}
		d.splice(at, "["+string(d.text[at.start:at.end])+", "+text+"]")
		return nil
	}
	return ErrByHand
}

func (d *document) append(n *ast.SequenceNode, text string) error {
	begin, err := d.place(n.Start)
	if err != nil {
		return err
	}
	if len(n.Values) == 0 {
		d.splice(span{begin.end, begin.end}, text)
		return nil
	}
	last, err := d.place(n.Values[len(n.Values)-1].GetToken())
	if err != nil {
		return err
	}
	if n.IsFlowStyle {
		d.splice(span{last.end, last.end}, ", "+text)
		return nil
	}
	end := d.lineEnd(last.end)
	line := strings.Repeat(" ", d.column(begin)) + "- " + text
	if d.text[end-1] == '\n' {
		line += d.lineBreak()
	} else {
		line = d.lineBreak() + line
	}
	d.splice(span{end, end}, line)
	return nil
}

// removeItem removes the first item that is the same, and reports whether there
// was one.
func (d *document) removeItem(list ast.Node, same func(string) (bool, error)) (removed bool, err error) {
	n, ok := list.(*ast.SequenceNode)
	if !ok {
		return false, d.removeLone(list, same)
	}
	i := index(n, same)
	if i < 0 {
		return false, nil
	}
	return true, d.removeAt(n, i)
}

// removeLone takes away an item that stands without a list.
func (d *document) removeLone(n ast.Node, same func(string) (bool, error)) error {
	if is, err := same(n.GetToken().Value); err != nil || !is {
		return ErrByHand
	}
	at, err := d.place(n.GetToken())
	if err != nil {
		return err
	}
	d.splice(at, "[]")
	return nil
}

func (d *document) removeAt(n *ast.SequenceNode, i int) error {
	item, err := d.place(n.Values[i].GetToken())
	if err != nil {
		return err
	}
	cut, text := item, ""
	switch {
	case !n.IsFlowStyle && len(n.Values) == 1:
		var dash span
		dash, err = d.place(n.Start)
		cut, text = span{dash.start, item.end}, "[]"
	case !n.IsFlowStyle:
		cut = span{bytes.LastIndexByte(d.text[:item.start], '\n') + 1, d.lineEnd(item.end)}
	case i+1 < len(n.Values):
		var next span
		next, err = d.place(n.Values[i+1].GetToken())
		cut = span{item.start, next.start}
	case i > 0:
		var last span
		last, err = d.place(n.Values[i-1].GetToken())
		cut = span{last.end, item.end}
	}
	if err != nil || cut.start > cut.end {
		return ErrByHand
	}
	d.splice(cut, text)
	return nil
}

// index is the position of an equal item in a list, -1 for none.
func index(n *ast.SequenceNode, same func(string) (bool, error)) int {
	return slices.IndexFunc(n.Values, func(v ast.Node) bool {
		v, err := known(v)
		if err != nil {
			return false
		}
		is, err := same(v.GetToken().Value)
		return err == nil && is
	})
}
