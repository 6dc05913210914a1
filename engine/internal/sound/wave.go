package sound

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The formats of samples in a WAV file.
const (
	wavePCM        = 1
	waveFloat      = 3
	waveExtensible = 0xfffe
)

// waveSource is a WAV file with plain samples.
type waveSource struct {
	r        io.Reader
	channels int
	bytes    int // of a sample
	float    bool
	raw      []byte
	samples  []float32
}

// openWave reads the head up to the samples.
func openWave(r io.Reader) (Source, error) {
	if _, err := io.CopyN(io.Discard, r, 12); err != nil {
		return nil, broken("WAV", err)
	}
	var format []byte
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return nil, broken("WAV", err)
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		if string(head[:4]) == "data" {
			if format == nil {
				return nil, broken("WAV", errors.New("samples without a format"))
			}
			return newWave(r, size, format)
		}
		body := r
		if string(head[:4]) == "fmt " && size >= 16 {
			format = make([]byte, min(size, 64))
			if _, err := io.ReadFull(r, format); err != nil {
				return nil, broken("WAV", err)
			}
			size -= int64(len(format))
		}
		if _, err := io.CopyN(io.Discard, body, size+size&1); err != nil {
			return nil, broken("WAV", err)
		}
	}
}

func newWave(r io.Reader, size int64, format []byte) (Source, error) {
	kind := binary.LittleEndian.Uint16(format)
	if kind == waveExtensible && len(format) >= 26 {
		kind = binary.LittleEndian.Uint16(format[24:])
	}
	s := &waveSource{
		channels: int(binary.LittleEndian.Uint16(format[2:])),
		bytes:    int(binary.LittleEndian.Uint16(format[14:])+7) / 8,
		float:    kind == waveFloat,
	}
	rate := int(binary.LittleEndian.Uint32(format[4:]))
	switch {
	case kind != wavePCM && kind != waveFloat:
		return nil, ErrFormat
	case s.channels < 1 || s.channels > 32, s.float && s.bytes != 4 && s.bytes != 8, s.bytes < 1 || s.bytes > 8:
		return nil, broken("WAV", fmt.Errorf("%d channels of %d bytes", s.channels, s.bytes))
	}
	if s.r = r; size > 0 && size < math.MaxUint32 { // a recorder that was cut off leaves 0 or all ones
		s.r = io.LimitReader(r, size)
	}
	s.raw = make([]byte, 1024*s.channels*s.bytes)
	s.samples = make([]float32, 1024*s.channels)
	return resampled(s, rate)
}

func (s *waveSource) Next() ([]float32, error) {
	n, err := io.ReadFull(s.r, s.raw)
	frames := n / (s.channels * s.bytes)
	if frames == 0 {
		if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		return nil, err
	}
	samples := s.samples[:frames*s.channels]
	for i := range samples {
		samples[i] = s.sample(s.raw[i*s.bytes:])
	}
	return mixed(samples, s.channels), nil
}

// sample reads one sample as a number from -1 to 1.
func (s *waveSource) sample(raw []byte) float32 {
	switch {
	case s.float && s.bytes == 8:
		return sane(float32(math.Float64frombits(binary.LittleEndian.Uint64(raw))))
	case s.float:
		return sane(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	case s.bytes == 1:
		return float32(int(raw[0])-128) / 128
	}
	var v uint64
	for i := range s.bytes {
		v |= uint64(raw[i]) << (64 - 8*(s.bytes-i))
	}
	return float32(float64(int64(v)) / (1 << 63))
}

// sane bounds what a file of floats may hold.
func sane(v float32) float32 {
	if v != v { // not a number
		return 0
	}
	return max(-1, min(1, v))
}
