// Package picture makes pictures fit for a model: it reads the header first, refuses
// what is too large inside, turns the picture as its camera says, makes it smaller, and
// writes a new JPEG, so that nothing else of the file (place, camera, comments) leaves.
// It knows no models and keeps no files.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
)

// The bounds of a picture, which are compared with its header before it is decoded.
const (
	maxPixels = 40 << 20
	maxSize   = 12000 // of a side
	maxRatio  = 20    // of the sides
	// MaxFile bounds the file that is read.
	MaxFile = 50 << 20
)

// maxJPEG is how large a picture may be for a model, in bytes.
const maxJPEG = 5 << 20

// qualities are tried in order, until the picture is small enough.
var qualities = []int{85, 60, 30}

var (
	// ErrTooMuch: the picture has more inside than may be decoded.
	ErrTooMuch = errors.New("the picture is too large inside")
	// ErrBroken: it is damaged, or of a kind that is not read here.
	ErrBroken = errors.New("the picture is damaged or of another format")
)

// Picture is a picture for a model.
type Picture struct {
	JPEG          []byte
	Width, Height int
}

// format is how one kind of file is read.
type format struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	// exif finds what the camera noted.
	exif func(file []byte) []byte
}

// formatOf says what a file is, by its first bytes and never by its name. Of pictures
// that move the first frame is read.
func formatOf(file []byte) (format, bool) {
	switch {
	case bytes.HasPrefix(file, []byte("\xff\xd8\xff")):
		return format{jpeg.DecodeConfig, jpeg.Decode, exifOfJPEG}, true
	case bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")):
		return format{png.DecodeConfig, png.Decode, exifOfPNG}, true
	case bytes.HasPrefix(file, []byte("GIF8")):
		return format{gif.DecodeConfig, gif.Decode, func([]byte) []byte { return nil }}, true
	case len(file) > 12 && string(file[:4]) == "RIFF" && string(file[8:12]) == "WEBP":
		return format{webp.DecodeConfig, webp.Decode, exifOfWebP}, true
	}
	return format{}, false
}

// Is reports whether a file begins like a picture that can be read here.
func Is(head []byte) bool {
	_, ok := formatOf(head)
	return ok
}

// Make reads a picture and makes it fit: no side is longer than maxSide. The error is
// ErrTooMuch, ErrBroken or that of the reader.
func Make(r io.Reader, maxSide int) (Picture, error) {
	file, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return Picture{}, err
	}
	if len(file) > MaxFile {
		return Picture{}, ErrTooMuch
	}
	f, ok := formatOf(file)
	if !ok {
		return Picture{}, ErrBroken
	}
	c, err := f.config(bytes.NewReader(file))
	if err != nil {
		return Picture{}, fmt.Errorf("%w: %v", ErrBroken, err)
	}
	if err := within(c.Width, c.Height); err != nil {
		return Picture{}, err
	}
	source, err := decode(f, file)
	if err != nil {
		return Picture{}, err
	}
	return encode(turned(scaled(source, maxSide), orientation(f.exif(file))))
}

// within compares the size of a picture with the bounds.
func within(w, h int) error {
	switch {
	case w <= 0 || h <= 0:
		return ErrBroken
	case w > maxSize || h > maxSize || w*h > maxPixels || max(w, h) > maxRatio*min(w, h):
		return ErrTooMuch
	}
	return nil
}

// decode decodes what its header has allowed. A decoder that breaks is taken for a
// damaged file.
func decode(f format, file []byte) (source image.Image, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrBroken, p)
		}
	}()
	if source, err = f.decode(bytes.NewReader(file)); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrBroken, err)
	}
	b := source.Bounds()
	return source, within(b.Dx(), b.Dy())
}

// scaled is a picture in a size for models, on white where it is transparent.
func scaled(source image.Image, maxSide int) *image.RGBA {
	b := source.Bounds()
	w, h := fit(b.Dx(), b.Dy(), maxSide)
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	op := draw.Src
	if o, ok := source.(interface{ Opaque() bool }); !ok || !o.Opaque() {
		draw.Draw(small, small.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
		op = draw.Over
	}
	draw.ApproxBiLinear.Scale(small, small.Bounds(), source, b, op, nil)
	return small
}

// fit is the size within maxSide; nothing becomes larger.
func fit(w, h, maxSide int) (int, int) {
	long := max(w, h)
	if maxSide <= 0 || long <= maxSide {
		return w, h
	}
	return max((w*maxSide+long/2)/long, 1), max((h*maxSide+long/2)/long, 1)
}

// turned is a picture as it was meant to be seen, by the EXIF orientation, 1 to 8.
func turned(p *image.RGBA, orientation int) *image.RGBA {
	if orientation <= 1 || orientation > 8 {
		return p
	}
	w, h := p.Bounds().Dx(), p.Bounds().Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if orientation >= 5 {
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			tx, ty := turn(x, y, w, h, orientation)
			copy(out.Pix[out.PixOffset(tx, ty):][:4], p.Pix[p.PixOffset(x, y):][:4])
		}
	}
	return out
}

// turn is where a point of a picture goes.
func turn(x, y, w, h, orientation int) (int, int) {
	switch orientation {
	case 2: // mirrored
		return w - 1 - x, y
	case 3: // upside down
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6: // to be turned to the right
		return h - 1 - y, x
	case 7:
		return h - 1 - y, w - 1 - x
	default: // 8, to be turned to the left
		return y, w - 1 - x
	}
}

// encode writes a JPEG, which holds nothing but the picture.
func encode(p *image.RGBA) (Picture, error) {
	var out bytes.Buffer
	for _, q := range qualities {
		out.Reset()
		if err := jpeg.Encode(&out, p, &jpeg.Options{Quality: q}); err != nil {
			return Picture{}, err
		}
		if out.Len() <= maxJPEG {
			return Picture{out.Bytes(), p.Bounds().Dx(), p.Bounds().Dy()}, nil
		}
	}
	return Picture{}, ErrTooMuch
}
