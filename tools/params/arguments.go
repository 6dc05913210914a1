package params

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"klawbot/internal/clip"
	"klawbot/tools/budget"
)

// Arguments turns what a model sent into what a tool gets: defaults filled in,
// harmless slips fixed, all faults named at once. written is how many bytes the
// model wrote. args is changed.
func (s *Schema) Arguments(args map[string]any, written int) (json.RawMessage, error) {
	s.coerce(args)
	s.fill(args)
	if !s.weighed.affords(args, written) {
		return nil, fmt.Errorf("the arguments are %w; send fewer or smaller values", budget.ErrTooComplex)
	}
	if faults := s.faults(args); len(faults) > 0 {
		return nil, errors.New(strings.Join(faults, "; "))
	}
	return json.Marshal(args)
}

// Parse reads a JSON object. Blank text is an empty one, and an object
// that was quoted as a string is unpacked, as weak models send both.
func Parse(written json.RawMessage) (map[string]any, error) {
	text := strings.TrimSpace(string(written))
	if text == "" || text == "null" {
		return map[string]any{}, nil
	}
	v, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	if s, ok := v.(string); ok {
		if v, err = parseJSON(strings.TrimSpace(s)); err != nil {
			return nil, errors.New(`arguments must be a JSON object, such as {"path": "notes.md"}, not a string`)
		}
	}
	args, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf(`arguments must be a JSON object, such as {"path": "notes.md"}, not %s`, kindOf(v))
	}
	return args, nil
}

func parseJSON(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, malformed(text, err)
	}
	if rest := strings.TrimSpace(text[d.InputOffset():]); rest != "" {
		return nil, fmt.Errorf("malformed JSON arguments: more text after the object: %s", clip.Runes(rest, 40))
	}
	return v, checkNumbers(v)
}

// checkNumbers refuses the first number that is out of range.
func checkNumbers(v any) error {
	switch v := v.(type) {
	case json.Number:
		if !readable(v) {
			return fmt.Errorf("the number %s is out of range", clip.Runes(v.String(), 40))
		}
	case []any:
		for _, item := range v {
			if err := checkNumbers(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, item := range v {
			if err := checkNumbers(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// malformed quotes the place where the JSON breaks.
func malformed(text string, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return fmt.Errorf("malformed JSON arguments: %w: the text ends too early after %q", err, clip.Tail(text, 40))
	}
	at := min(int(syntax.Offset), len(text))
	return fmt.Errorf("malformed JSON arguments: %w, after %q", err, clip.Tail(strings.ToValidUTF8(text[:at], ""), 40))
}

// fill adds the defaults of what is not given.
func (s *Schema) fill(args map[string]any) {
	for name, p := range s.Properties {
		if _, given := args[name]; !given && p.value != nil {
			args[name] = p.value
		}
	}
}

// Given returns arguments without the flags and numbers that equal their defaults. A word,
// such as a mode, says what happens, and stays.
func (s *Schema) Given(arguments json.RawMessage) json.RawMessage {
	args, err := Parse(arguments)
	if err != nil {
		return arguments
	}
	maps.DeleteFunc(args, func(name string, value any) bool {
		word, _ := value.(string)
		return word == "" && value != nil && reflect.DeepEqual(s.Properties[name].value, value)
	})
	given, err := json.Marshal(args)
	if err != nil || len(args) == 0 { // a person has to read something
		return arguments
	}
	return given
}

// kindOf is the JSON type of a decoded value.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}
