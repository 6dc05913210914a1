package file_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/tools"
)

// library fills the workspace with files of 10 kB in 100 folders. One line in
// the last file holds "needle".
func (b bench) library(files int) {
	b.t.Helper()
	words := strings.Fields("the quick brown fox jumps over a lazy dog while rain falls on Ulm and nobody minds errors or invoices")
	random := rand.New(rand.NewPCG(1, 2))
	for i := range files {
		var text bytes.Buffer
		for text.Len() < 10_000 {
			for range 8 {
				text.WriteString(words[random.IntN(len(words))])
				text.WriteByte(' ')
			}
			text.WriteByte('\n')
		}
		if i == files-1 {
			text.WriteString("a needle in 42 haystacks\n")
		}
		b.put(fmt.Sprintf("%02d/file-%05d.txt", i%100, i), text.String())
	}
}

// peakHeap watches the memory that the program holds until stop is called,
// which returns the highest value in bytes.
func peakHeap() (stop func() uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	var peak uint64
	done := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			peak = max(peak, sample[0].Value.Uint64()+sample[1].Value.Uint64())
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	return func() uint64 { close(done); watcher.Wait(); return peak }
}

// BenchmarkSearch looks through 10,000 files of 100 MB together.
func BenchmarkSearch(b *testing.B) {
	w := newBench(b, nil)
	w.library(10_000)
	for name, arguments := range map[string]map[string]any{
		"literal":       {"pattern": "needle", "type": "grep"},
		"expression":    {"pattern": `needle in \d+`, "type": "grep"},
		"needs nothing": {"pattern": `n[e]{2}dle`, "type": "grep"},
		"without case":  {"pattern": "(?i)needle", "type": "grep"},
		"glob":          {"pattern": "**/*-09999.txt"},
	} {
		b.Run(name, func(b *testing.B) {
			source, err := json.Marshal(arguments)
			if err != nil {
				b.Fatal(err)
			}
			runtime.GC()
			stop := peakHeap()
			for b.Loop() {
				r, err := w.Execute(b.Context(), tools.Call{ID: "c1", Name: "file_search", Arguments: source}, nil)
				if err != nil || !strings.Contains(r.Output, "99/file-09999.txt") {
					b.Fatalf("%v: %s", err, r.Output)
				}
			}
			b.ReportMetric(float64(stop())/(1<<20), "MB-heap")
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	w := newBench(b, nil)
	content := strings.Repeat("x", 10_000)
	for b.Loop() {
		w.call("file_write", "path", "a.txt", "content", content)
	}
	if got, err := os.ReadFile(filepath.Join(w.dir, "a.txt")); err != nil || len(got) != len(content) {
		b.Errorf("%d bytes, %v", len(got), err)
	}
}

func BenchmarkRead(b *testing.B) {
	w := newBench(b, nil)
	w.put("a.txt", strings.Repeat("some words\n", 900))
	for b.Loop() {
		if r := w.call("file_read", "path", "a.txt", "startLine", 100, "maxLines", 50); !r.Success {
			b.Fatal(r.Output)
		}
	}
}
