package embed

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestBatchesHoldTextsOfLikeLength(t *testing.T) {
	var texts [][]int64
	for i := range 100 {
		texts = append(texts, make([]int64, 1+i*37%512))
	}
	seen, longest := map[int]bool{}, 0
	for batch := range batches(texts) {
		width := len(texts[batch[len(batch)-1]])
		if len(batch) > maxBatchTexts || len(batch) > 1 && len(batch)*width > maxBatchIDs {
			t.Errorf("a batch has %d texts of %d ids", len(batch), width)
		}
		for _, i := range batch {
			if len(texts[i]) < longest {
				t.Errorf("text %d of %d ids comes after one of %d", i, len(texts[i]), longest)
			}
			longest = len(texts[i])
			seen[i] = true
		}
	}
	if len(seen) != len(texts) {
		t.Errorf("%d of %d texts are in a batch", len(seen), len(texts))
	}
}

func TestPooling(t *testing.T) {
	tokens := []float32{3, 0, 1, 8} // two tokens of two numbers
	for pooling, want := range map[Pooling][]float32{
		Mean:  {float32(4 / math.Sqrt(80)), float32(8 / math.Sqrt(80))},
		First: {1, 0},
	} {
		if got := pooling.pool(tokens, 2); !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", pooling, got, want)
		}
	}
	if got := Mean.pool([]float32{0, 0}, 2); !slices.Equal(got, []float32{0, 0}) {
		t.Errorf("nothing is %v, want no direction", got)
	}
}

func TestMissingFilesAreNamed(t *testing.T) {
	dir := t.TempDir()
	m := New(Config{Runtime: filepath.Join(dir, "lib.so"), Dir: dir})
	if _, err := m.Query(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "tokenizer.json")) {
		t.Errorf("the error is %v, want the file that is missing", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := m.Passages(t.Context(), []string{"x"}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after Close the error is %v", err)
	}
}
