package protocol

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
)

// order is the position at which each name of an object first appears. Servers that
// make a grammar of a schema make the model write the arguments in this order.
type order map[string]int

var memberName = regexp.MustCompile(`("(?:[^"\\]|\\.)*")\s*:`)

func orderOf(source []byte) order {
	o := order{}
	for _, m := range memberName.FindAllSubmatch(source, -1) {
		var name string
		if json.Unmarshal(m[1], &name) == nil && o[name] == 0 {
			o[name] = len(o) + 1
		}
	}
	return o
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
			b.Write(Quote(name))
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
		b.Write(text)
		return err
	}
	return nil
}

func (o order) compare(a, b string) int {
	place := func(name string) int { return cmp.Or(o[name], len(o)+1) }
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
}
