package params

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// coerce fixes unambiguous mistakes of weak models: "5" for 5, 5.0 for 5,
// "true" for true, 5 for "5", one value for a list of one, and null for a parameter
// that is left out. Where the schema takes null it stays.
func (m fields) coerce(args map[string]any) {
	for name, v := range args {
		p, known := m.Properties[name]
		switch {
		case !known:
		case v == nil && !p.nullable() && !slices.Contains(m.Required, name):
			delete(args, name)
		default:
			args[name] = p.coerce(v)
		}
	}
}

func (p *property) coerce(v any) any {
	switch {
	case p == nil:
	case p.is("integer"):
		return toInteger(v)
	case p.is("number"):
		return toNumber(v)
	case p.is("boolean"):
		return toBoolean(v)
	case p.is("string"):
		if n, ok := v.(json.Number); ok {
			return n.String()
		}
	case p.is("array"):
		return p.toArray(v)
	case p.is("object"):
		if inner, ok := v.(map[string]any); ok {
			p.fields.coerce(inner)
		}
	}
	return v
}

func (p *property) toArray(v any) any {
	list, ok := v.([]any)
	if !ok {
		if v == nil || !p.Items.plain() {
			return v
		}
		list = []any{v}
	}
	fixed := make([]any, len(list))
	for i := range list {
		fixed[i] = p.Items.coerce(list[i])
	}
	return fixed
}

// plain reports whether a single value can be a list of one.
func (p *property) plain() bool {
	return p.is("string") || p.is("integer") || p.is("number") || p.is("boolean")
}

func toInteger(v any) any {
	n, ok := toNumber(v).(json.Number)
	if !ok {
		return v
	}
	r, ok := new(big.Rat).SetString(n.String())
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return v
	}
	return json.Number(r.Num().String())
}

func toNumber(v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	n := json.Number(strings.TrimSpace(text))
	if !json.Valid([]byte(n)) || !readable(n) {
		return v
	}
	if _, err := n.Float64(); err != nil {
		return v
	}
	return n
}

// readable reports whether arithmetic can take a number: 1e999999999 fills the memory.
func readable(n json.Number) bool {
	_, exponent, given := strings.Cut(strings.ToLower(n.String()), "e")
	e, err := strconv.Atoi(exponent)
	return len(n) <= 40 && (!given || err == nil && e > -400 && e < 400)
}

func toBoolean(v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true":
		return true
	case "false":
		return false
	}
	return v
}
