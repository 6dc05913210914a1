package main

import (
	"encoding/json"
	"errors"
	"regexp"

	"github.com/goccy/go-yaml/ast"

	"klawbot/cmd/klawbot/internal/config"
)

// errValueByHand means that a value is written in a way that the editor leaves
// alone.
var errValueByHand = errors.New("config.yaml is written in a way that cannot be edited safely here; the owner changes it by hand")

// editValue returns the text of config.yaml with one plain value set. Everything
// else stays as it is, byte for byte.
func editValue(text []byte, path []string, value string) ([]byte, error) {
	doc, err := parseDocument(text)
	if err != nil {
		return nil, errValueByHand
	}
	node, err := doc.ensure(path, value)
	if err != nil {
		return nil, errValueByHand
	}
	if err := doc.replace(node, value); err != nil {
		return nil, err
	}
	return doc.text, nil
}

// replace writes a value where another one stands.
func (d *document) replace(n ast.Node, value string) error {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
	default:
		return errValueByHand
	}
	at, err := d.place(n.GetToken())
	if _, null := n.(*ast.NullNode); err != nil && null {
		// Nothing is written there.
		at, err = d.colon(d.above)
		value = " " + value
	}
	if err != nil {
		return errValueByHand
	}
	d.splice(at, value)
	return nil
}

var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./+-]*$`)

// yamlWords are texts that mean something else when they stand without quotes.
var yamlWords = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|y|n|null)$`)

// yamlValue is a value as it is written in the file. The error says what the
// key takes.
func yamlValue(value string, leaf *config.Key) (string, error) {
	if leaf.IsText() && plainText.MatchString(value) && !yamlWords.MatchString(value) {
		return value, nil
	}
	v, err := leaf.PlainValue(value)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(v)
	return string(b), err
}
