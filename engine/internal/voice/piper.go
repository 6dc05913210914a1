package voice

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	ort "github.com/yalue/onnxruntime_go"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/onnx"
)

// Kind names Child among the jobs of package confined.
const Kind = "voice"

// piper is a voice on this machine.
type piper struct {
	library, model string
	threads        int
}

func (p piper) write() map[string]string {
	return map[string]string{"library": p.library, "model": p.model, "threads": strconv.Itoa(p.threads)}
}

// recipe is what model.onnx.json says of a voice.
type recipe struct {
	Audio struct {
		SampleRate int `json:"sample_rate"`
	} `json:"audio"`
	Espeak struct {
		Voice string `json:"voice"`
	} `json:"espeak"`
	Inference struct {
		NoiseScale  float32 `json:"noise_scale"`
		LengthScale float32 `json:"length_scale"`
		NoiseW      float32 `json:"noise_w"`
	} `json:"inference"`
	Speakers int                `json:"num_speakers"`
	IDs      map[string][]int64 `json:"phoneme_id_map"`
}

// Child speaks the text of a file in the child process.
func Child(ctx context.Context, job confined.Job, _ string) (confined.Result, error) {
	text, err := os.ReadFile(job.Input)
	if err != nil {
		return confined.Result{}, err
	}
	threads, err := strconv.Atoi(job.Options["threads"])
	if err != nil {
		return confined.Result{}, err
	}
	ogg, err := speak(ctx, piper{job.Options["library"], job.Options["model"], threads}, string(text))
	return confined.Result{Data: ogg}, err
}

// speak makes a voice message, sentence by sentence.
func speak(ctx context.Context, p piper, text string) (_ []byte, err error) {
	raw, err := os.ReadFile(p.model + ".json")
	if err != nil {
		return nil, err
	}
	var r recipe
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("%s.json: %w", p.model, err)
	}
	if r.Audio.SampleRate < 8000 || r.Audio.SampleRate > 48000 || len(r.IDs) == 0 {
		return nil, fmt.Errorf("%s.json is not of a voice of Piper", p.model)
	}
	session, err := openVoice(p, r.Speakers > 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Destroy()) }()
	var samples []byte
	var ids []int64
	for _, c := range clauses(text) {
		phonemes, err := phonemesOf(ctx, r.Espeak.Voice, c.text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, r.ids(phonemes+c.sign+" ")...)
		if !c.ends {
			continue
		}
		sentence, err := r.say(session, ids)
		if err != nil {
			return nil, err
		}
		samples = append(append(samples, sentence...), make([]byte, 2*r.Audio.SampleRate/5)...) // a breath
		ids = ids[:0]
	}
	if len(samples) == 0 {
		return nil, ErrNothing
	}
	return opus(ctx, samples, r.Audio.SampleRate)
}

func openVoice(p piper, speakers bool) (*ort.DynamicAdvancedSession, error) {
	if err := onnx.Load(p.library); err != nil {
		return nil, err
	}
	options, err := onnx.Options(p.threads)
	if err != nil {
		return nil, err
	}
	inputs := []string{"input", "input_lengths", "scales"}
	if speakers {
		inputs = append(inputs, "sid")
	}
	session, err := ort.NewDynamicAdvancedSession(p.model, inputs, []string{"output"}, options)
	return session, errors.Join(err, options.Destroy())
}

// languageMark is what espeak-ng writes where it changes the language, "(en)".
var languageMark = regexp.MustCompile(`\([a-z-]+\)`)

// phonemesOf asks espeak-ng how a text is spoken.
func phonemesOf(ctx context.Context, voice, text string) (string, error) {
	cmd := exec.CommandContext(ctx, "espeak-ng", "-q", "--ipa", "-v", voice, "--stdin")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("espeak-ng: %w", err)
	}
	return strings.Join(strings.Fields(languageMark.ReplaceAllString(string(out), "")), " "), nil
}

// ids are the numbers of phonemes; those that the voice lacks are left out. A pause comes
// behind each.
func (r recipe) ids(phonemes string) (all []int64) {
	for _, p := range phonemes {
		if id := r.IDs[string(p)]; len(id) > 0 {
			all = append(append(all, id...), r.IDs["_"]...)
		}
	}
	return all
}

// say computes the samples of a sentence, 16 bits each.
func (r recipe) say(session *ort.DynamicAdvancedSession, ids []int64) (_ []byte, err error) {
	ids = append(append(append([]int64{}, r.IDs["^"]...), r.IDs["_"]...), append(ids, r.IDs["$"]...)...)
	var values []ort.Value
	defer func() {
		for _, v := range values {
			if v != nil {
				err = errors.Join(err, v.Destroy())
			}
		}
	}()
	add := func(v ort.Value, made error) { values, err = append(values, v), errors.Join(err, made) }
	input, made := ort.NewTensor(ort.NewShape(1, int64(len(ids))), ids)
	add(input, made)
	length, made := ort.NewTensor(ort.NewShape(1), []int64{int64(len(ids))})
	add(length, made)
	i := r.Inference
	scales, made := ort.NewTensor(ort.NewShape(3), []float32{i.NoiseScale, i.LengthScale, i.NoiseW})
	add(scales, made)
	if r.Speakers > 1 {
		first, made := ort.NewTensor(ort.NewShape(1), []int64{0})
		add(first, made)
	}
	if err != nil {
		return nil, err
	}
	out := []ort.Value{nil}
	err = session.Run(values, out)
	values = append(values, out...)
	if err != nil {
		return nil, err
	}
	sound, ok := out[0].(*ort.Tensor[float32])
	if !ok {
		return nil, fmt.Errorf("the voice's output is a %T, want 32-bit floats", out[0])
	}
	return leveled(sound.GetData()), nil
}

// leveled brings samples to the full level, as 16 bits.
func leveled(samples []float32) []byte {
	peak := float32(0.01)
	for _, s := range samples {
		peak = max(peak, s, -s)
	}
	raw := make([]byte, 0, 2*len(samples))
	for _, s := range samples {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(int16(s/peak*30000)))
	}
	return raw
}

// opus makes a voice message of samples.
func opus(ctx context.Context, samples []byte, rate int) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "opusenc", "--quiet", "--raw", "--raw-bits", "16", "--raw-chan", "1",
		"--raw-rate", strconv.Itoa(rate), "--bitrate", "32", "-", "-")
	cmd.Stdin = bytes.NewReader(samples)
	ogg, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("opusenc: %w", err)
	}
	return ogg, nil
}
