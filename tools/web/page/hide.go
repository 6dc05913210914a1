package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxMatches bounds the comparisons of elements with selectors.
const maxMatches = 5_000_000

// muchHidden is how much text any page may hide, in bytes.
const muchHidden = 2000

// cascade finds what style sheets and styles hide. As in a browser, important declarations
// win, then the element's own style, then the more specific rule, then the later one.
type cascade struct {
	rules  []rule
	levels []*level     // by depth
	gone   []*html.Node // the hidden nodes
	hidden int          // bytes of their text
}

// steps are the matching parts of a selector, as bits.
type steps = uint16

// level is which steps of each rule match around an element.
type level struct {
	above  []steps // an ancestor
	parent []steps
	before []steps // a sibling before it
	next   []steps // the sibling right before it
	here   []steps // the element itself
}

// unsightly removes what styles hide. Scripts show a page that hides nearly all of its
// text: then only the styles of its elements count.
func unsightly(doc *html.Node) {
	sheets, work, text := survey(doc)
	rules := parseSheets(sheets)
	parts := 0
	for _, r := range rules {
		parts += len(r.parts)
	}
	if parts*work > maxMatches {
		rules = nil
	}
	c := &cascade{rules: rules}
	c.walk(doc, 0, state{})
	if c.hidden > muchHidden && len(rules) > 0 {
		own := &cascade{}
		own.walk(doc, 0, state{})
		if (c.hidden-own.hidden)*10 > (text-own.hidden)*9 {
			c = own
		}
	}
	for _, n := range c.gone {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

// survey returns the style sheets of a page, the cost of one comparison with all its
// elements, and the bytes of its text.
func survey(doc *html.Node) (sheets []string, work, text int) {
	for n := range doc.Descendants() {
		switch {
		case n.Type == html.TextNode && (n.Parent == nil || !dropped[n.Parent.DataAtom]):
			text += len(strings.TrimSpace(n.Data))
		case n.Type == html.ElementNode:
			length := 0
			for _, a := range n.Attr {
				length += len(a.Val)
			}
			work += 1 + length/256
			if n.DataAtom == atom.Style && sighted(n) {
				sheets = append(sheets, textOf(n))
			}
		}
	}
	return sheets, work, text
}

// sighted reports whether a style element is for screens.
func sighted(n *html.Node) bool {
	for _, a := range n.Attr {
		switch value := strings.ToLower(strings.TrimSpace(a.Val)); a.Key {
		case "media":
			if value != "" && !strings.Contains(value, "screen") && !strings.Contains(value, "all") {
				return false
			}
		case "type":
			if value != "" && value != "text/css" {
				return false
			}
		}
	}
	return true
}

// state is what an element passes on to its descendants.
type state struct {
	invisible, tiny bool
}

// walk visits the children of a node.
func (c *cascade) walk(n *html.Node, depth int, s state) {
	if depth == len(c.levels) {
		c.levels = append(c.levels, newLevel(len(c.rules)))
	}
	at := c.levels[depth]
	clear(at.before)
	clear(at.next)
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch child.Type {
		case html.TextNode:
			if s.invisible || s.tiny {
				c.hide(child)
			}
		case html.ElementNode:
			c.element(child, depth, s)
		}
	}
}

// element decides about an element and its descendants.
func (c *cascade) element(n *html.Node, depth int, s state) {
	at := c.levels[depth]
	c.match(n, at)
	own := c.style(n, at.here)
	switch {
	case n.DataAtom == atom.Head:
		return
	case n.DataAtom == atom.Html || n.DataAtom == atom.Body:
		own = [properties]verdict{} // a page is visible
	}
	if own[display].hides() || own[opacity].hides() {
		c.hide(n)
	} else {
		s.invisible = own[visibility].or(s.invisible)
		s.tiny = own[fontSize].or(s.tiny)
		if s.invisible && n.FirstChild == nil {
			c.hide(n) // a picture, whose description would be shown
		}
		c.descend(n, depth, s)
	}
	for i, found := range at.here {
		at.before[i] |= found
	}
	at.next, at.here = at.here, at.next
}

// descend visits the children of an element.
func (c *cascade) descend(n *html.Node, depth int, s state) {
	if n.FirstChild == nil {
		return
	}
	if depth+1 == len(c.levels) {
		c.levels = append(c.levels, newLevel(len(c.rules)))
	}
	at, below := c.levels[depth], c.levels[depth+1]
	copy(below.parent, at.here)
	for i := range below.above {
		below.above[i] = at.above[i] | at.here[i]
	}
	c.walk(n, depth+1, s)
}

func newLevel(rules int) *level {
	all := make([]steps, 5*rules)
	cut := func(i int) []steps { return all[i*rules : (i+1)*rules : (i+1)*rules] }
	return &level{above: cut(0), parent: cut(1), before: cut(2), next: cut(3), here: cut(4)}
}

// match finds the steps of each rule that match an element.
func (c *cascade) match(n *html.Node, at *level) {
	for i, r := range c.rules {
		var found steps
		for j, p := range r.parts {
			if j > 0 && at.found(i, p.lies)&(1<<(j-1)) == 0 {
				continue
			}
			if p.is.Match(n) {
				found |= 1 << j
			}
		}
		at.here[i] = found
	}
}

// found is which steps of a rule match where a combinator looks.
func (l *level) found(rule int, lies byte) steps {
	switch lies {
	case '>':
		return l.parent[rule]
	case '+':
		return l.next[rule]
	case '~':
		return l.before[rule]
	}
	return l.above[rule]
}

// verdict is the declaration that counts for a property of an element.
type verdict struct {
	declaration
	said bool
	own  bool // the style of the element itself
	rule *rule
}

func (v verdict) hides() bool { return v.said && v.declaration.hides }

// or reports whether it hides, or else the inherited value.
func (v verdict) or(around bool) bool {
	if v.said && !v.inherits {
		return v.declaration.hides
	}
	return around
}

// style is the winning declarations of an element.
func (c *cascade) style(n *html.Node, found []steps) (all [properties]verdict) {
	for i := range c.rules {
		r := &c.rules[i]
		if found[i]&(1<<(len(r.parts)-1)) == 0 {
			continue
		}
		for _, d := range r.says {
			all[d.property].take(verdict{declaration: d, said: true, rule: r})
		}
	}
	for _, a := range n.Attr {
		if a.Key == "style" {
			for _, d := range parseStyle(a.Val) {
				all[d.property].take(verdict{declaration: d, said: true, own: true})
			}
		}
	}
	return all
}

// take replaces the declaration by a later one, unless it wins.
func (v *verdict) take(w verdict) {
	switch {
	case !v.said:
	case v.important != w.important:
		if v.important {
			return
		}
	case v.own != w.own:
		if v.own {
			return
		}
	case v.rule != nil && w.rule != nil && w.rule.specificity.Less(v.rule.specificity):
		return
	}
	*v = w
}

// hide adds a hidden node.
func (c *cascade) hide(n *html.Node) {
	c.gone = append(c.gone, n)
	if n.Type == html.TextNode {
		c.hidden += len(strings.TrimSpace(n.Data))
		return
	}
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !dropped[d.Parent.DataAtom] {
			c.hidden += len(strings.TrimSpace(d.Data))
		}
	}
}
