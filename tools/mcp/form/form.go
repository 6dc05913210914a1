// Package form asks a person for what an MCP server wants to know, field by field.
package form

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"klawbot/tools"
	"klawbot/tools/mcp/shown"
)

// The bounds of a form.
const (
	maxFields  = 20
	maxOptions = 50
	// maxButtons is how many options are buttons; more are written.
	maxButtons = 12
	// maxLabel is how many characters of an option are shown.
	maxLabel = 40
)

// Form is what a server wants to know: the fields that must be there first, in
// the server's order, then the others by name.
type Form []field

// field is one thing that a server wants to know.
type field struct {
	name     string
	required bool
	property
	options []option // of a field that has a list to choose from
	several bool     // of which some are chosen
}

type property struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Default     any      `json:"default"`
	Format      string   `json:"format"`
	Pattern     string   `json:"pattern"`
	MinLength   *int     `json:"minLength"`
	MaxLength   *int     `json:"maxLength"`
	Minimum     *float64 `json:"minimum"`
	Maximum     *float64 `json:"maximum"`
	MinItems    *int     `json:"minItems"`
	MaxItems    *int     `json:"maxItems"`
	choices
	EnumNames []string `json:"enumNames"`
	Items     *choices `json:"items"`
}

// choices are the ways in which a schema lists what there is to choose from.
type choices struct {
	Enum  []string   `json:"enum"`
	OneOf []constant `json:"oneOf"`
	AnyOf []constant `json:"anyOf"`
}

type constant struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

type option struct{ value, label string }

