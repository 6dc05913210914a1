package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

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
	list, err := doc.ensure(allowedPath)
	if err != nil {
		return nil, err
	}
	if err := edit(doc, list, id); err != nil {
		return nil, err
	}
	return doc.text, nil
}

// document is the text of the file and the tree that was parsed from it.
type document struct {
	text []byte
	root ast.Node
	// above is the entry whose value was looked up.
	above *ast.MappingValueNode
}

func parseDocument(text []byte) (*document, error) {
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

// ensure finds the value at path and adds what is missing on the way.
func (d *document) ensure(path []string) (ast.Node, error) {
	at := d.root
	var above *ast.MappingValueNode
	for i, name := range path {
		entry := find(at, name)
		if entry == nil {
			if err := d.insert(at, above, path[i:]); err != nil {
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

// insert writes the keys of path, ending in an empty list, into the section
// that above names (nil for the top of the file).
func (d *document) insert(section ast.Node, above *ast.MappingValueNode, path []string) error {
	if m, ok := section.(*ast.MappingNode); ok && m.IsFlowStyle {
		text := path[len(path)-1] + ": []"
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
			b.WriteString(" []")
		}
		b.WriteByte('\n')
	}
	d.splice(at, 0, b.String())
	return nil
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

// replaceFile writes the new text in one step and keeps the old one as .bak.
// The mode of the file stays; a link stays a link.
func replaceFile(name string, old, text []byte) error {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	if err := writeFile(target+".bak", old, info.Mode().Perm()); err != nil {
		return err
	}
	return writeFile(target, text, info.Mode().Perm())
}

// writeFile writes a file so that it is there whole or not at all.
func writeFile(name string, text []byte, mode os.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".klawbot-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error is the one to tell
		}
	}()
	if _, err = f.Write(text); err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
