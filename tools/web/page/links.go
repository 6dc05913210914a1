package page

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxAddresses is how many bytes all addresses of a page may have, made whole. The
// links beyond lose theirs: each may be much longer than what the page says.
const maxAddresses = 2_000_000

// maxLink is how long the address may be that all others start from.
const maxLink = 2000

var errLong = errors.New("there are too many addresses")

// lead makes the addresses of links and pictures absolute. What is no web address, such
// as a script, goes; its text stays.
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

// baseOf is what the links of a page start from.
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

// address is an address as a browser reads it in an attribute.
func address(value string) string {
	return strings.NewReplacer("\n", "", "\r", "", "\t", "").Replace(strings.TrimFunc(value, func(r rune) bool { return r <= ' ' }))
}

// whole makes the address in an attribute absolute, and reports whether there is one. A
// place on the page stays as it is. left is how long all further addresses may be.
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
