package markdown

import (
	"strings"
	"unicode/utf16"

	"klawbot/gateway"
)

// show writes parts with their entities inline, as "<bold>…</bold>", and "—8<—"
// between parts, so that a test reads as what a person sees.
func show(parts []gateway.Part) string {
	var all []string
	for _, p := range parts {
		all = append(all, showPart(p))
	}
	return strings.Join(all, "\n—8<—\n")
}

func showPart(p gateway.Part) string {
	units := utf16.Encode([]rune(p.Text))
	var b strings.Builder
	var open []gateway.Entity
	for i := 0; i <= len(units); i++ {
		for len(open) > 0 && open[len(open)-1].Offset+open[len(open)-1].Length == i {
			b.WriteString("</" + open[len(open)-1].Type + ">")
			open = open[:len(open)-1]
		}
		for _, e := range p.Entities {
			if e.Offset == i {
				b.WriteString("<" + strings.TrimSpace(e.Type+" "+e.URL+e.Language) + ">")
				open = append(open, e)
			}
		}
		if i == len(units) {
			break
		}
		n := 1
		if utf16.IsSurrogate(rune(units[i])) {
			n = 2
		}
		b.WriteString(string(utf16.Decode(units[i : i+n])))
		i += n - 1
	}
	return b.String()
}
