package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

func (r mdRenderer) list(l *ast.List) {
	number := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		if item.PreviousSibling() != nil {
			r.out.gap(blockGap(item))
		}
		r.out.indent(r.level)
		r.out.write(itemMarker(l, item, number))
		r.out.owe(" ")
		r.item(item)
		number++
	}
}

// item writes what follows the marker: a paragraph on the same line, any other
// block below it.
func (r mdRenderer) item(item ast.Node) {
	r.level = min(r.level+1, maxIndentLevels)
	first := item.FirstChild()
	if first == nil {
		return
	}
	switch first.Kind() {
	case ast.KindParagraph, ast.KindTextBlock:
		r.out.hanging(r.level)
		r.inlines(first)
	case ast.KindHeading:
		r.out.hanging(r.level)
		r.out.styled(bold, "", func() { r.inlines(first) })
	default:
		r.out.gap(1)
		r.block(first)
	}
	for c := first.NextSibling(); c != nil; c = c.NextSibling() {
		r.out.gap(blockGap(c))
		r.block(c)
	}
}

func itemMarker(l *ast.List, item ast.Node, number int) string {
	box := taskBox(item)
	switch {
	case l.IsOrdered():
		return strings.TrimSpace(strconv.Itoa(number) + string(l.Marker) + " " + box)
	case box != "":
		return box
	default:
		return "•"
	}
}

func taskBox(item ast.Node) string {
	if item.FirstChild() == nil {
		return ""
	}
	box, ok := item.FirstChild().FirstChild().(*extast.TaskCheckBox)
	switch {
	case !ok:
		return ""
	case box.IsChecked:
		return "☑"
	default:
		return "☐"
	}
}
