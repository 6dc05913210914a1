package protocol

import (
	"encoding/json"
	"maps"
	"slices"
)

// CallExtra are the fields of a call that mean something to its provider only, such as
// signatures: those of the call, and those of its function. They go back as they came.
type CallExtra struct {
	Call     map[string]json.RawMessage `json:"call,omitempty"`
	Function map[string]json.RawMessage `json:"function,omitempty"`
}

// ReadCallExtra reads a call, of a stream or whole. known are the fields that are no
// extra, beside those of every call.
func ReadCallExtra(call []byte, known ...string) CallExtra {
	var inner struct {
		Function json.RawMessage `json:"function"`
	}
	_ = json.Unmarshal(call, &inner) // a call of another form has no function
	return CallExtra{unknown(call, append(known, "index", "id", "type", "function")), unknown(inner.Function, []string{"name", "arguments", "index"})}
}

// unknown are the members of a JSON object beside those that are known, nil for none.
func unknown(object []byte, known []string) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &all) != nil {
		return nil
	}
	maps.DeleteFunc(all, func(name string, value json.RawMessage) bool {
		return slices.Contains(known, name) || string(value) == "null"
	})
	if len(all) == 0 {
		return nil
	}
	return all
}

// Add takes in what a piece of a stream brings.
func (e *CallExtra) Add(more CallExtra) {
	if e.Call == nil {
		e.Call = more.Call
	}
	if e.Function == nil {
		e.Function = more.Function
	}
	maps.Copy(e.Call, more.Call)
	maps.Copy(e.Function, more.Function)
}

// Raw is what is stored.
func (e CallExtra) Raw() json.RawMessage {
	if e.Call == nil && e.Function == nil {
		return nil
	}
	raw, _ := json.Marshal(e) // it was JSON before
	return raw
}

// StoredExtra reads what Raw wrote. Older rows hold the value of extra_content.
func StoredExtra(raw json.RawMessage) (e CallExtra) {
	if json.Unmarshal(raw, &e) == nil && e.Call == nil && e.Function == nil && len(raw) > 0 && string(raw) != "null" {
		e.Call = map[string]json.RawMessage{"extra_content": raw}
	}
	return e
}

// Into adds the fields to a call.
func (e CallExtra) Into(call []byte) ([]byte, error) {
	if len(e.Function) > 0 {
		var known struct {
			Function json.RawMessage `json:"function"`
		}
		if err := json.Unmarshal(call, &known); err != nil {
			return nil, err
		}
		function, err := Extend(known.Function, e.Function)
		if err != nil {
			return nil, err
		}
		if call, err = Extend(call, map[string]json.RawMessage{"function": function}); err != nil {
			return nil, err
		}
	}
	return Extend(call, e.Call)
}
