package picture

import (
	"encoding/binary"
	"errors"
	"image"
	"os"
	"path/filepath"
	"testing"

	"klawbot/engine/internal/confined"
)

func TestMain(m *testing.M) {
	confined.Main(map[string]confined.Kind{Kind: Child})
	os.Exit(m.Run())
}

func TestPrepareReadsInAChild(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	photo := write("a.jpg", withEXIF(jpegOf(t, corners(800, 400)), exif(binary.BigEndian, 6)))
	if p, err := Prepare(t.Context(), photo, 80); err != nil || p.Width != 40 || p.Height != 80 || names(t, p) != "brwg" {
		t.Errorf("%dx%d, %v", p.Width, p.Height, err)
	}
	for name, c := range map[string]struct {
		file []byte
		want confined.FaultKind
	}{
		"bomb.png": {bomb(30000, 30000), confined.TooMuch},
		"text.png": {[]byte("no picture"), confined.Broken},
		"cut.jpg":  {jpegOf(t, corners(800, 400))[:500], confined.Broken},
	} {
		_, err := Prepare(t.Context(), write(name, c.file), 80)
		if fault, ok := errors.AsType[*confined.Fault](err); !ok || fault.Kind != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := Prepare(t.Context(), filepath.Join(dir, "none.png"), 80); err == nil {
		t.Error("a file that is not there was read")
	}
}

// TestLargestPictureFitsIntoTheChild: what the bounds allow must not need more memory
// than a child has.
func TestLargestPictureFitsIntoTheChild(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.png")
	if err := os.WriteFile(path, pngOf(t, image.NewNRGBA(image.Rect(0, 0, 8000, 5200))), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := Prepare(t.Context(), path, 1568); err != nil || p.Width != 1568 {
		t.Errorf("%dx%d, %v", p.Width, p.Height, err)
	}
}
