package document

import (
	"context"
	"encoding/xml"
	"net/url"
	"path"
	"strings"

	"klawbot/engine/internal/confined"
	"klawbot/tools/charset"
)

// book is an EPUB; its chapters are read when they are asked for.
type book struct {
	a        *archive
	chapters []string
}

func (b *book) unit() string { return "chapter" }

func (b *book) count() int { return len(b.chapters) }

func (b *book) part(ctx context.Context, n int) (part, error) {
	text, err := b.a.whole(b.chapters[n-1])
	if err != nil {
		return part{}, err
	}
	md, err := webPage(ctx, charset.Decode([]byte(text), "", false).Body)
	return part{title: heading(md), text: md}, err
}

// heading is the last of the headings that a chapter begins with: the first may be the
// title of the book.
func heading(text string) (title string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !strings.HasPrefix(line, "#") {
			break
		}
		title = strings.TrimLeft(line, "# ")
	}
	return title
}

func (a *archive) epub(context.Context) (parts, error) {
	if text, err := a.whole("META-INF/encryption.xml"); err == nil && locksMore(text) {
		return nil, &confined.Fault{Kind: confined.Locked}
	}
	r, err := a.open("META-INF/container.xml")
	if err != nil {
		return nil, err
	}
	opf := ""
	err = newScanner(r).each(func(e xml.StartElement) error {
		if e.Name.Local == "rootfile" && opf == "" {
			opf = attr(e, "full-path")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	b := &book{a: a}
	if b.chapters, err = a.spine(opf); err == nil && len(b.chapters) == 0 {
		err = &confined.Fault{Kind: confined.Broken, Detail: "no chapters"}
	}
	return b, err
}

// locksMore reports whether something else than fonts is encrypted.
func locksMore(encryption string) bool {
	fonts := strings.Count(encryption, "http://www.idpf.org/2008/embedding") + strings.Count(encryption, "http://ns.adobe.com/pdf/enc#RC")
	return strings.Count(encryption, "EncryptionMethod ") > fonts
}

// spine are the chapters in the order of reading.
func (a *archive) spine(opf string) (chapters []string, err error) {
	r, err := a.open(opf)
	if err != nil {
		return nil, err
	}
	items := map[string]string{}
	err = newScanner(r).each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "item":
			if kind := attr(e, "media-type"); strings.Contains(kind, "html") || kind == "" {
				items[attr(e, "id")] = attr(e, "href")
			}
		case "itemref":
			href, err := url.PathUnescape(items[attr(e, "idref")])
			if name := path.Join(path.Dir(opf), href); err == nil && href != "" && a.has(name) && attr(e, "linear") != "no" {
				chapters = append(chapters, name)
			}
		}
		return nil
	})
	return chapters, err
}
