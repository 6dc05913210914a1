package main

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"regexp"

	"github.com/goccy/go-yaml/ast"

	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/internal/redact"
)

// errServerByHand means that the section is written in a way that the editor
// leaves alone.
var errServerByHand = errors.New("config.yaml is written in a way that cannot be edited safely; edit tools.mcp by hand")

// serverPath is where an MCP server is configured.
func serverPath(name string) []string { return []string{"tools", "mcp", name} }

// addServer returns the text of config.yaml with one more MCP server, whose
// section is written in braces.
func addServer(text []byte, name, section string) ([]byte, error) {
	doc, err := parseDocument(text)
	if err != nil {
		return nil, errServerByHand
	}
	if _, err := doc.ensure(serverPath(name), section); err != nil {
		return nil, errServerByHand
	}
	return doc.text, nil
}

// removeServer returns the text of config.yaml without an MCP server.
func removeServer(text []byte, name string) ([]byte, error) {
	doc, err := parseDocument(text)
	if err != nil {
		return nil, errServerByHand
	}
	section, err := doc.lookup(serverPath(name)[:2])
	if err != nil {
		return nil, errServerByHand
	}
	entry := find(section, name)
	if entry == nil {
		return nil, errServerByHand
	}
	cut, err := doc.extent(section, entry)
	if err != nil {
		return nil, errServerByHand
	}
	doc.splice(cut, "")
	return doc.text, nil
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
			return span{}, errServerByHand
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

// editServers changes the MCP servers in config.yaml. The proof: read back, the
// new text has the server, or has it not, and is the same in everything else.
func (a *app) editServers(name string, there bool, edit func([]byte) ([]byte, error)) error {
	l, err := a.open()
	if err != nil {
		return err
	}
	if l.Source.File == "" {
		return usage.Errorf("there is no config.yaml yet; klawbot init writes one")
	}
	unlock, err := lockConfig(l.Source.File)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }() // the file was only read
	text, err := os.ReadFile(l.Source.File)
	if err != nil {
		return err
	}
	s := l.Source
	s.Redact = &redact.Set{}
	before, err := s.Parse(text)
	if err != nil {
		return err
	}
	if _, is := before.Tools.MCP[name]; is == there {
		if there {
			return usage.Errorf("there is an MCP server %s already; klawbot mcp remove %s takes it out", name, name)
		}
		return usage.Errorf("there is no MCP server %s; klawbot mcp list shows the ones there are", name)
	}
	changed, err := edit(text)
	if err != nil {
		return err
	}
	after, err := s.Parse(changed)
	if err != nil {
		return err // of the new server: the text was well before
	}
	_, is := after.Tools.MCP[name]
	delete(before.Tools.MCP, name)
	delete(after.Tools.MCP, name)
	if len(before.Tools.MCP) == 0 && len(after.Tools.MCP) == 0 {
		before.Tools.MCP, after.Tools.MCP = nil, nil
	}
	if is != there || !reflect.DeepEqual(before.Config, after.Config) {
		return errServerByHand
	}
	return replaceFile(l.Source.File, text, changed)
}
