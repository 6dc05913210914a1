package main

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

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
func editChecked(s source, text []byte, add, remove []int64) ([]byte, error) {
	s.Redact = &redact.Set{}
	before, err := s.parse(text)
	if err != nil {
		return nil, err
	}
	changed, err := editAllowed(text, add, remove)
	if err != nil {
		return nil, err
	}
	after, err := s.parse(changed)
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
		d.append(n, text)
	case *ast.NullNode:
		d.splice(d.offset(d.above.Key.GetToken())+len(raw(d.above.Key.GetToken()))+1, 0, " ["+text+"]")
	case *ast.IntegerNode, *ast.StringNode:
		t := list.GetToken()
		if old, err := parseTelegramID(t.Value); err != nil {
			return errByHand
		} else if old != id {
			d.splice(d.offset(t), len(raw(t)), "["+raw(t)+", "+text+"]")
		}
	default:
		return errByHand
	}
	return nil
}

func (d *document) append(n *ast.SequenceNode, text string) {
	switch {
	case len(n.Values) == 0:
		d.splice(d.offset(n.Start)+1, 0, text)
	case n.IsFlowStyle:
		last := n.Values[len(n.Values)-1].GetToken()
		d.splice(d.offset(last)+len(raw(last)), 0, ", "+text)
	default:
		last := n.Values[len(n.Values)-1].GetToken()
		end := d.lineEnd(d.offset(last))
		line := strings.Repeat(" ", n.Start.Position.Column-1) + "- " + text + "\n"
		if d.text[end-1] != '\n' {
			line = "\n" + strings.TrimSuffix(line, "\n")
		}
		d.splice(end, 0, line)
	}
}

func removeID(d *document, list ast.Node, id int64) error {
	n, ok := list.(*ast.SequenceNode)
	if !ok {
		if old, err := parseTelegramID(list.GetToken().Value); err == nil && old == id {
			d.splice(d.offset(list.GetToken()), len(raw(list.GetToken())), "[]")
			return nil
		}
		return errByHand
	}
	for {
		i := slices.Index(ids(n), id)
		if i < 0 {
			return nil
		}
		d.removeAt(n, i)
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

func (d *document) removeAt(n *ast.SequenceNode, i int) {
	item := n.Values[i].GetToken()
	start, end := d.offset(item), d.offset(item)+len(raw(item))
	switch {
	case !n.IsFlowStyle && len(n.Values) == 1:
		dash := d.offset(n.Start)
		d.splice(dash, end-dash, "[]")
	case !n.IsFlowStyle:
		from := bytes.LastIndexByte(d.text[:start], '\n') + 1
		d.splice(from, d.lineEnd(start)-from, "")
	case i+1 < len(n.Values):
		d.splice(start, d.offset(n.Values[i+1].GetToken())-start, "")
	case i > 0:
		last := n.Values[i-1].GetToken()
		from := d.offset(last) + len(raw(last))
		d.splice(from, end-from, "")
	default:
		d.splice(start, end-start, "")
	}
}

// ids are the numbers of the list; 0 stands for what is none.
func ids(n *ast.SequenceNode) []int64 {
	all := make([]int64, len(n.Values))
	for i, v := range n.Values {
		if id, err := parseTelegramID(v.GetToken().Value); err == nil {
			all[i] = id
		}
	}
	return all
}
