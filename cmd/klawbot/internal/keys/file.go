package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

var yamlLine = regexp.MustCompile(`line (\d+): `)

// tabbed is a line that a tab indents.
var tabbed = regexp.MustCompile(`^ *\t`)

// notText is where a file holds a byte that no text in UTF-8 has.
func notText(text []byte) (at int, ok bool) {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return 0, false // UTF-16, which the parser reads
	}
	for at < len(text) {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 || r == 0 {
			return at, true
		}
		at += n
	}
	return 0, false
}

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
		why := "invalid YAML: " + yamlLine.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "")
		if at, ok := notText(text); ok {
			line, why = bytes.Count(text[:at], []byte("\n"))+1, "isn't text in UTF-8; save the file as UTF-8"
		} else if lines := bytes.Split(text, []byte("\n")); 0 < line && line <= len(lines) && tabbed.Match(lines[line-1]) { // the parser counts \r, too
			why = "a tab indents this line; YAML needs spaces"
		}
		r.fault(&yaml.Node{Line: line}, nil, "%s", why)
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
