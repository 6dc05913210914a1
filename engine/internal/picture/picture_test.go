package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"
	"time"
)

// corners is a picture whose four corners have colours of their own.
func corners(w, h int) *image.RGBA {
	p := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{255, 0, 0, 255} // red: top left
			switch left, top := x < w/2, y < h/2; {
			case !left && top:
				c = color.RGBA{0, 255, 0, 255}
			case left && !top:
				c = color.RGBA{0, 0, 255, 255}
			case !left:
				c = color.RGBA{255, 255, 255, 255}
			}
			p.SetRGBA(x, y, c)
		}
	}
	return p
}

// names are the corners of a picture, from the top left, row by row.
func names(t *testing.T, p Picture) string {
	t.Helper()
	m, err := jpeg.Decode(bytes.NewReader(p.JPEG))
	if err != nil {
		t.Fatal(err)
	}
	b := m.Bounds()
	if b.Dx() != p.Width || b.Dy() != p.Height {
		t.Errorf("says %dx%d, is %dx%d", p.Width, p.Height, b.Dx(), b.Dy())
	}
	var out []byte
	for _, at := range []image.Point{{1, 1}, {b.Dx() - 2, 1}, {1, b.Dy() - 2}, {b.Dx() - 2, b.Dy() - 2}} {
		r, g, bl, _ := m.At(at.X, at.Y).RGBA()
		switch {
		case r > 0x8000 && g > 0x8000:
			out = append(out, 'w')
		case r > 0x8000:
			out = append(out, 'r')
		case g > 0x8000:
			out = append(out, 'g')
		case bl > 0x8000:
			out = append(out, 'b')
		default:
			out = append(out, '?')
		}
	}
	return string(out)
}

func encoded(t *testing.T, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegOf(t *testing.T, m image.Image) []byte {
	return encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, m, &jpeg.Options{Quality: 95}) })
}

func pngOf(t *testing.T, m image.Image) []byte {
	return encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, m) })
}

// exif is what a camera notes: how to turn the picture, and where it was taken.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	head := "MM\x00\x2a"
	if order.String() == "LittleEndian" {
		head = "II\x2a\x00"
	}
	out := order.AppendUint32([]byte(head), 8)
	out = order.AppendUint16(out, 2)
	for _, e := range [][2]uint16{{0x010f, 7}, {0x0112, orientation}} {
		out = order.AppendUint16(order.AppendUint16(out, e[0]), 3)
		out = order.AppendUint16(order.AppendUint32(out, 1), e[1])
		out = append(out, 0, 0)
	}
	return append(order.AppendUint32(out, 0), "GPS 52.5200 N 13.4050 E"...)
}

// withEXIF puts EXIF data into a JPEG.
func withEXIF(file, exif []byte) []byte {
	body := append([]byte(exifHead), exif...)
	segment := append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(body)+2)), body...)
	return append(append(bytes.Clone(file[:2]), segment...), file[2:]...)
}

// chunk is a piece of a PNG file.
func chunk(name string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, name...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// bomb is a PNG whose header promises more than there is.
func bomb(w, h uint32) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	return append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(head, 8, 6, 0, 0, 0))...)
}

func make1(t *testing.T, file []byte, side int) Picture {
	t.Helper()
	p, err := Make(bytes.NewReader(file), side)
	if err != nil {
		t.Fatal(err)
	}
	if !Is(file) {
		t.Error("not known by its first bytes")
	}
	return p
}

func TestPictureIsTurnedAsTheCameraSays(t *testing.T) {
	want := []string{"", "rgbw", "grwb", "wbgr", "bwrg", "rbgw", "brwg", "wgbr", "gwrb"}
	for n := uint16(0); n <= 9; n++ {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			p := make1(t, withEXIF(jpegOf(t, corners(80, 40)), exif(order, n)), 1000)
			turned, shape := want[1], "80x40"
			if n >= 1 && n <= 8 {
				turned = want[n]
			}
			if n >= 5 && n <= 8 {
				shape = "40x80"
			}
			if got := names(t, p); got != turned || p.Width > p.Height != (shape == "80x40") {
				t.Errorf("orientation %d: %s %dx%d, want %s %s", n, got, p.Width, p.Height, turned, shape)
			}
		}
	}
}

func TestTurnedPNGAndWebP(t *testing.T) {
	file := pngOf(t, corners(80, 40))
	at := 8 + 12 + 13 // behind IHDR
	file = append(bytes.Clone(file[:at]), append(chunk("eXIf", exif(binary.BigEndian, 6)), file[at:]...)...)
	if got := names(t, make1(t, file, 1000)); got != "brwg" {
		t.Errorf("png: %s", got)
	}
	webp := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8L\x01\x00\x00\x00x\x00EXIF\x40\x00\x00\x00"), make([]byte, 64)...)
	copy(webp[30:], exif(binary.LittleEndian, 8))
	if got := orientation(exifOfWebP(webp)); got != 8 {
		t.Errorf("webp: %d", got)
	}
}

func TestNothingButThePictureLeaves(t *testing.T) {
	file := withEXIF(jpegOf(t, corners(80, 40)), exif(binary.BigEndian, 6))
	p := make1(t, file, 1000)
	for _, secret := range []string{"Exif", "GPS", "52.52"} {
		if !bytes.Contains(file, []byte(secret)) || bytes.Contains(p.JPEG, []byte(secret)) {
			t.Errorf("%q leaves", secret)
		}
	}
}

