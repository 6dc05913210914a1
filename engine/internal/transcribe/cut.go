package transcribe

import (
	"errors"
	"io"
	"math"

	"klawbot/engine/internal/sound"
)

// Lengths, in samples. What the model needs grows with the square of the length, and
// a word must not be cut: a longer text is cut at the quietest place of its last 5
// seconds.
const (
	shortestPart = 10 * sound.Rate
	longestPart  = 15 * sound.Rate
	quiet        = sound.Rate * 3 / 10
	// leastPart is filled up with silence: the model needs some length.
	leastPart = sound.Rate
)

// silent is the loudest 300 ms of a part that has nothing to hear, about -50 dBFS. The
// model would make up words.
const silent = 0.003

// parts cuts sound at pauses, while it is decoded.
type parts struct {
	from  sound.Source
	held  []float32
	heard int // samples
	ended bool
	err   error // that ended it
}

// next is the next part, good until the next call; io.EOF ends them.
func (p *parts) next() ([]float32, error) {
	for len(p.held) <= longestPart && !p.ended {
		piece, err := p.from.Next()
		switch {
		case err != nil:
			p.ended = true
			if !errors.Is(err, io.EOF) {
				p.err = err
			}
		default:
			p.held, p.heard = append(p.held, piece...), p.heard+len(piece)
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	if len(p.held) == 0 {
		return nil, io.EOF
	}
	end := len(p.held)
	if end > longestPart {
		end = quietest(p.held)
	}
	part := make([]float32, end, max(end, leastPart))
	copy(part, p.held)
	p.held = p.held[:copy(p.held, p.held[end:])]
	return part[:cap(part)], nil
}

// quietest is the middle of the quietest 300 ms between the shortest and the longest
// part.
func quietest(samples []float32) int {
	best, least := longestPart, math.Inf(1)
	for at := shortestPart; at+quiet <= longestPart; at += sound.Rate / 100 {
		if e := energy(samples[at : at+quiet]); e < least {
			best, least = at+quiet/2, e
		}
	}
	return best
}

// energy is the mean of the squares.
func energy(samples []float32) float64 {
	var sum float64
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return sum / float64(len(samples))
}

// isSilent reports whether a part has nothing to hear.
func isSilent(part []float32) bool {
	for at := 0; at+quiet <= len(part); at += quiet {
		if energy(part[at:at+quiet]) > silent*silent {
			return false
		}
	}
	return true
}

// The model misreads quiet voices, so they are brought to this peak, but noise is not
// made a voice.
const (
	loud       = 0.5
	mostLouder = 10
)

// louder brings a quiet part to the usual level, in place.
func louder(part []float32) {
	var peak float32
	for _, s := range part {
		peak = max(peak, s, -s)
	}
	if peak == 0 || peak >= loud {
		return
	}
	gain := min(loud/peak, mostLouder)
	for i := range part {
		part[i] *= gain
	}
}
