package tools

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"klawbot/tools/params"
)

// described is a tool's Markdown file in one language: the text for the model,
// then a blank line and a list of the parameters, "- path: what it is".
type described struct {
	description string
	parameters  map[string]string
}

var parameterLine = regexp.MustCompile(`^- ([A-Za-z_][A-Za-z0-9_]*): +(.+)$`)

// readTexts reads NAME.LANGUAGE.md in every language and puts the descriptions of the
// parameters into the schema. None may be missing.
func readTexts(fsys fs.FS, name string, s params.Struct) (map[string]Text, error) {
	texts := map[string]Text{}
	for _, language := range Languages() {
		file := name + "." + language + ".md"
		source, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		d, err := parseText(string(source))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		parameters, err := s.Describe(d.parameters)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		texts[language] = Text{Description: d.description, Parameters: parameters}
	}
	return texts, nil
}

func parseText(source string) (described, error) {
	source = strings.TrimSpace(source)
	d := described{description: source, parameters: map[string]string{}}
	head, last := "", source
	if i := strings.LastIndex(source, "\n\n"); i >= 0 {
		head, last = source[:i], source[i+2:]
	}
	if parameterLine.MatchString(strings.SplitN(last, "\n", 2)[0]) {
		d.description = strings.TrimSpace(head)
		if err := d.parse(last); err != nil {
			return d, err
		}
	}
	if d.description == "" {
		return d, fmt.Errorf("no description stands above the parameters")
	}
	return d, nil
}

// parse reads the list of parameters; an indented line continues the one above.
func (d *described) parse(list string) error {
	current := ""
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, "\n ")
		m := parameterLine.FindStringSubmatch(line)
		switch {
		case m != nil && d.parameters[m[1]] != "":
			return fmt.Errorf("parameter %s is described twice", m[1])
		case m != nil:
			current = m[1]
			d.parameters[current] = m[2]
		case strings.HasPrefix(line, "  "):
			d.parameters[current] += " " + strings.TrimSpace(line)
		default:
			return fmt.Errorf("%q is no parameter: write - name: text", line)
		}
	}
	return nil
}
