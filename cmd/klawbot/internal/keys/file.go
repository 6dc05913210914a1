package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var yamlLine = regexp.MustCompile(`line (\d+): `)

// File reads the text of a file, which errors name as shown.
func (r *Reader) File(shown string, text []byte) Tree {
	r.where = func(n *yaml.Node) string { return fmt.Sprintf("%s:%d", shown, n.Line) }
	r.substitute = true
	defer func() { r.substitute = false }()

	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return Tree{}
	}
	if err == nil {
		var second yaml.Node
		if err := dec.Decode(&second); err == nil {
			r.fault(&second, nil, "a second document begins here; keep one, without \"---\" in between")
		}
	}
	if err != nil {
		line := 1
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			line, _ = strconv.Atoi(m[1]) // digits, by the pattern
		}
		why := yamlLine.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "")
		r.fault(&yaml.Node{Line: line}, nil, "invalid YAML: %s", why)
		return Tree{}
	}
	if len(doc.Content) == 0 {
		return Tree{}
	}
	if v, ok := r.whole(doc.Content[0], r.Keys, nil); ok {
		return v.(Tree)
	}
	return Tree{}
}
