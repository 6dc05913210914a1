package sound

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/hajimehoshi/go-mp3"
	"github.com/mewkiz/flac"
)

// flacSource is a FLAC file.
type flacSource struct {
	stream  *flac.Stream
	good    bool
	samples []float32
}

func openFLAC(r io.Reader) (Source, error) {
	stream, err := flac.New(r)
	if err != nil {
		return nil, broken("FLAC", err)
	}
	return resampled(&flacSource{stream: stream}, int(stream.Info.SampleRate))
}

func (s *flacSource) Next() ([]float32, error) {
	frame, err := s.stream.ParseNext()
	switch {
	case errors.Is(err, io.EOF), err != nil && s.good:
		return nil, io.EOF
	case err != nil:
		return nil, broken("FLAC", err)
	}
	s.good = true
	channels := len(frame.Subframes)
	full := float32(int64(1) << (max(frame.BitsPerSample, 1) - 1))
	s.samples = s.samples[:0]
	for i := range int(frame.BlockSize) {
		var sum float32
		for _, c := range frame.Subframes {
			if i < len(c.Samples) {
				sum += float32(c.Samples[i])
			}
		}
		s.samples = append(s.samples, sum/float32(channels)/full)
	}
	return s.samples, nil
}

// mp3Source is an MP3 file. The library always makes two channels of 16 bits.
type mp3Source struct {
	decoder *mp3.Decoder
	good    bool
	raw     []byte
	samples []float32
}

func openMP3(r io.Reader) (Source, error) {
	d, err := mp3.NewDecoder(r)
	if err != nil {
		return nil, broken("MP3", err)
	}
	return resampled(&mp3Source{decoder: d, raw: make([]byte, 4096), samples: make([]float32, 2048)}, d.SampleRate())
}

func (s *mp3Source) Next() ([]float32, error) {
	n, err := io.ReadFull(s.decoder, s.raw)
	if n < 4 {
		if !s.good && !errors.Is(err, io.EOF) {
			return nil, broken("MP3", err)
		}
		return nil, io.EOF // a damaged end is an end
	}
	s.good = true
	samples := s.samples[:n/4*2]
	for i := range samples {
		samples[i] = float32(int16(binary.LittleEndian.Uint16(s.raw[2*i:]))) / 32768
	}
	return mixed(samples, 2), nil
}
