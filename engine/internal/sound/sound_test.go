package sound

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// wave makes a WAV file with one second of 440 Hz.
func wave(kind, rate, channels, bits int, extensible bool) []byte {
	var data bytes.Buffer
	for i := range rate {
		v := 0.5 * math.Sin(2*math.Pi*440*float64(i)/float64(rate))
		for range channels {
			switch {
			case kind == waveFloat && bits == 32:
				_ = binary.Write(&data, binary.LittleEndian, float32(v))
			case kind == waveFloat:
				_ = binary.Write(&data, binary.LittleEndian, v)
			case bits == 8:
				data.WriteByte(byte(v*127 + 128))
			default:
				n := uint64(int64(v * float64(int64(1)<<(bits-1))))
				for b := range bits / 8 {
					data.WriteByte(byte(n >> (8 * b)))
				}
			}
		}
	}
	format := binary.LittleEndian.AppendUint16(nil, uint16(kind))
	if extensible {
		format = binary.LittleEndian.AppendUint16(nil, waveExtensible)
	}
	format = binary.LittleEndian.AppendUint16(format, uint16(channels))
	format = binary.LittleEndian.AppendUint32(format, uint32(rate))
	format = binary.LittleEndian.AppendUint32(format, uint32(rate*channels*bits/8))
	format = binary.LittleEndian.AppendUint16(format, uint16(channels*bits/8))
	format = binary.LittleEndian.AppendUint16(format, uint16(bits))
	if extensible {
		format = append(format, 22, 0, byte(bits), 0, 0, 0, 0, 0, byte(kind), 0)
		format = append(format, "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"...)
	}
	chunk := func(name string, body []byte) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(body))), body...)
	}
	body := append([]byte("WAVE"), chunk("fmt ", format)...)
	body = append(body, chunk("LIST", []byte("odd\x00"))...)
	return chunk("RIFF", append(body, chunk("data", data.Bytes())...))
}

// decoded is all sound of a file.
func decoded(t testing.TB, raw []byte) ([]float32, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sound")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := open(f)
	if err != nil {
		return nil, err
	}
	var all []float32
	for len(all) < 60*Rate {
		piece, err := s.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, piece...)
	}
	return all, nil
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestEveryFormatSoundsTheSame: whatever the container, the rate, the channels and the
// samples are, one second of 440 Hz is one second of 440 Hz.
func TestEveryFormatSoundsTheSame(t *testing.T) {
	files := map[string][]byte{
		"8 bits at 8 kHz":           wave(wavePCM, 8000, 1, 8, false),
		"16 bits at 16 kHz":         wave(wavePCM, 16000, 1, 16, false),
		"24 bits at 44.1 kHz":       wave(wavePCM, 44100, 2, 24, true),
		"32 bits at 11.025 kHz":     wave(wavePCM, 11025, 1, 32, false),
		"floats at 48 kHz":          wave(waveFloat, 48000, 2, 32, false),
		"doubles at 96 kHz, 6 chan": wave(waveFloat, 96000, 6, 64, true),
	}
	for _, name := range []string{"tone.opus", "stereo.opus", "tone.mp3", "tone.flac"} {
		files[name] = fixture(t, name)
	}
	for name, raw := range files {
		t.Run(name, func(t *testing.T) {
			all, err := decoded(t, raw)
			if err != nil {
				t.Fatal(err)
			}
			if seconds := float64(len(all)) / Rate; math.Abs(seconds-1) > 0.1 {
				t.Errorf("%.2f s", seconds)
			}
			middle := all[Rate/4 : Rate*3/4]
			crossings := 0
			for i := range middle[1:] {
				if (middle[i] < 0) != (middle[i+1] < 0) {
					crossings++
				}
			}
			if crossings < 436 || crossings > 444 {
				t.Errorf("%d Hz", crossings)
			}
			if level := math.Sqrt(2 * energy(middle)); math.Abs(level-0.5) > 0.05 {
				t.Errorf("level %.3f", level)
			}
		})
	}
}

