package tools

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"klawbot/tools/choice"
	"klawbot/tools/params"
)

// described is a tool's Markdown file in one language: the text for the model,
// then a blank line and a list of the parameters, "- path: what it is".
type described struct {
	description string
	parameters  map[string]string
}

var (
	parameterLine = regexp.MustCompile(`^- ([A-Za-z_][A-Za-z0-9_]*): +(.+)$`)
	shortLine     = regexp.MustCompile(`^- ([A-Za-z_][A-Za-z0-9_]*)(?:: +(.+))?$`)
)

// The headings below which a file holds the short form of a tool and the words by which
// people ask for it.
const (
	shortHeading = "\n## Short\n"
	wordsHeading = "\n## Words\n"
)

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
		if texts[language], err = readText(string(source), s); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return texts, nil
}

// readText reads one file. The short form and the words may be missing.
func readText(source string, s params.Struct) (t Text, err error) {
	source, words, hasWords := strings.Cut(source, wordsHeading)
	source, short, hasShort := strings.Cut(source, shortHeading)
	d, err := parseText(source)
	if err != nil {
		return t, err
	}
	t.Description = d.description
	if t.Parameters, err = s.Describe(d.parameters); err != nil {
		return t, err
	}
	if hasShort {
		if t.Short, t.ShortParameters, err = readShort(short, s); err != nil {
			return t, err
		}
	}
	if hasWords {
		t.Words, err = choice.ParseWords(words)
	}
	t.Keywords = choice.ReadKeywords(append(t.Words.Vocabulary(), t.Description, t.Short)...)
	return t, err
}

// readShort reads a short form: a sentence, then the parameters that are shown, each
// with a text where its name does not say what it is.
func readShort(source string, s params.Struct) (text string, parameters json.RawMessage, err error) {
	text, list, _ := strings.Cut(strings.TrimSpace(source), "\n\n")
	shown := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(list), "\n") {
		m := shortLine.FindStringSubmatch(line)
		if m == nil && line != "" {
			return "", nil, fmt.Errorf("%q is no parameter: write - name or - name: text", line)
		}
		if m != nil {
			shown[m[1]] = m[2]
		}
	}
	parameters, err = s.Short(shown)
	return text, parameters, err
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