// Read reads the schema of a form, which is flat.
func Read(schema any) (Form, error) {
	var f struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("read the form: %w", err)
	}
	if len(f.Properties) > maxFields {
		return nil, fmt.Errorf("the form has more than %d fields", maxFields)
	}
	var names []string
	for _, name := range f.Required {
		if _, ok := f.Properties[name]; !ok {
			return nil, fmt.Errorf("the form requires %q and does not describe it", name)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	required := len(names)
	for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	all := make(Form, len(names))
	for i, name := range names {
		d := field{name: name, required: i < required, property: f.Properties[name]}
		if err := d.read(); err != nil {
			return nil, fmt.Errorf("the field %q: %w", name, err)
		}
		all[i] = d
	}
	return all, nil
}

func (d *field) read() error {
	switch d.Type {
	case "boolean", "number", "integer":
	case "string":
		d.options = d.list(d.EnumNames)
	case "array":
		if d.Items == nil {
			return errors.New("a list of unknown things")
		}
		d.several, d.options = true, d.Items.list(nil)
		if len(d.options) == 0 {
			return errors.New("a list of unknown things")
		}
	default:
		return fmt.Errorf("the type %q is none of a form", d.Type)
	}
	if len(d.options) > maxOptions {
		return fmt.Errorf("more than %d options", maxOptions)
	}
	return nil
}

func (c choices) list(names []string) []option {
	var all []option
	for i, value := range c.Enum {
		label := value
		if i < len(names) {
			label = names[i]
		}
		all = append(all, option{value, label})
	}
	for _, o := range slices.Concat(c.OneOf, c.AnyOf) {
		all = append(all, option{o.Const, cmp.Or(o.Title, o.Const)})
	}
	return all
}

// optional reports whether the form can be left as it is.
func (f Form) optional() bool {
	return !slices.ContainsFunc(f, func(d field) bool { return d.required && d.Default == nil })
}

// defaults shows what the form says when it is left as it is.
func (f Form) defaults() string {
	lines := make([]string, len(f))
	for i, d := range f {
		lines[i] = d.title() + ": " + cmp.Or(d.kept(), "–")
	}
	return strings.Join(lines, "\n")
}

// secretField finds fields for secrets: the protocol forbids servers to ask for
// them.
var secretField = regexp.MustCompile(`(?i)pass(?:word|wd|code|phrase)|\bpwd\b|secret|token(?:$|[^s])|api[ _-]?key|private[ _-]?key|access[ _-]?key|credential|\b(?:pin|cvv|cvc|otp|ssn|iban)\b|(?:credit|card)[ _-]?(?:card|number)`)

// Secret is the name of a field for something that no server gets, "" for none.
func (f Form) Secret() string {
	for _, d := range f {
		written := d.Type != "boolean" && len(d.options) == 0
		if written && (secretField.MatchString(d.name) || secretField.MatchString(d.Title) || d.Format == "password") {
			return shown.Text(d.name, maxLabel)
		}
	}
	return ""
}

func (d field) title() string { return shown.Line(cmp.Or(d.Title, d.name), shown.MaxPart) }

// kept is the default as it is shown, "" for none.
func (d field) kept() string {
	switch v := d.Default.(type) {
	case nil:
		return ""
	case string:
		return shown.Text(d.label(v), shown.MaxPart)
	case []any:
		names := make([]string, len(v))
		for i := range v {
			names[i] = d.label(fmt.Sprint(v[i]))
		}
		return shown.Text(strings.Join(names, ", "), shown.MaxPart)
	default:
		text, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return shown.Text(string(text), shown.MaxPart)
	}
}

func (d field) label(value string) string {
	for _, o := range d.options {
		if o.value == value {
			return o.label
		}
	}
	return value
}

// keep puts the default, if there is one, into content.
func (d field) keep(content map[string]any) {
	if d.Default != nil {
		content[d.name] = d.Default
	}
}

// buttons reports whether one of the field's options is chosen by a button.
func (d field) buttons() bool {
	return len(d.options) > 0 && !d.several && len(d.options) <= maxButtons
}

// question asks for the field. Behind the options of its own stand those to keep
// the default, or else to leave it out.
func (d field) question() tools.Question {
	q := tools.Question{Field: d.about(), Usual: -1}
	switch {
	case d.Type == "boolean":
		q.Options = []tools.Option{{Word: tools.WordYes}, {Word: tools.WordNo}}
		if d.required && d.Default == nil {
			q.Usual = 0
		}
	case d.buttons():
		for _, o := range d.options {
			q.Options = append(q.Options, tools.Option{Text: shown.Line(o.label, maxLabel)})
		}
	default:
		q.Typed = true
	}
	switch {
	case d.Default != nil:
		q.Usual = len(q.Options)
		q.Options = append(q.Options, tools.Option{Word: tools.WordKeep, Text: shown.Line(d.kept(), maxLabel)})
	case !d.required:
		q.Usual = len(q.Options)
		q.Options = append(q.Options, tools.Option{Word: tools.WordSkip})
	}
	return q
}

// about says what the field is and how an answer must look.
func (d field) about() string {
	first := d.title()
	if hint := d.hint(); hint != "" {
		first += " (" + hint + ")"
	}
	lines := []string{first}
	if d.Description != "" {
		lines = append(lines, shown.Text(d.Description, shown.MaxPart))
	}
	if len(d.options) > 0 && !d.buttons() {
		for i, o := range d.options {
			lines = append(lines, fmt.Sprintf("%d. %s", i+1, shown.Line(o.label, maxLabel)))
		}
	}
	return strings.Join(lines, "\n")
}

// hint is the form of an answer in the schema's own words.
func (d field) hint() string {
	var parts []string
	add := func(format string, v any) { parts = append(parts, fmt.Sprintf(format, v)) }
	switch {
	case d.Type == "number" || d.Type == "integer":
		add("%s", d.Type)
	case d.Format != "":
		add("%s", shown.Text(d.Format, maxLabel))
	case d.several:
		add("%s", "1, 2, …")
	}
	if d.Minimum != nil {
		add("≥ %v", *d.Minimum)
	}
	if d.Maximum != nil {
		add("≤ %v", *d.Maximum)
	}
	return strings.Join(parts, ", ")
}
