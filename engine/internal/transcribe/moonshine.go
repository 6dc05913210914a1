package transcribe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	ort "github.com/yalue/onnxruntime_go"

	"klawbot/engine/internal/onnx"
	"klawbot/engine/internal/sound"
)

// The shape of Moonshine tiny: layers of the decoder, its heads and their width.
const (
	layers    = 6
	heads     = 8
	headWidth = 36
)

// tokensASecond bounds what is read out of a second of sound. People speak 3 to 4
// tokens; a model that repeats itself has no end.
const tokensASecond = 6.5

// moonshine is a loaded speech model.
type moonshine struct {
	tokens  tokens
	encoder *ort.DynamicAdvancedSession
	decoder *ort.DynamicAdvancedSession
	files   [][]byte // mapped; the sessions read their weights in them
}

// frugal makes the sessions use the weights where they are mapped instead of copies, which
// take 100 MB more.
var frugal = []string{"session.use_ort_model_bytes_directly", "session.use_ort_model_bytes_for_initializers", "session.disable_prepacking"}

// openMoonshine loads the model of a folder. The caller closes it.
func openMoonshine(library, dir string, threads int) (_ *moonshine, err error) {
	if err := onnx.Load(library); err != nil {
		return nil, err
	}
	options, err := onnx.Options(threads)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, options.Destroy()) }()
	for _, entry := range frugal {
		if err := options.AddSessionConfigEntry(entry, "1"); err != nil {
			return nil, err
		}
	}
	m := &moonshine{}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.close())
		}
	}()
	if m.tokens, err = readTokens(dir); err != nil {
		return nil, err
	}
	m.encoder, err = m.session(filepath.Join(dir, "encoder_model.ort"), []string{"input_values", "attention_mask"}, []string{"last_hidden_state"}, options)
	if err != nil {
		return nil, err
	}
	inputs, outputs := decoderNames()
	if m.decoder, err = m.session(filepath.Join(dir, "decoder_model_merged.ort"), inputs, outputs, options); err != nil {
		return nil, err
	}
	return m, nil
}

// session opens a graph and keeps its file mapped.
func (m *moonshine) session(file string, inputs, outputs []string, options *ort.SessionOptions) (*ort.DynamicAdvancedSession, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the mapping stays
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	raw, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", file, err)
	}
	m.files = append(m.files, raw)
	s, err := ort.NewDynamicAdvancedSessionWithONNXData(raw, inputs, outputs, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return s, nil
}

// close ends the sessions, then the mappings that they read.
func (m *moonshine) close() (err error) {
	for _, s := range []*ort.DynamicAdvancedSession{m.encoder, m.decoder} {
		if s != nil {
			err = errors.Join(err, s.Destroy())
		}
	}
	for _, raw := range m.files {
		err = errors.Join(err, syscall.Munmap(raw))
	}
	return err
}

// decoderNames are the inputs and outputs of the decoder. The caches of a layer are in
// the order decoder key, decoder value, encoder key, encoder value.
func decoderNames() (inputs, outputs []string) {
	inputs, outputs = []string{"input_ids", "encoder_hidden_states", "encoder_attention_mask", "use_cache_branch"}, []string{"logits"}
	for i := range layers {
		for _, cache := range []string{"decoder.key", "decoder.value", "encoder.key", "encoder.value"} {
			inputs = append(inputs, fmt.Sprintf("past_key_values.%d.%s", i, cache))
			outputs = append(outputs, fmt.Sprintf("present.%d.%s", i, cache))
		}
	}
	return inputs, outputs
}

// hear reads the words out of one part.
func (m *moonshine) hear(ctx context.Context, part []float32) (_ string, err error) {
	var values []ort.Value
	defer func() { err = errors.Join(err, destroy(values)) }()
	samples, err := ort.NewTensor(ort.NewShape(1, int64(len(part))), part)
	if err != nil {
		return "", err
	}
	values = append(values, samples)
	// The mask counts samples, in the encoder and in the decoder.
	mask, err := ort.NewTensor(ort.NewShape(1, int64(len(part))), slices.Repeat([]int64{1}, len(part)))
	if err != nil {
		return "", err
	}
	values = append(values, mask)
	out := []ort.Value{nil}
	err = m.encoder.Run([]ort.Value{samples, mask}, out)
	values = append(values, out...)
	if err != nil {
		return "", err
	}
	most := int(float64(len(part))/sound.Rate*tokensASecond) + 1
	ids, err := m.decode(ctx, out[0], mask, most)
	return m.tokens.text(ids), err
}

// decode reads token by token, always the most likely one.
func (m *moonshine) decode(ctx context.Context, hidden, mask ort.Value, most int) (ids []int64, err error) {
	caches, err := emptyCaches()
	defer func() { err = errors.Join(err, destroy(caches)) }()
	if err != nil {
		return nil, err
	}
	for last := int64(tokenBegin); len(ids) < most; ids = append(ids, last) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if last, err = m.step(last, len(ids) > 0, hidden, mask, caches); err != nil {
			return nil, err
		}
		if last == tokenEnd {
			break
		}
	}
	return ids, nil
}

// step is one run of the decoder. It replaces the caches: those of the encoder are made
// by the first step and stay.
func (m *moonshine) step(token int64, cached bool, hidden, mask ort.Value, caches []ort.Value) (next int64, err error) {
	input, err := ort.NewTensor(ort.NewShape(1, 1), []int64{token})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, input.Destroy()) }()
	branch, err := ort.NewTensor(ort.NewShape(1), []bool{cached})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, branch.Destroy()) }()
	out := make([]ort.Value, 1+len(caches))
	err = m.decoder.Run(append([]ort.Value{input, hidden, mask, branch}, caches...), out)
	defer func() { err = errors.Join(err, destroy(out)) }()
	if err != nil {
		return 0, err
	}
	logits, ok := out[0].(*ort.Tensor[float32])
	if !ok {
		return 0, fmt.Errorf("the model's output is a %T, want 32-bit floats", out[0])
	}
	for i := range caches {
		if ofEncoder := i%4 >= 2; !cached || !ofEncoder {
			caches[i], out[1+i] = out[1+i], caches[i] // the old one goes with out
		}
	}
	return int64(likeliest(logits.GetData())), nil
}

func likeliest(logits []float32) (best int) {
	for i, l := range logits {
		if l > logits[best] {
			best = i
		}
	}
	return best
}

// emptyCaches are those of the first step, which ignores them; they must have a length.
func emptyCaches() (all []ort.Value, err error) {
	for range 4 * layers {
		c, err := ort.NewEmptyTensor[float32](ort.NewShape(1, heads, 1, headWidth))
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

func destroy(values []ort.Value) (err error) {
	for _, v := range values {
		if v != nil {
			err = errors.Join(err, v.Destroy())
		}
	}
	return err
}
