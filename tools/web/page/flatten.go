package page

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Markdown can be much larger than its page: spanned and missing cells of tables count,
// and each line of nested quotations and lists is indented.
const (
	maxCells   = 100_000
	maxIndents = 12
)

// flatten makes plain blocks of tables, quotations and lists that are too large.
func flatten(doc *html.Node) {
	cells := 0
	var rows, indented []*html.Node
	for n := range doc.Descendants() {
		switch n.DataAtom {
		case atom.Table:
			if more := cellsOf(n); cells+more <= maxCells {
				cells += more
			} else {
				rows = append(rows, n)
			}
		case atom.Blockquote, atom.Ul, atom.Ol, atom.Dl:
			if indents(n) > maxIndents {
				indented = append(indented, n)
			}
		}
	}
	for _, n := range rows {
		unrow(n)
	}
	for _, n := range indented {
		n.DataAtom, n.Data = atom.Div, "div"
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom == atom.Li {
				c.DataAtom, c.Data = atom.Div, "div"
			}
		}
	}
}

// indents is how many quotations and lists a node is in.
func indents(n *html.Node) (depth int) {
	for ; n != nil; n = n.Parent {
		switch n.DataAtom {
		case atom.Blockquote, atom.Ul, atom.Ol, atom.Dl:
			depth++
		}
	}
	return depth
}

// cellsOf is the number of cells of a table in Markdown, all rows as wide as the widest.
func cellsOf(table *html.Node) int {
	var ends []int // how many columns end before each row
	rows, open, width := 0, 0, 0
	last := 0
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Tr:
			if rows < len(ends) {
				open -= ends[rows]
			}
			rows++
		case atom.Td, atom.Th:
			columns, down := span(n, "colspan"), span(n, "rowspan")
			end := max(rows-1, 0) + down
			for len(ends) <= end {
				ends = append(ends, 0)
			}
			ends[end] += columns
			open += columns
			width, last = max(width, open), max(last, end)
		}
	}
	return max(rows, last) * width
}

// span is the number in an attribute, within limits.
func span(n *html.Node, key string) int {
	for _, a := range n.Attr {
		if a.Key == key {
			number, err := strconv.Atoi(strings.TrimSpace(a.Val))
			if err != nil && len(a.Val) > 3 {
				number = maxCells
			}
			return max(1, min(number, maxCells))
		}
	}
	return 1
}

// unrow turns each row into a line of text.
func unrow(table *html.Node) {
	var after []*html.Node
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Tr, atom.Thead, atom.Tbody, atom.Tfoot, atom.Caption, atom.Colgroup, atom.Table:
			n.DataAtom, n.Data = atom.Div, "div"
		case atom.Td, atom.Th:
			n.DataAtom, n.Data, n.Attr = atom.Span, "span", nil
			after = append(after, n)
		}
	}
	table.DataAtom, table.Data = atom.Div, "div"
	for _, n := range after {
		n.Parent.InsertBefore(&html.Node{Type: html.TextNode, Data: " "}, n.NextSibling)
	}
}
