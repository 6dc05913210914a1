package sound

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
)

// Open returns the sound of a file by ffmpeg where this package knows no decoder. The
// caller calls finish.
func Open(ctx context.Context, f *os.File) (_ Source, finish func(), err error) {
	s, err := open(f)
	if !errors.Is(err, ErrFormat) {
		return s, func() {}, err
	}
	program, lookErr := exec.LookPath("ffmpeg")
	if lookErr != nil {
		return nil, nil, err
	}
	return openFFmpeg(ctx, program, f.Name())
}

// ffmpegSource is what ffmpeg decodes: samples of 16 bits at the rate of the model.
type ffmpegSource struct {
	cmd     *exec.Cmd
	out     *bufio.Reader
	raw     []byte
	samples []float32
	good    bool
}

// openFFmpeg starts ffmpeg. It reads this one file and no address that the file names.
func openFFmpeg(ctx context.Context, program, file string) (_ Source, finish func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, program, "-nostdin", "-v", "quiet", "-protocol_whitelist", "file,pipe", "-threads", "1",
		"-i", "file:"+file, "-vn", "-f", "s16le", "-ac", "1", "-ar", "16000", "pipe:1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, nil, err
	}
	s := &ffmpegSource{cmd: cmd, out: bufio.NewReader(out), raw: make([]byte, 8192), samples: make([]float32, 4096)}
	return s, func() {
		cancel()
		_ = cmd.Wait() // it is asked for its end in Next
	}, nil
}

func (s *ffmpegSource) Next() ([]float32, error) {
	n, err := io.ReadFull(s.out, s.raw)
	if n < 2 {
		if !s.good { // it could not read the file
			return nil, broken("ffmpeg", err)
		}
		return nil, io.EOF
	}
	s.good = true
	samples := s.samples[:n/2]
	for i := range samples {
		samples[i] = float32(int16(binary.LittleEndian.Uint16(s.raw[2*i:]))) / 32768
	}
	return samples, nil
}
