package transcribe

import (
	"errors"
	"io"
	"math"
	"testing"
)

// TestPartsEndAtPauses: 40 seconds with pauses at 12 and 24.
func TestPartsEndAtPauses(t *testing.T) {
	sound := make([]float32, 40*sampleRate)
	for i := range sound {
		at := float64(i) / sampleRate
		if math.Abs(at-12) > 0.3 && math.Abs(at-24) > 0.3 {
			sound[i] = float32(0.2 * math.Sin(at*2000))
		}
	}
	p := &parts{from: &pieces{sound}}
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
		ends = append(ends, float64(total)/sampleRate)
	}
	if len(ends) < 3 || math.Abs(ends[0]-12) > 0.3 || math.Abs(ends[1]-24) > 0.3 || total != len(sound) {
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
	if !isSilent(make([]float32, sampleRate)) || isSilent([]float32{}) == false {
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
