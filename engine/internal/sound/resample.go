package sound

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// Rate is how many samples a second all sound gets: what speech models hear.
const Rate = 16000

// The rates of files that are worth a try.
const (
	lowestRate  = 4000
	highestRate = 192000
)

// phases is how many places between two samples the filter knows. The usual rates
// meet one of them exactly.
const phases = 320

// reach is how many zero crossings the filter has on each side.
const reach = 12

// resampler brings a source to the rate of the model: a low-pass filter (sinc, Hann
// window) at each place of the output.
type resampler struct {
	from    Source
	step    float64     // samples of the input for one of the output
	half    int         // samples of the input on each side of a place
	filters [][]float32 // by phase
	held    []float32   // input that is still needed
	place   float64     // of the next sample of the output in held
	ended   bool
	out     []float32
}

// resampled is s itself where it has the rate of the model.
func resampled(s Source, rate int) (Source, error) {
	switch {
	case rate < lowestRate || rate > highestRate:
		return nil, broken("sound", fmt.Errorf("%d samples a second", rate))
	case rate == Rate:
		return s, nil
	}
	step := float64(rate) / Rate
	half := int(math.Ceil(reach * max(1, step)))
	r := &resampler{from: s, step: step, half: half, held: make([]float32, half)}
	r.place = float64(half)
	for p := range phases {
		r.filters = append(r.filters, filter(float64(p)/phases, half, min(1, 1/step)))
	}
	return r, nil
}

// filter holds what the samples around a place count, which lies at between 0 and 1
// behind one of them. cut is the highest frequency that stays, 1 for all.
func filter(behind float64, half int, cut float64) []float32 {
	all := make([]float32, 2*half)
	var sum float64
	for i := range all {
		x := float64(i-half+1) - behind
		if math.Abs(x) < float64(half) {
			weight := sinc(x*cut) * (0.5 + 0.5*math.Cos(math.Pi*x/float64(half)))
			all[i], sum = float32(weight), sum+weight
		}
	}
	for i := range all {
		all[i] = float32(float64(all[i]) / sum)
	}
	return all
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

func (r *resampler) Next() ([]float32, error) {
	for {
		r.compute()
		if len(r.out) > 0 {
			return r.out, nil
		}
		if r.ended {
			return nil, io.EOF
		}
		piece, err := r.from.Next()
		switch {
		case errors.Is(err, io.EOF): // silence lets the last samples out
			r.ended = true
			r.held = append(r.held, make([]float32, r.half)...)
		case err != nil:
			return nil, err
		default:
			r.held = append(r.held, piece...)
		}
	}
}

// compute makes what the held input is enough for, and drops what is needed no more.
func (r *resampler) compute() {
	r.out = r.out[:0]
	for {
		at := int(r.place)
		if at+r.half >= len(r.held) {
			break
		}
		weights := r.filters[int((r.place-float64(at))*phases)]
		around := r.held[at-r.half+1:][:len(weights)]
		var sum float32
		for i, w := range weights {
			sum += w * around[i]
		}
		r.out = append(r.out, sum)
		r.place += r.step
	}
	if drop := min(int(r.place)-r.half, len(r.held)); drop > 0 {
		r.held = r.held[:copy(r.held, r.held[drop:])]
		r.place -= float64(drop)
	}
}
