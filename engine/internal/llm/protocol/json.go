package protocol

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Text is a string that may come as a number, a truth value, an object (then it
// is its JSON) or null (then it is empty).
type Text string

// UnmarshalJSON accepts any JSON.
func (t *Text) UnmarshalJSON(raw []byte) error {
	switch {
	case raw[0] == '"':
		return json.Unmarshal(raw, (*string)(t))
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
