package sound

import (
	"bytes"
	"errors"
	"io"

	"github.com/pion/opus"
	"github.com/pion/opus/pkg/oggreader"
)

// opusSource is Opus in an Ogg file, as Telegram's voice messages are.
type opusSource struct {
	pages   *oggreader.OggReader
	decoder opus.Decoder
	skip    int // samples at the beginning that are no sound
	buffer  []float32
	good    bool // a packet could be decoded
}

// longestPacket is the sound of the longest packet, 120 ms.
const longestPacket = Rate * 120 / 1000

func openOpus(r io.Reader) (Source, error) {
	pages, head, err := oggreader.NewWith(r)
	if err != nil {
		return nil, broken("Opus", err)
	}
	if head.Channels == 0 || head.Channels > 2 {
		return nil, ErrFormat
	}
	d, err := opus.NewDecoderWithOutput(Rate, 1)
	if err != nil {
		return nil, err
	}
	skip := int(head.PreSkip) * Rate / 48000
	return &opusSource{pages: pages, decoder: d, skip: skip, buffer: make([]float32, longestPacket)}, nil
}

// next skips packets that cannot be decoded, as a player does. A file that ends too
// early ends there.
func (s *opusSource) Next() ([]float32, error) {
	for {
		packet, _, err := s.pages.ParseNextPacket()
		switch {
		case err != nil && s.good:
			return nil, io.EOF
		case errors.Is(err, io.EOF):
			return nil, broken("Opus", io.ErrUnexpectedEOF)
		case err != nil:
			return nil, broken("Opus", err)
		case bytes.HasPrefix(packet, []byte("Opus")): // headers and tags
			continue
		}
		n, err := s.decoder.DecodeToFloat32(packet, s.buffer)
		if err != nil {
			continue
		}
		s.good = true
		if n > s.skip {
			piece := s.buffer[s.skip:n]
			s.skip = 0
			return piece, nil
		}
		s.skip -= n
	}
}
