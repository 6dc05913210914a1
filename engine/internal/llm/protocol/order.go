package protocol

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// order is where each name of an object first stands in a text. Servers that
// make a grammar of a schema want arguments in the order of its properties.
type order map[string]int

func orderOf(source []byte) order {
	o := order{}
	o.read(json.NewDecoder(bytes.NewReader(source)))
	return o
}

// read notes the names in the next value. The text was decoded before, so it is
// whole and not too deep.
func (o order) read(dec *json.Decoder) {
	token, err := dec.Token()
	open, nested := token.(json.Delim)
	if err != nil || !nested {
		return
	}
	for dec.More() {
		if open == '{' {
			name, err := dec.Token()
			if err != nil {
				return
			}
			if _, known := o[name.(string)]; !known {
				o[name.(string)] = len(o)
			}
		}
		o.read(dec)
	}
	_, _ = dec.Token() // the end of the list or object
}

// write writes a decoded value with the names of its objects in this order, and
// those that are not known behind them.
func (o order) write(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case map[string]any:
		b.WriteByte('{')
		for i, name := range slices.SortedFunc(maps.Keys(v), o.compare) {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := o.write(b, name); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := o.write(b, v[name]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := o.write(b, v[i]); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	default:
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		b.Write(text)
	}
	return nil
}

func (o order) compare(a, b string) int {
	place := func(name string) int {
		if at, known := o[name]; known {
			return at
		}
		return len(o)
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
}
