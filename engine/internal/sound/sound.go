// Package sound decodes recordings: Opus in Ogg, WAV, MP3 and FLAC by itself, the rest with
// ffmpeg where it is installed. What comes out has one channel and one rate, and comes
// piece by piece. Foreign files belong into a child process (package confined).
package sound

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Source gives sound with one channel, piece by piece. The piece is good until the
// next call; io.EOF ends the sound.
type Source interface {
	Next() ([]float32, error)
}

// ErrFormat is the error for a format that needs ffmpeg.
var ErrFormat = errors.New("no decoder for this format")

// ErrBroken is the kind of error of a file that is not what it says it is.
var ErrBroken = errors.New("damaged sound file")

func broken(format string, err error) error { return fmt.Errorf("%w: %s: %w", ErrBroken, format, err) }

// headBytes is enough to tell the formats apart.
const headBytes = 64

// open looks at what a file holds, not at its name, and returns its sound at the
// rate of the model. The caller closes the file.
func open(f *os.File) (Source, error) {
	r := bufio.NewReaderSize(f, 64<<10)
	head, err := r.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case len(head) < 12:
		return nil, broken("sound", io.ErrUnexpectedEOF)
	case bytes.HasPrefix(head, []byte("OggS")):
		if !bytes.Contains(head, []byte("OpusHead")) {
			return nil, ErrFormat // Vorbis, say
		}
		return openOpus(r)
	case bytes.HasPrefix(head, []byte("RIFF")) && string(head[8:12]) == "WAVE":
		return openWave(r)
	case bytes.HasPrefix(head, []byte("fLaC")):
		return openFLAC(r)
	case bytes.HasPrefix(head, []byte("ID3")) || isMP3(head):
		return openMP3(r)
	}
	return nil, ErrFormat
}

// isMP3 reports whether a frame of layer III begins here. The frames of AAC begin with
// the same eleven bits and have no layer.
func isMP3(head []byte) bool {
	return head[0] == 0xff && head[1]&0xe0 == 0xe0 && head[1]>>1&3 == 1
}

// mixed is the mean of the channels of interleaved samples.
func mixed(samples []float32, channels int) []float32 {
	if channels == 1 {
		return samples
	}
	n := len(samples) / channels
	for i := range n {
		var sum float32
		for c := range channels {
			sum += samples[i*channels+c]
		}
		samples[i] = sum / float32(channels) // never behind what is still to be read
	}
	return samples[:n]
}
