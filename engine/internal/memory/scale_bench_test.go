//go:build bench

package memory_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
)

// crowd makes texts and vectors that lie in clusters, as those of real texts do.
type crowd struct {
	centres [][]float32
	words   []string
}

const crowdDimensions = 384

func newCrowd() *crowd {
	r := rand.New(rand.NewPCG(1, 2))
	c := &crowd{}
	for range 2000 {
		c.centres = append(c.centres, gauss(r, nil, 1))
	}
	for i := range 50_000 {
		c.words = append(c.words, "w"+strconv.FormatInt(int64(i), 36))
	}
	return c
}

// gauss is a random vector of length 1, near another one or anywhere.
func gauss(r *rand.Rand, near []float32, spread float64) []float32 {
	v := make([]float32, crowdDimensions)
	var sum float64
	for i := range v {
		x := r.NormFloat64() * spread
		if near != nil {
			x = x/math.Sqrt(crowdDimensions) + float64(near[i])
		}
		v[i] = float32(x)
		sum += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// Name, Dimensions, Query and Passages make a crowd an Embedder. A text begins
// with its number.
func (c *crowd) Name() string                            { return "crowd" }
func (c *crowd) Dimensions(context.Context) (int, error) { return crowdDimensions, nil }

func (c *crowd) Query(_ context.Context, text string) ([]float32, error) {
	number, _, _ := strings.Cut(text, " ")
	n, err := strconv.ParseUint(strings.TrimLeft(number, "qn"), 10, 64)
	r := rand.New(rand.NewPCG(n, uint64(number[0])))
	return gauss(r, c.centres[r.IntN(len(c.centres))], 0.9), err
}

func (c *crowd) Passages(ctx context.Context, texts []string) (all [][]float32, err error) {
	for _, t := range texts {
		v, err := c.Query(ctx, t)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// text is a number and words, common ones more often than rare ones.
func (c *crowd) text(kind string, n, words int) string {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	zipf := rand.NewZipf(r, 1.1, 8, uint64(len(c.words)-1))
	var b strings.Builder
	fmt.Fprintf(&b, "%s%d", kind, n)
	for range words {
		b.WriteString(" " + c.words[zipf.Uint64()])
	}
	return b.String()
}

// memory is the one of a number: a line of a conversation, or one of those that were
// saved by themselves, hours apart, which all have the same source.
func (c *crowd) memory(n int) store.Memory {
	m := store.Memory{Content: c.text("n", n, 16), Source: "s" + strconv.Itoa(n/50), CreatedAt: time.Unix(1.6e9, 0).Add(time.Duration(n) * time.Second)}
	if n%2 == 0 {
		m.Source, m.CreatedAt = "manual", m.CreatedAt.Add(time.Duration(n)*time.Hour)
	}
	return m
}

// TestScale measures the search in ROWS memories (100,000).
func TestScale(t *testing.T) {
	rows, err := strconv.Atoi(os.Getenv("ROWS"))
	if err != nil {
		rows = 100_000
	}
	c := newCrowd()
	s := openStore(t)
	m := memory.New(memory.Config{Store: s, Embedder: c, Log: slog.New(slog.DiscardHandler)})
	begun := time.Now()
	for from := 0; from < rows; from += 500 {
		var batch []store.Memory
		for i := from; i < min(from+500, rows); i++ {
			batch = append(batch, c.memory(i))
		}
		write(t, s, func(tx *store.Tx) error { return memory.SaveAll(tx, batch, memory.ChunkSize{Size: 400, Overlap: 80}) })
	}
	words := time.Since(begun)
	begun = time.Now()
	if err := m.Embed(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	vectors := time.Since(begun)
	fmt.Printf("%d memories: %.0f a second into the words, %.0f a second into the vectors\n", rows, float64(rows)/words.Seconds(), float64(rows)/vectors.Seconds())

	const queries = 300
	c.search(t, m, memory.Query{Text: c.text("q", 0, 6)}) // reads the signs
	for _, mode := range []memory.Mode{memory.Hybrid, memory.Keyword, memory.Vector} {
		var took []time.Duration
		before := processor(t)
		for i := range queries {
			begun := time.Now()
			c.search(t, m, memory.Query{Text: c.text("q", i, 6), Mode: mode})
			took = append(took, time.Since(begun))
		}
		slices.Sort(took)
		fmt.Printf("%s: p50 %s, p99 %s, processor %s\n", mode, took[queries/2].Round(10*time.Microsecond), took[queries*99/100].Round(10*time.Microsecond), ((processor(t) - before) / queries).Round(10*time.Microsecond))
		goal50, goal99 := 10*time.Millisecond, 30*time.Millisecond
		if rows > 100_000 {
			goal50, goal99 = 150*time.Millisecond, 300*time.Millisecond
		}
		if took[queries/2] > goal50 || took[queries*99/100] > goal99 {
			t.Errorf("%s is slower than %s and %s", mode, goal50, goal99)
		}
	}
	if recall := c.recall(t, m, min(rows, 200_000), rows); recall < 0.99 {
		t.Errorf("recall@10 is %.4f", recall)
	}
}

// processor is the time that the process has had of the processors.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (c *crowd) search(t *testing.T, m *memory.Memory, q memory.Query) []memory.Hit {
	t.Helper()
	hits, err := m.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// recall compares the first ten of the vectors' own order with the exact one.
func (c *crowd) recall(t *testing.T, m *memory.Memory, sample, rows int) float64 {
	t.Helper()
	all := make([][]float32, rows)
	for i := range all {
		all[i], _ = c.Query(t.Context(), "n"+strconv.Itoa(i))
	}
	const queries = 50
	same := 0
	for q := range queries {
		text := c.text("q", q, 6)
		v, _ := c.Query(t.Context(), text)
		type near struct {
			n      int
			cosine float32
		}
		order := make([]near, rows)
		for i, w := range all {
			var sum float32
			for k := range w {
				sum += w[k] * v[k]
			}
			order[i] = near{i, sum}
		}
		slices.SortFunc(order, func(a, b near) int { return int(math.Copysign(1, float64(b.cosine-a.cosine))) })
		exact := map[string]bool{}
		for _, o := range order[:10] {
			exact["n"+strconv.Itoa(o.n)] = true
		}
		nearest, err := m.Nearest(t.Context(), v, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range nearest {
			if number, _, _ := strings.Cut(h, " "); exact[number] {
				same++
			}
		}
	}
	recall := float64(same) / (10 * queries)
	fmt.Printf("recall@10 of the exact order: %.4f\n", recall)
	return recall
}
