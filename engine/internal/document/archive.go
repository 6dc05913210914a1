package document

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"

	"klawbot/engine/internal/confined"
)

// The bounds of an archive.
const (
	maxEntries  = 2000
	maxUnpacked = 200 << 20 // bytes, of all entries that are read
	maxRatio    = 100
	// freeBytes is how much of an entry is unpacked before its ratio counts.
	freeBytes = 1 << 20
	// maxSmall bounds an entry that is read as a whole.
	maxSmall = 8 << 20
)

// archive is an opened zip file that counts what is unpacked of it.
type archive struct {
	files    []*zip.File
	byName   map[string]*zip.File
	unpacked int64
}

func openArchive(r io.ReaderAt, size int64) (*archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, &confined.Fault{Kind: confined.Broken, Detail: "zip"}
	}
	if len(z.File) > maxEntries {
		return nil, &confined.Fault{Kind: confined.TooMuch, Detail: fmt.Sprintf("more than %d entries", maxEntries)}
	}
	a := &archive{files: z.File, byName: map[string]*zip.File{}}
	for _, f := range z.File {
		if name := entryName(f.Name); a.byName[name] == nil {
			a.byName[name] = f
		}
	}
	return a, nil
}

// entryName is how an entry is looked for: Office compares names without their case.
func entryName(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+name), "/"))
}

func (a *archive) has(name string) bool { return a.byName[entryName(name)] != nil }

// open unpacks an entry. An entry that is missing is a broken document.
func (a *archive) open(name string) (io.Reader, error) {
	f := a.byName[entryName(name)]
	switch {
	case f == nil:
		return nil, &confined.Fault{Kind: confined.Broken, Detail: "a part is missing"}
	case f.Flags&1 != 0:
		return nil, &confined.Fault{Kind: confined.Locked}
	}
	r, err := f.Open()
	if err != nil {
		return nil, &confined.Fault{Kind: confined.Broken, Detail: "zip"}
	}
	return &counted{r, a, int64(f.CompressedSize64), 0}, nil
}

// counted reads an entry and counts.
type counted struct {
	r      io.Reader
	a      *archive
	packed int64
	n      int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.a.unpacked += int64(n)
	switch {
	case c.a.unpacked > maxUnpacked:
		return 0, &confined.Fault{Kind: confined.TooMuch, Detail: "more than 200 MB unpacked"}
	case c.n > freeBytes && c.n > c.packed*maxRatio:
		return 0, &confined.Fault{Kind: confined.TooMuch, Detail: "it unpacks to more than 100 times its size"}
	case err != nil && !errors.Is(err, io.EOF):
		return n, &confined.Fault{Kind: confined.Broken, Detail: "zip"}
	}
	return n, err
}

// whole is all of an entry.
func (a *archive) whole(name string) (string, error) {
	r, err := a.open(name)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxSmall+1))
	if err == nil && len(text) > maxSmall {
		err = &confined.Fault{Kind: confined.TooMuch, Detail: "a part of more than 8 MB"}
	}
	return string(text), err
}

// small is the beginning of an entry, empty where it is missing.
func (a *archive) small(name string) string {
	r, err := a.open(name)
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(r, 256))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// list names what is in an archive; nothing of it is unpacked.
func (a *archive) list() (parts, error) {
	var b strings.Builder
	var total uint64
	for _, f := range a.files {
		locked := ""
		if f.Flags&1 != 0 {
			locked = ", needs a password"
		}
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		total += f.UncompressedSize64
		fmt.Fprintf(&b, "%s (%s%s)\n", plainName(f), size(f.UncompressedSize64), locked)
	}
	return pieces(fmt.Sprintf("%d files, %s unpacked\n%s", strings.Count(b.String(), "\n"), size(total), b.String())), nil
}

// plainName is the name of an entry without what would change how a text looks.
func plainName(f *zip.File) string {
	name := f.Name
	if f.NonUTF8 {
		name = codePage(name)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
}

// size is a number of bytes for people.
func size(n uint64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// codePage reads a name in the code page 866, in which Windows packs Russian names.
func codePage(name string) string {
	if strings.ToValidUTF8(name, "") == name {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		switch c := rune(name[i]); {
		case c < 0x80:
			b.WriteRune(c)
		case c < 0xb0:
			b.WriteRune('А' + c - 0x80)
		case c >= 0xe0 && c < 0xf0:
			b.WriteRune('р' + c - 0xe0)
		case c == 0xf0:
			b.WriteRune('Ё')
		case c == 0xf1:
			b.WriteRune('ё')
		default:
			b.WriteRune('?')
		}
	}
	return b.String()
}
