package keys

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// reference is what may stand between ${ and }.
var reference = regexp.MustCompile(`(?s)^([A-Za-z_][A-Za-z0-9_]*)(:-(.*))?$`)

// text is the scalar with ${NAME} and ${NAME:-default} replaced. As in a shell, the
// default also replaces an empty value, and $${ writes ${ itself.
func (r *Reader) text(n *yaml.Node) string {
	if !r.substitute {
		return n.Value
	}
	return r.expand(n, n.Value, maxNested)
}

// maxNested is how deep references may stand in the defaults of others.
const maxNested = 5

func (r *Reader) expand(n *yaml.Node, text string, nested int) string {
	var out strings.Builder
	for nested > 0 {
		start := strings.Index(text, "${")
		if start < 0 {
			break
		}
		if start > 0 && text[start-1] == '$' {
			out.WriteString(text[:start-1] + "${")
			text = text[start+2:]
			continue
		}
		length := closing(text[start+2:])
		if length < 0 {
			break // a text that happens to hold ${
		}
		out.WriteString(text[:start])
		out.WriteString(r.variable(n, text[start+2:start+2+length], nested))
		text = text[start+2+length+1:]
	}
	out.WriteString(text)
	return out.String()
}

// closing is where the } of a reference stands, -1 for nowhere. References nest.
func closing(text string) int {
	depth := 0
	for i := range len(text) {
		switch {
		case text[i] == '{' && i > 0 && text[i-1] == '$':
			depth++
		case text[i] == '}' && depth == 0:
			return i
		case text[i] == '}':
			depth--
		}
	}
	return -1
}

// variable is the value of what stands between ${ and }. What cannot be replaced is
// noted: sent to a server, it would only be refused there.
func (r *Reader) variable(n *yaml.Node, inside string, nested int) string {
	m := reference.FindStringSubmatch(inside)
	if m == nil {
		r.note(n, "${%.80s} is left as it is: only ${NAME} and ${NAME:-text} are replaced. For a literal ${ write $${", inside)
		return "${" + inside + "}"
	}
	value, set := r.Lookup(m[1])
	switch {
	case value != "":
		return value
	case m[2] != "":
		return r.expand(n, m[3], nested-1)
	case !set:
		r.note(n, "the variable %s is not set, so ${%[1]s} is empty. Set it, or write $${ for a literal ${", m[1])
	}
	return ""
}

func (r *Reader) note(n *yaml.Node, format string, args ...any) {
	r.addNote(r.where(n), r.at, fmt.Sprintf(format, args...))
}

// filled is a copy of the node with its texts replaced.
func (r *Reader) filled(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	out := *n
	if n.Kind == yaml.ScalarNode {
		if out.Value = r.text(n); out.Value != n.Value && n.Style == 0 {
			out.Tag = "" // it may be a number now
		}
	}
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		out.Content[i] = c
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			out.Content[i] = r.filled(c)
		}
	}
	return &out
}

// Trim takes off what copying and files leave around a value: blanks, line breaks and
// invisible characters. None of them means anything at the ends of a value.
func Trim(text string) string {
	return strings.TrimFunc(text, func(c rune) bool { return unicode.IsSpace(c) || unicode.In(c, unicode.Cf, unicode.Cc) })
}

// TrimSecret is Trim for keys and tokens, which have no quotes around them either:
// docker --env-file keeps those of KEY="value".
func TrimSecret(text string) string {
	text = Trim(text)
	for _, pair := range []string{`""`, "''", "``", "“”", "„“", "«»"} {
		quotes := []rune(pair)
		opening, closing := string(quotes[0]), string(quotes[1])
		if inner, ok := strings.CutPrefix(text, opening); ok && len(inner) > len(closing) && strings.HasSuffix(inner, closing) {
			return Trim(strings.TrimSuffix(inner, closing))
		}
	}
	return text
}
