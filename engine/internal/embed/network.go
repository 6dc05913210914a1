package embed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	ort "github.com/yalue/onnxruntime_go"

	"klawbot/engine/internal/onnx"
)

// network is a loaded ONNX graph that turns token ids into one vector a token.
type network struct {
	session *ort.DynamicAdvancedSession
	inputs  []string // in the order of the graph
}

func openNetwork(library, file string, threads int) (_ *network, err error) {
	if err := onnx.Load(library); err != nil {
		return nil, err
	}
	options, err := onnx.Options(threads)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, options.Destroy()) }()
	n := &network{inputs: []string{inputIDs, inputMask, inputTypes}}
	if n.session, err = ort.NewDynamicAdvancedSession(file, n.inputs, []string{outputHidden}, options); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if n.answers() {
		return n, nil
	}
	if err := n.close(); err != nil {
		return nil, err
	}
	return openUnusual(file, options)
}

// What the graphs of sentence models call their inputs and their output.
const (
	inputIDs     = "input_ids"
	inputMask    = "attention_mask"
	inputTypes   = "token_type_ids"
	outputHidden = "last_hidden_state"
)

// answers reports whether the graph has the inputs and the output that are
// expected of it. To ask it beforehand would load it twice.
func (n *network) answers() bool {
	err := n.run(context.Background(), [][]int64{{0}}, []int{0}, Mean, make([][]float32, 1))
	return err == nil
}

// openUnusual opens a graph that calls its inputs or its output otherwise.
func openUnusual(file string, options *ort.SessionOptions) (*network, error) {
	inputs, outputs, err := ort.GetInputOutputInfoWithOptions(file, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	n := &network{}
	for _, in := range inputs {
		n.inputs = append(n.inputs, in.Name)
	}
	hidden := slices.IndexFunc(outputs, func(o ort.InputOutputInfo) bool { return len(o.Dimensions) == 3 })
	if hidden < 0 {
		return nil, fmt.Errorf("%s has no output with a vector for each token; it is not a sentence model", file)
	}
	if n.session, err = ort.NewDynamicAdvancedSession(file, n.inputs, []string{outputs[hidden].Name}, options); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return n, nil
}

// The most of one computation: texts, and ids with those that fill short texts
// up.
const (
	maxBatchTexts = 16
	maxBatchIDs   = 2048
)

// batches groups texts of about the same length, so that little is filled up.
// A batch holds indexes.
func batches(texts [][]int64) iter.Seq[[]int] {
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(texts[a]) - len(texts[b]) })
	return func(yield func([]int) bool) {
		for len(order) > 0 {
			n := 1
			for n < len(order) && n < maxBatchTexts && (n+1)*len(texts[order[n]]) <= maxBatchIDs {
				n++
			}
			if !yield(order[:n]) {
				return
			}
			order = order[n:]
		}
	}
}

// run computes one batch of texts and puts their vectors into all.
func (n *network) run(ctx context.Context, texts [][]int64, batch []int, pooling Pooling, all [][]float32) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	width := len(texts[batch[len(batch)-1]])
	ids, mask := make([]int64, len(batch)*width), make([]int64, len(batch)*width)
	for row, i := range batch {
		copy(ids[row*width:], texts[i])
		for k := range texts[i] {
			mask[row*width+k] = 1
		}
	}
	shape := ort.NewShape(int64(len(batch)), int64(width))
	var values []ort.Value
	defer func() {
		for _, v := range values {
			if v != nil {
				err = errors.Join(err, v.Destroy())
			}
		}
	}()
	for _, name := range n.inputs {
		data := map[string][]int64{inputIDs: ids, inputMask: mask}[name]
		if data == nil {
			data = make([]int64, len(ids)) // the types: one text, so all 0
		}
		t, err := ort.NewTensor(shape, data)
		if err != nil {
			return err
		}
		values = append(values, t)
	}
	out := []ort.Value{nil}
	err = n.session.Run(values, out)
	values = append(values, out...)
	if err != nil {
		return err
	}
	hidden, ok := out[0].(*ort.Tensor[float32])
	if !ok {
		return fmt.Errorf("the model's output is a %T, want 32-bit floats", out[0])
	}
	size := int(hidden.GetShape()[2])
	for row, i := range batch {
		first := row * width * size
		all[i] = pooling.pool(hidden.GetData()[first:first+len(texts[i])*size], size)
	}
	return nil
}

func (n *network) close() error { return n.session.Destroy() }

// pool makes one vector of length 1 of those of the tokens, which lie behind
// each other.
func (p Pooling) pool(tokens []float32, size int) []float32 {
	vector := make([]float32, size)
	if p == First {
		copy(vector, tokens)
	} else {
		for at := 0; at+size <= len(tokens); at += size {
			for i, x := range tokens[at : at+size] {
				vector[i] += x
			}
		}
	}
	return normalised(vector)
}