// TestResamplerTakesAwayWhatTheRateCannotHold: 10 kHz would come back as 6 kHz.
func TestResamplerTakesAwayWhatTheRateCannotHold(t *testing.T) {
	high := make([]float32, 48000)
	for i := range high {
		high[i] = float32(math.Sin(2 * math.Pi * 10000 * float64(i) / 48000))
	}
	s, err := resampled(&pieces{high}, 48000)
	if err != nil {
		t.Fatal(err)
	}
	var all []float32
	for {
		piece, err := s.Next()
		if err != nil {
			break
		}
		all = append(all, piece...)
	}
	if level := math.Sqrt(energy(all[1000 : len(all)-1000])); level > 0.01 {
		t.Errorf("level %.3f is left", level)
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

// TestWhatIsNoSound: each is told apart from a damaged file.
func TestWhatIsNoSound(t *testing.T) {
	opusFile := fixture(t, "tone.opus")
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"empty":                 {nil, ErrBroken},
		"a text":                {[]byte("These are words of an ordinary text file, no sound."), ErrFormat},
		"AAC":                   {append([]byte{0xff, 0xf1, 0x50, 0x80}, make([]byte, 60)...), ErrFormat},
		"MPEG-4":                {append([]byte("\x00\x00\x00\x20ftypM4A "), make([]byte, 60)...), ErrFormat},
		"Vorbis":                {bytes.Replace(opusFile, []byte("OpusHead"), []byte("\x01vorbis\x00"), 1), ErrFormat},
		"Opus, its head alone":  {opusFile[:60], ErrBroken},
		"Opus of 8 channels":    {channels(opusFile, 8), ErrBroken},
		"WAV without samples":   {wave(wavePCM, 16000, 1, 16, false)[:40], ErrBroken},
		"WAV of no channel":     {wave(wavePCM, 16000, 0, 16, false), ErrBroken},
		"WAV, 1 sample/s":       {wave(wavePCM, 1, 1, 16, false), ErrBroken},
		"WAV, packed":           {wave(6, 8000, 1, 8, false), ErrFormat},
		"FLAC, its head alone":  {fixture(t, "tone.flac")[:20], ErrBroken},
		"MP3, a tag alone":      {append([]byte("ID3\x03\x00\x00\x00\x00\x00\x10"), make([]byte, 64)...), ErrBroken},
		"MP3, a frame of zeros": {append([]byte{0xff, 0xfb, 0x90, 0}, make([]byte, 64)...), ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			if all, err := decoded(t, c.raw); !errors.Is(err, c.want) {
				t.Errorf("%d samples, %v, want %v", len(all), err, c.want)
			}
		})
	}
}

// channels says another number of channels in an Opus file, whose check sum is then wrong.
func channels(raw []byte, n byte) []byte {
	raw = bytes.Clone(raw)
	raw[bytes.Index(raw, []byte("OpusHead"))+9] = n
	return raw
}

// TestCutOffSoundIsHeardAsFarAsItGoes: a recorder or a download that broke off.
func TestCutOffSoundIsHeardAsFarAsItGoes(t *testing.T) {
	// The pages of this little Opus file are as long as it is.
	long := fixture(t, "stereo.opus")
	for name, raw := range map[string][]byte{
		"WAV":  wave(wavePCM, 16000, 1, 16, false)[:20000],
		"FLAC": fixture(t, "tone.flac")[:len(fixture(t, "tone.flac"))*2/3],
		"MP3":  fixture(t, "tone.mp3")[:len(fixture(t, "tone.mp3"))*2/3],
		"Opus": append(bytes.Clone(long), long[:100]...),
	} {
		all, err := decoded(t, raw)
		if err != nil || len(all) < Rate/4 {
			t.Errorf("%s: %d samples, %v", name, len(all), err)
		}
	}
}

// FuzzSound: no file makes the decoders panic or never end.
func FuzzSound(f *testing.F) {
	for _, name := range []string{"tone.opus", "stereo.opus", "tone.mp3", "tone.flac"} {
		f.Add(fixture(f, name))
	}
	f.Add(wave(wavePCM, 8000, 2, 16, true))
	f.Fuzz(func(t *testing.T, raw []byte) {
		all, err := decoded(t, raw)
		if err != nil && !errors.Is(err, ErrBroken) && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
		for _, s := range all {
			if s != s {
				t.Fatal("not a number")
			}
		}
	})
}

// energy is the mean of the squares.
func energy(samples []float32) float64 {
	var sum float64
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return sum / float64(len(samples))
}
