package main

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/internal/redact"
)

// allowedPath is the list that allow and deny edit.
var allowedPath = []string{"channels", "telegram", "allowedChatIds"}

// errByHand means that the file is written in a way that the editor leaves alone.
var errByHand = errors.New("the list is written in a way that cannot be edited safely; edit channels.telegram.allowedChatIds by hand")

// editAllowed returns the text of config.yaml with ids added to the list of
// allowed chats and removed from it. Everything else stays as it is, byte for
// byte: the parsed file only says where the list stands.
func editAllowed(text []byte, add, remove []int64) ([]byte, error) {
	for _, id := range remove {
		next, err := editOne(text, id, removeID)
		if err != nil {
			return nil, err
		}
		text = next
	}
	for _, id := range add {
		next, err := editOne(text, id, addID)
		if err != nil {
			return nil, err
		}
		text = next
	}
	return text, nil
}

// editChecked is editAllowed with the proof: read back, the new text holds the
// wanted list and is the same in everything else.
func editChecked(s config.Source, text []byte, add, remove []int64) ([]byte, error) {
	s.Redact = &redact.Set{}
	before, err := s.Parse(text)
	if err != nil {
		return nil, err
	}
	changed, err := editAllowed(text, add, remove)
	if err != nil {
		return nil, err
	}
	after, err := s.Parse(changed)
	if err != nil {
		return nil, errByHand
	}
	want := slices.DeleteFunc(slices.Clone(before.Channels.Telegram.AllowedChatIDs), func(id int64) bool {
		return slices.Contains(remove, id)
	})
	for _, id := range add {
		if !slices.Contains(want, id) {
			want = append(want, id)
		}
	}
	got := after.Channels.Telegram.AllowedChatIDs
	before.Channels.Telegram.AllowedChatIDs, after.Channels.Telegram.AllowedChatIDs = nil, nil
	if !slices.Equal(want, got) || !reflect.DeepEqual(before.Config, after.Config) {
		return nil, errByHand
	}
	return changed, nil
}

func editOne(text []byte, id int64, edit func(*document, ast.Node, int64) error) ([]byte, error) {
	doc, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	list, err := doc.ensure(allowedPath, "[]")
	if err != nil {
		return nil, err
	}
	if err := edit(doc, list, id); err != nil {
		return nil, err
	}
	return doc.text, nil
}

func addID(d *document, list ast.Node, id int64) error {
	text := strconv.FormatInt(id, 10)
	switch n := list.(type) {
	case *ast.SequenceNode:
		if slices.Contains(ids(n), id) {
			return nil
		}
		return d.append(n, text)
	case *ast.NullNode:
		if d.replace(n, "["+text+"]") != nil {
			return errByHand
		}
		return nil
	case *ast.IntegerNode, *ast.StringNode:
		old, err := config.ParseID(list.GetToken().Value)
		if err != nil {
			return errByHand
		}
		if old == id {
			return nil
		}
		at, err := d.place(list.GetToken())
		if err != nil {
			return err
		}
		d.splice(at, "["+string(d.text[at.start:at.end])+", "+text+"]")
		return nil
	}
	return errByHand
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

func removeID(d *document, list ast.Node, id int64) error {
	n, ok := list.(*ast.SequenceNode)
	if !ok {
		return d.removeLone(list, id)
	}
	for {
		i := slices.Index(ids(n), id)
		if i < 0 {
			return nil
		}
		if err := d.removeAt(n, i); err != nil {
			return err
		}
		if i = slices.Index(ids(n)[i+1:], id); i < 0 {
			return nil
		}
		next, err := parseDocument(d.text)
		if err != nil {
			return errByHand
		}
		*d = *next
		if list, err = d.lookup(allowedPath); err != nil {
			return err
		}
		if n, ok = list.(*ast.SequenceNode); !ok {
			return errByHand
		}
	}
}

// removeLone takes away an id that stands without a list.
func (d *document) removeLone(n ast.Node, id int64) error {
	old, err := config.ParseID(n.GetToken().Value)
	if err != nil || old != id {
		return errByHand
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
		return errByHand
	}
	d.splice(cut, text)
	return nil
}

// ids are the numbers of the list; 0 stands for what is none.
func ids(n *ast.SequenceNode) []int64 {
	all := make([]int64, len(n.Values))
	for i, v := range n.Values {
		if n, err := known(v); err == nil {
			all[i], _ = config.ParseID(n.GetToken().Value) // 0 with an error
		}
	}
	return all
}