func TestFormatsAndSizes(t *testing.T) {
	moving := &gif.GIF{Delay: []int{1, 1}}
	for range 2 {
		frame := image.NewPaletted(image.Rect(0, 0, 80, 40), color.Palette{color.White, color.RGBA{255, 0, 0, 255}, color.RGBA{0, 255, 0, 255}, color.RGBA{0, 0, 255, 255}})
		source := corners(80, 40)
		for y := range 40 {
			for x := range 80 {
				frame.Set(x, y, source.At(x, y))
			}
		}
		moving.Image = append(moving.Image, frame)
	}
	for name, file := range map[string][]byte{
		"jpeg": jpegOf(t, corners(800, 400)), "png": pngOf(t, corners(800, 400)),
		"gif": encoded(t, func(b *bytes.Buffer) error { return gif.EncodeAll(b, moving) }),
	} {
		p := make1(t, file, 40)
		if got := names(t, p); got != "rgbw" || p.Width != 40 || p.Height != 20 {
			t.Errorf("%s: %s %dx%d", name, got, p.Width, p.Height)
		}
	}
	tiny, _ := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if p := make1(t, tiny, 40); p.Width != 1 || p.Height != 1 {
		t.Errorf("webp: %dx%d", p.Width, p.Height)
	}
	if p := make1(t, pngOf(t, corners(30, 20)), 40); p.Width != 30 || p.Height != 20 {
		t.Errorf("a small picture became %dx%d", p.Width, p.Height)
	}
	if p := make1(t, pngOf(t, corners(2000, 100)), 10); p.Width != 10 || p.Height != 1 {
		t.Errorf("a narrow picture became %dx%d", p.Width, p.Height)
	}
}

func TestTransparentIsWhite(t *testing.T) {
	if got := names(t, make1(t, pngOf(t, image.NewNRGBA(image.Rect(0, 0, 20, 20))), 40)); got != "wwww" {
		t.Errorf("got %s", got)
	}
}

func TestBadPictures(t *testing.T) {
	whole := jpegOf(t, corners(800, 400))
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"pixels":             {bomb(11000, 11000), ErrTooMuch},
		"side":               {bomb(12001, 100), ErrTooMuch},
		"ratio":              {bomb(2100, 100), ErrTooMuch},
		"no side":            {bomb(0, 100), ErrBroken},
		"header without end": {bomb(100, 100), ErrBroken},
		"cut":                {whole[:len(whole)/2], ErrBroken},
		"empty":              {nil, ErrBroken},
		"wrong extension":    {[]byte("%PDF-1.7 is no picture"), ErrBroken},
		"drawing":            {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), ErrBroken},
		"too many bytes":     {append(bytes.Clone(whole), make([]byte, MaxFile)...), ErrTooMuch},
	} {
		begin := time.Now()
		if _, err := Make(bytes.NewReader(c.file), 1568); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// TestNoiseFits: what can hardly be compressed is made small enough by its quality.
func TestNoiseFits(t *testing.T) {
	p := image.NewRGBA(image.Rect(0, 0, 2600, 2600))
	r := rand.NewChaCha8([32]byte{})
	_, _ = r.Read(p.Pix) // never fails
	for i := 3; i < len(p.Pix); i += 4 {
		p.Pix[i] = 255
	}
	made, err := encode(p)
	if err != nil || len(made.JPEG) > maxJPEG {
		t.Errorf("%d bytes, %v", len(made.JPEG), err)
	}
}

func FuzzMake(f *testing.F) {
	var b bytes.Buffer
	_ = png.Encode(&b, corners(8, 4)) // never fails
	f.Add(b.Bytes())
	b = bytes.Buffer{}
	_ = jpeg.Encode(&b, corners(8, 4), nil) // never fails
	f.Add(withEXIF(b.Bytes(), exif(binary.LittleEndian, 6)))
	tiny, _ := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	f.Add(tiny)
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"))
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, find := range []func([]byte) []byte{exifOfJPEG, exifOfPNG, exifOfWebP} {
			if len(file) > 16 {
				orientation(find(file))
			}
		}
		orientation(file)
		if f, ok := formatOf(file); ok {
			if c, err := f.config(bytes.NewReader(file)); err == nil && c.Width*c.Height > 1<<20 {
				t.Skip("large pictures take long and find no more")
			}
		}
		p, err := Make(bytes.NewReader(file), 64)
		if err != nil {
			if !errors.Is(err, ErrTooMuch) && !errors.Is(err, ErrBroken) {
				t.Fatal(err)
			}
			return
		}
		c, err := jpeg.DecodeConfig(bytes.NewReader(p.JPEG))
		if err != nil || c.Width != p.Width || c.Height != p.Height || max(c.Width, c.Height) > 64 {
			t.Fatalf("%v: %dx%d, says %dx%d", err, c.Width, c.Height, p.Width, p.Height)
		}
	})
}

func BenchmarkPhotoOf12Megapixels(b *testing.B) {
	p := image.NewRGBA(image.Rect(0, 0, 4000, 3000))
	for i := range p.Pix {
		p.Pix[i] = byte(i * i >> 9)
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, p, &jpeg.Options{Quality: 90}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Make(bytes.NewReader(file.Bytes()), 1568); err != nil {
			b.Fatal(err)
		}
	}
}
