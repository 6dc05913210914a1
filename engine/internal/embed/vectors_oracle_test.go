//go:build oracle

package embed

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sentences are texts as people write and remember them, of many lengths.
func sentences(n int) []string {
	words := strings.Fields("the meeting with Anna moved to Thursday because the train was late and no one had told Boris " +
		"that the new kitchen would cost four thousand euros more than the first offer from the carpenter in March")
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for k := range 6 + i*7%70 {
			b.WriteString(words[(i*13+k*5)%len(words)])
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "(note %d)", i)
		texts[i] = b.String()
	}
	return texts
}

// modelOf opens a model of the assets without prefixes, as the judge has none.
func modelOf(t *testing.T, name string) *Model {
	t.Helper()
	library, dir, err := Places{Dirs: []string{os.Getenv("ASSETS_DIR")}}.Find(name)
	if err != nil {
		t.Fatalf("make assets brings the files: %v", err)
	}
	m := New(Config{Runtime: library, Dir: dir, Recipe: Recipe{Pooling: Mean, MaxTokens: 512}, Threads: threads})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// threads is how many compute, for both.
var threads = min(runtime.NumCPU(), 4)

// judge is ONNX Runtime's own package in a process of its own.
type judge struct {
	in  *json.Encoder
	out *json.Decoder
}

type verdict struct {
	Seconds float64
	Vectors [][]float32
}

func newJudge(t *testing.T, name string) *judge {
	t.Helper()
	c := python(t, "vectors.py", filepath.Join(os.Getenv("ASSETS_DIR"), name), strconv.Itoa(threads))
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &judge{json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))}
}

// python is a script of testdata/oracle with its packages.
func python(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("testdata/oracle", script))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("python3", append([]string{script}, args...)...)
	c.Env = append(os.Environ(), "PYTHONPATH="+os.Getenv("PYTHON_DIR"))
	c.Stderr = os.Stderr
	return c
}

func (j *judge) embed(t *testing.T, texts []string) verdict {
	t.Helper()
	var v verdict
	if err := j.in.Encode(texts); err != nil {
		t.Fatal(err)
	}
	if err := j.out.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestOracleVectors compares vectors and speed with ONNX Runtime's own package.
// Both take short turns, and the best turn of each counts. Other work makes a turn
// slower, never quicker, so while the share is too low they go on until each had
// its undisturbed one.
func TestOracleVectors(t *testing.T) {
	const (
		turns      = 10
		maxTurns   = 200
		speedTexts = 48
		maxError   = 1e-3
		minShare   = 0.8
	)
	for _, name := range []string{"e5-small-v2", "all-minilm-l6-v2"} {
		t.Run(name, func(t *testing.T) {
			m, j := modelOf(t, name), newJudge(t, name)
			// A capital sigma at the end of a word becomes ς by npm's library, Python's
			// and ours, and σ by the Rust one, which the judge has.
			texts := slices.DeleteFunc(slices.Concat(sentences(64), foreignTexts), func(s string) bool { return strings.Contains(s, "Σ") })
			worst := 0.0
			// One at a time: these models round by the greatest number of a batch, so
			// that what stands beside a text changes its vector a little.
			for _, text := range texts {
				theirs := j.embed(t, []string{text}).Vectors[0]
				ours, err := m.Passages(t.Context(), []string{text}) // a question may be one that it cannot read
				if err != nil {
					t.Fatal(err)
				}
				worst = max(worst, apart(t, ours[0], theirs))
			}
			t.Logf("%d vectors, at most %.2g apart", len(texts), worst)
			if worst > maxError {
				t.Errorf("the vectors differ by %.3g, at most %.0e is right", worst, maxError)
			}
			mine, reference := math.Inf(1), math.Inf(1)
			for i := 0; i < turns || i < maxTurns && reference/mine < minShare; i++ {
				reference = min(reference, j.embed(t, sentences(speedTexts)).Seconds)
				begin := time.Now()
				if _, err := m.Passages(t.Context(), sentences(speedTexts)); err != nil {
					t.Fatal(err)
				}
				mine = min(mine, time.Since(begin).Seconds())
			}
			t.Logf("%d threads: %.0f texts/s, ONNX Runtime's own package %.0f: %.0f %%", threads, speedTexts/mine, speedTexts/reference, 100*reference/mine)
			if reference/mine < minShare {
				t.Errorf("%.0f %% of the speed of the reference, at least %.0f %% is right", 100*reference/mine, 100*minShare)
			}
		})
	}
}

// apart is the greatest difference of two vectors.
func apart(t *testing.T, a, b []float32) float64 {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%d dimensions, want %d", len(a), len(b))
	}
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(float64(a[i]-b[i])))
	}
	return worst
}

// maxResident is what a process with the default model may take, in bytes.
const maxResident = 140_000_000

// TestOracleMemory looks at a process of its own with the model in it.
func TestOracleMemory(t *testing.T) {
	if os.Getenv("MEMORY_CHILD") != "" {
		m := modelOf(t, DefaultModel)
		if _, err := m.Passages(t.Context(), sentences(256)); err != nil {
			t.Fatal(err)
		}
		loaded := resident(t)
		m.used = time.Time{}
		m.idle()
		fmt.Printf("resident %d %d\n", loaded, resident(t))
		return
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestOracleMemory$")
	c.Env = append(os.Environ(), "MEMORY_CHILD=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var loaded, released int64
	if _, err := fmt.Sscanf(string(out), "resident %d %d", &loaded, &released); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%d MB with the model, %d MB after its release", loaded/1e6, released/1e6)
	if loaded > maxResident {
		t.Errorf("%d bytes resident with the model, at most %d is right", loaded, maxResident)
	}
	if released > loaded-40<<20 {
		t.Errorf("%d of %d bytes stay after the release", released, loaded)
	}
}

// resident is the memory of this process, in bytes.
func resident(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// TestOracleUnigram compares our tokens with those of the Rust library, with the
// vocabulary of XLM-RoBERTa.
func TestOracleUnigram(t *testing.T) {
	dir := t.TempDir()
	if out, err := python(t, "xlm_roberta.py", dir).Output(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for _, name := range []string{"multilingual-e5", "bge-m3"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name, "tokenizer.json")
			compareTokens(t, filepath.Dir(file), python(t, "rust_tokens.py", file))
		})
	}
}
