//go:build bench

package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestBenchPhoto measures how long a photo of 12 megapixels takes until a model could get
// it, with its child process. It prints a row of doc/benchmarks.md.
func TestBenchPhoto(t *testing.T) {
	p := image.NewRGBA(image.Rect(0, 0, 4000, 3000))
	for y := range 3000 {
		for x := range 4000 {
			p.SetRGBA(x, y, color.RGBA{uint8(x >> 4), uint8(y >> 4), uint8((x ^ y) >> 3), 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, p, nil); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "photo.jpg")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	for range 9 {
		begun := time.Now()
		if _, err := Prepare(t.Context(), file, 1568); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	median := took[len(took)/2]
	t.Logf("photo of 12 megapixels, ready for a model, median: %d ms, goal <= 1000 ms", median.Milliseconds())
	if median > time.Second {
		t.Errorf("took %v", median)
	}
}
