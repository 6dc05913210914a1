package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// noArguments are the arguments of a call without any.
const noArguments = "{}"

// CheckArguments says what is wrong with the arguments of a call: nil for a
// JSON object. Its text is for the model.
func CheckArguments(arguments string) error {
	var object map[string]json.RawMessage
	err := json.Unmarshal([]byte(arguments), &object)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("the arguments are a JSON %s, not an object", wrong.Value)
	case err != nil:
		return fmt.Errorf("the arguments are not valid JSON: %w", err)
	case object == nil:
		return errors.New("the arguments are null, not an object")
	}
	return nil
}

// clean makes text valid UTF-8. Half a surrogate pair is
// not valid either.
func clean(text string) string { return strings.ToValidUTF8(text, replacement) }

// cleanArguments makes arguments a JSON object that every provider takes. Anything
// else becomes {}: the result of the call told the model what was wrong.
func cleanArguments(arguments string) string {
	arguments = fixSurrogates(clean(arguments))
	if CheckArguments(arguments) != nil {
		return noArguments
	}
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(arguments)) != nil {
		return noArguments
	}
	return compact.String()
}

// fixSurrogates replaces \u escapes of half a surrogate pair, which is what a
// cut emoji leaves behind. Go passes them on and other parsers refuse them.
func fixSurrogates(s string) string {
	if !strings.Contains(s, `\u`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		unit, ok := escapedUnit(s[i:])
		switch {
		case s[i] == '\\' && !ok:
			n := min(2, len(s)-i)
			b.WriteString(s[i : i+n])
			i += n
		case !ok:
			b.WriteByte(s[i])
			i++
		case isHigh(unit) && followedByLow(s[i+6:]):
			b.WriteString(s[i : i+12])
			i += 12
		case isHigh(unit) || isLow(unit):
			b.WriteString(`\ufffd`)
			i += 6
		default:
			b.WriteString(s[i : i+6])
			i += 6
		}
	}
	return b.String()
}

// escapedUnit reads the \uXXXX that s begins with.
func escapedUnit(s string) (uint64, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(s[2:6], 16, 16)
	return unit, err == nil
}

func followedByLow(s string) bool {
	unit, ok := escapedUnit(s)
	return ok && isLow(unit)
}

func isHigh(unit uint64) bool { return unit >= 0xD800 && unit < 0xDC00 }

func isLow(unit uint64) bool { return unit >= 0xDC00 && unit < 0xE000 }
