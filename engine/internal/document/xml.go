package document

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"klawbot/engine/internal/confined"
	"klawbot/tools/charset"
)

// maxDepth is how deep elements may lie in each other.
const maxDepth = 200

// scanner reads the elements of an XML file in order, by their names without prefixes.
type scanner struct {
	d     *xml.Decoder
	depth int
	read  int // bytes of text so far
}

func newScanner(r io.Reader) *scanner {
	d := xml.NewDecoder(utf8Reader(r))
	// utf8Reader has made it UTF-8, or it is: no document of these formats is else.
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return &scanner{d: d}
}

// utf8Reader decodes UTF-16, which XML may be in.
func utf8Reader(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	head, _ := b.Peek(2) // the reader meets the error again
	if string(head) != "\xff\xfe" && string(head) != "\xfe\xff" {
		return b
	}
	text, err := io.ReadAll(io.LimitReader(b, maxText))
	if err != nil {
		return failing{err}
	}
	return strings.NewReader(charset.Decode(text, "", false).Body)
}

// failing is a reader that has failed.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// next is the next token: xml.StartElement, xml.EndElement or xml.CharData. The error is
// io.EOF at the end.
func (s *scanner) next() (xml.Token, error) {
	for {
		t, err := s.d.Token()
		if err != nil {
			return nil, xmlFault(err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if s.depth++; s.depth > maxDepth {
				return nil, &confined.Fault{Kind: confined.TooMuch, Detail: "elements in more than 200 others"}
			}
			return t, nil
		case xml.EndElement:
			s.depth--
			return t, nil
		case xml.CharData:
			if s.read += len(t); s.read > maxUnpacked {
				return nil, &confined.Fault{Kind: confined.TooMuch}
			}
			return t, nil
		case xml.Directive:
			// Only a file that wants to be more than it is has a DTD.
			return nil, &confined.Fault{Kind: confined.TooMuch, Detail: "it has a DTD"}
		}
	}
}

// xmlFault is the fault behind an error of the decoder.
func xmlFault(err error) error {
	var fault *confined.Fault
	if err == io.EOF || errors.As(err, &fault) {
		return err
	}
	return &confined.Fault{Kind: confined.Broken, Detail: "xml"}
}

// skip reads to the end of the element that has just begun.
func (s *scanner) skip() error {
	for end := s.depth - 1; s.depth > end; {
		if _, err := s.next(); err != nil {
			return unexpected(err)
		}
	}
	return nil
}

// text is the text in the element that has just begun, with all that is in it.
func (s *scanner) text() (string, error) {
	var b strings.Builder
	for end := s.depth - 1; s.depth > end; {
		t, err := s.next()
		if err != nil {
			return "", unexpected(err)
		}
		if c, is := t.(xml.CharData); is {
			b.Write(c)
		}
	}
	return b.String(), nil
}

// unexpected is the fault of a file that ends within an element.
func unexpected(err error) error {
	if err == io.EOF {
		return &confined.Fault{Kind: confined.Broken, Detail: "xml"}
	}
	return err
}

// each calls fn with every element. fn may read on within it.
func (s *scanner) each(fn func(e xml.StartElement) error) error {
	for {
		t, err := s.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if e, is := t.(xml.StartElement); is {
			if err := fn(e); err != nil {
				return err
			}
		}
	}
}

// attr is an attribute, by its name without a prefix.
func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// number is an attribute that is a number from 0 to most; else usual.
func number(e xml.StartElement, name string, usual, most int) int {
	n, err := strconv.Atoi(attr(e, name))
	if err != nil || n < 0 {
		return usual
	}
	return min(n, most)
}

// output collects text up to maxText.
type output struct{ bytes.Buffer }

func (o *output) full() error {
	if o.Len() > maxText {
		return &confined.Fault{Kind: confined.TooMuch, Detail: "more than 24 MB of text"}
	}
	return nil
}

// relations are the targets of a part's relations, by id: entries of the archive.
func (a *archive) relations(of string) (map[string]relation, error) {
	folder, file := "", of
	if i := strings.LastIndexByte(of, '/'); i >= 0 {
		folder, file = of[:i+1], of[i+1:]
	}
	all := map[string]relation{}
	name := folder + "_rels/" + file + ".rels"
	if !a.has(name) {
		return all, nil
	}
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	err = newScanner(r).each(func(e xml.StartElement) error {
		if e.Name.Local != "Relationship" || attr(e, "TargetMode") == "External" {
			return nil
		}
		target := attr(e, "Target")
		if !strings.HasPrefix(target, "/") {
			target = folder + target
		}
		kind := attr(e, "Type")
		all[attr(e, "Id")] = relation{kind[strings.LastIndexByte(kind, '/')+1:], entryName(target)}
		return nil
	})
	return all, err
}

// relation is what a part refers to.
type relation struct{ kind, target string }

// of is the target of the first relation of a kind, "" for none.
func targetOf(all map[string]relation, kind string) string {
	for _, r := range all {
		if r.kind == kind {
			return r.target
		}
	}
	return ""
}
