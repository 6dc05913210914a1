package pdfium

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"os"
	"strings"
)

// within does what cannot be stopped. When the time is over it returns at once, and the
// document is of no more use: the process has to end.
func within[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type answer struct {
		result T
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		result, err := do()
		answered <- answer{result, err}
	}()
	select {
	case a := <-answered:
		return a.result, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Open opens a PDF with the library of a file. The error is ErrLocked, ErrBroken,
// ErrLibrary, or the end of the time.
func Open(ctx context.Context, library, file string) (*Document, error) {
	return within(ctx, func() (*Document, error) { return open(library, file) })
}

// Text is the text of a page, ErrLong if it has more than most characters.
func (d *Document) Text(ctx context.Context, page, most int) (string, error) {
	text, err := within(ctx, func() (string, error) { return d.text(page, most) })
	return plain.Replace(text), err
}

// plain makes line ends of one kind. The library marks a hyphen at the end of a line.
var plain = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\uFFFE", "-\n", "\x02", "-\n")

// maxPixels bounds a picture of a page.
const maxPixels = 40_000_000

// pixels is how large to draw a page of so many points, with so many pixels a point. A
// large page is drawn smaller.
func pixels(width, height, scale float64) (w, h int) {
	scale = min(scale, math.Sqrt(maxPixels/max(1, width*height)))
	return int(max(1, math.Round(width*scale))), int(max(1, math.Round(height*scale)))
}

// Scan draws a page in shades of gray into a PGM file, with so many dots an inch.
func (d *Document) Scan(ctx context.Context, page int, dots float64, file string) error {
	content, err := within(ctx, func() ([]byte, error) {
		width, height, err := d.size(page)
		if err != nil {
			return nil, err
		}
		w, h := pixels(width, height, dots/72)
		head := fmt.Appendf(nil, "P5\n%d %d\n255\n", w, h)
		content := append(head, make([]byte, w*h)...)
		return content, d.draw(page, w, h, true, content[len(head):])
	})
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o600)
}

// Picture draws a page as a JPEG whose longer side has so many pixels.
func (d *Document) Picture(ctx context.Context, page, side int) ([]byte, error) {
	return within(ctx, func() ([]byte, error) {
		width, height, err := d.size(page)
		if err != nil {
			return nil, err
		}
		w, h := pixels(width, height, float64(side)/max(1, width, height))
		img := image.NewRGBA(image.Rect(0, 0, w, h))
		if err := d.draw(page, w, h, false, img.Pix); err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 85})
		return b.Bytes(), err
	})
}
