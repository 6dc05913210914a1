package protocol

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a string that may come as a number, a truth value, an object (then it
// is its JSON) or null (then it is empty). It may end with half a character, whose
// other half comes with the next piece of a stream: package speech joins them.
type Text string

// UnmarshalJSON accepts any JSON.
func (t *Text) UnmarshalJSON(raw []byte) error {
	switch {
	case raw[0] == '"':
		*t = Text(unquote(raw[1 : len(raw)-1]))
	case string(raw) == "null":
		*t = ""
	default:
		var compact bytes.Buffer
		if err := json.Compact(&compact, raw); err != nil {
			return err
		}
		*t = Text(compact.String())
	}
	return nil
}

// escapes are the short escapes of JSON strings.
var escapes = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unquote reads the inside of a valid JSON string. Unlike json.Unmarshal it keeps
// halves of characters: half a surrogate pair as three bytes, and bytes as they are.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' || i+1 == len(raw) {
			out = append(out, c)
			continue
		}
		i++
		if raw[i] == 'u' && i+4 < len(raw) {
			unit, _ := strconv.ParseUint(string(raw[i+1:i+5]), 16, 16) // JSON has four digits there
			out = appendUnit(out, rune(unit))
			i += 4
			continue
		}
		if short, ok := escapes[raw[i]]; ok {
			out = append(out, short)
		} else {
			out = append(out, raw[i])
		}
	}
	return string(out)
}

// appendUnit appends a UTF-16 unit. Half a surrogate pair is written as three
// bytes, which is not valid UTF-8 until it is joined with the other half.
func appendUnit(out []byte, unit rune) []byte {
	if !utf16.IsSurrogate(unit) {
		return utf8.AppendRune(out, unit)
	}
	return append(out, 0xE0|byte(unit>>12), 0x80|byte(unit>>6)&0x3F, 0x80|byte(unit)&0x3F)
}

// Count is a number of tokens that may be missing.
type Count struct {
	N     int
	Known bool
}

// UnmarshalJSON accepts a number, also as a string; anything else is missing.
func (c *Count) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err == nil && f >= 0 && f < 1e12 {
		*c = Count{int(f), true}
	}
	return nil
}

// Quote is a string as JSON.
func Quote(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // a string always marshals
	return raw
}

// Extend adds fields to a JSON object, over those that it has.
func Extend(body []byte, fields map[string]json.RawMessage) ([]byte, error) {
	if len(fields) == 0 {
		return body, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	for name, value := range fields {
		object[name] = value
	}
	return json.Marshal(object)
}
