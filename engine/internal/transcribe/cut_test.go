package transcribe

import (
	"errors"
	"io"
	"math"
	"testing"

	"klawbot/engine/internal/sound"
)

// TestPartsEndAtPauses: 40 seconds with pauses at 12 and 24.
func TestPartsEndAtPauses(t *testing.T) {
	recording := make([]float32, 40*sound.Rate)
	for i := range recording {
		at := float64(i) / sound.Rate
		if math.Abs(at-12) > 0.3 && math.Abs(at-24) > 0.3 {
			recording[i] = float32(0.2 * math.Sin(at*2000))
		}
	}
	p := &parts{from: &pieces{recording}}
	var ends []float64
	total := 0
	for {
		part, err := p.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		total += len(part)
		ends = append(ends, float64(total)/sound.Rate)
	}
	if len(ends) < 3 || math.Abs(ends[0]-12) > 0.3 || math.Abs(ends[1]-24) > 0.3 || total != len(recording) {
		t.Errorf("the parts end at %.1f s", ends)
	}
}

// TestShortestPartHasALength: the model needs some; silence fills it up.
func TestShortestPartHasALength(t *testing.T) {
	p := &parts{from: &pieces{[]float32{0.5, 0.5}}}
	part, err := p.next()
	if err != nil || len(part) != leastPart || part[0] != 0.5 || part[2] != 0 {
		t.Fatalf("%d samples, %v", len(part), err)
	}
	if _, err := p.next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestQuietVoicesBecomeLouder: but noise stays noise, and loud voices stay as they are.
func TestQuietVoicesBecomeLouder(t *testing.T) {
	for peak, want := range map[float32]float32{0.8: 0.8, 0.25: 0.5, 0.01: 0.1, 0: 0} {
		part := []float32{0, -peak, peak / 2}
		if louder(part); math.Abs(float64(part[1]+want)) > 1e-6 {
			t.Errorf("%v became %v", peak, part)
		}
	}
	if !isSilent(make([]float32, sound.Rate)) || isSilent([]float32{}) == false {
		t.Error("silence is a sound")
	}
}

// TestTokens: lengths of one and of two bytes, spaces, what is no text.
func TestTokens(t *testing.T) {
	all := tokens{"<unk>", "<s>", "</s>", "▁Hi", ",", "▁\xff", "there"}
	if got := all.text([]int64{1, 3, 4, 5, 6, 2, 99}); got != "Hi, there" {
		t.Errorf("%q", got)
	}
}

// pieces is a source of samples in memory.
type pieces struct{ left []float32 }

func (p *pieces) Next() ([]float32, error) {
	if len(p.left) == 0 {
		return nil, io.EOF
	}
	n := min(len(p.left), 1000)
	piece := p.left[:n]
	p.left = p.left[n:]
	return piece, nil
}
