package page

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxAddresses bounds the absolute addresses of a page, in bytes. A short link can have a
// long one. The links beyond lose theirs.
const maxAddresses = 2_000_000

// maxLink bounds the base address of a page.
const maxLink = 2000

var errLong = errors.New("there are too many addresses")

// lead makes the addresses of links and pictures absolute. Of a link to a script or
// the like only the text stays.
func lead(doc *html.Node, at *url.URL) {
	base, left := baseOf(doc, at), maxAddresses
	var bare []*html.Node // pictures without an address
	for n := range doc.Descendants() {
		switch n.DataAtom {
		case atom.A, atom.Area:
			if !whole(n, "href", base, &left) {
				n.DataAtom, n.Data = atom.Span, "span"
			}
		case atom.Img:
			if !whole(n, "src", base, &left) {
				bare = append(bare, n)
			}
		}
	}
	for _, n := range bare {
		for _, a := range n.Attr {
			if a.Key == "alt" && n.Parent != nil {
				n.Parent.InsertBefore(&html.Node{Type: html.TextNode, Data: a.Val}, n)
			}
		}
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

// baseOf is the base address of a page.
func baseOf(doc *html.Node, at *url.URL) *url.URL {
	b := find(doc, atom.Base)
	if b == nil {
		return at
	}
	for _, a := range b.Attr {
		if len(a.Val) > maxLink {
			continue
		}
		if u, err := at.Parse(address(a.Val)); a.Key == "href" && err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			return u
		}
	}
	return at
}

// address is an attribute as a browser reads it.
func address(value string) string {
	return strings.NewReplacer("\n", "", "\r", "", "\t", "").Replace(strings.TrimFunc(value, func(r rune) bool { return r <= ' ' }))
}

// whole makes the address in an attribute absolute, and reports whether there is one. A
// fragment stays as it is. left is what remains of maxAddresses.
func whole(n *html.Node, key string, base *url.URL, left *int) bool {
	i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key })
	if i < 0 {
		return false
	}
	value := address(n.Attr[i].Val)
	if strings.HasPrefix(value, "#") {
		n.Attr[i].Val = value
		return true
	}
	var u *url.URL
	err := errLong
	if *left > 0 {
		u, err = base.Parse(value)
	}
	if err != nil || !slices.Contains([]string{"http", "https", "mailto", "tel"}, u.Scheme) {
		n.Attr = slices.Delete(n.Attr, i, i+1)
		return false
	}
	n.Attr[i].Val = u.String()
	*left -= len(n.Attr[i].Val)
	return true
}
