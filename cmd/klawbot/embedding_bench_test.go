//go:build bench

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// embedding measures what klawbot memory import takes for notes of about 25
// tokens with the default model, loading it included. Without build/assets it
// says how to get them.
func (b *figures) embedding(binary string) {
	if !haveAssets(binary) {
		b.rows = append(b.rows, "embedding rate\tnot measured\tmake assets brings the model")
		return
	}
	notes := scale(1000)
	var file strings.Builder
	encoder := json.NewEncoder(&file)
	for i := range notes {
		note := map[string]string{"source": "bench", "content": fmt.Sprintf("Note %d: the meeting with Anna moved to Thursday, because the train was late and nobody had told Boris", i)}
		if err := encoder.Encode(note); err != nil {
			b.t.Fatal(err)
		}
	}
	cmd := exec.Command(binary, "--data", b.t.TempDir(), "memory", "import", "-")
	cmd.Stdin = strings.NewReader(file.String())
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("memory import: %v\n%s", err, out)
	}
	if want := fmt.Sprintf("%d read for search by meaning", notes); !strings.Contains(string(out), want) {
		b.t.Errorf("memory import says %q, want %q", out, want)
	}
	rate := float64(notes) / time.Since(began).Seconds()
	b.add("notes embedded, model loaded first", rate, "texts/s", ">= 20", rate >= 20)
	peak := float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) * 1024 / 1e6
	b.add("most memory with the embedding model", peak, "MB", "<= 140", peak <= 140)
}

// meaning is turns with the embedding model: the question of each turn gets a
// vector. It has no goal of its own but the memory.
func (b *figures) meaning(binary string) {
	if !haveAssets(binary) {
		return
	}
	own, memory := b.talk(binary, "off", func(r *rig) { r.edit(wordsAlone, "") })
	b.add("own overhead per turn p50, search by meaning", ms(own[len(own)/2]), "ms", "", true)
	b.add("own overhead per turn p99, search by meaning", ms(own[len(own)*99/100]), "ms", "", true)
	b.add(fmt.Sprintf("RSS after %d turns, search by meaning", len(own)), memory, "MB", "<= 140", memory <= 140)
}

// haveAssets reports whether the embedding model lies in build/assets.
func haveAssets(binary string) bool {
	_, err := os.Stat(filepath.Join(filepath.Dir(binary), "..", "build", "assets", "e5-small-v2", "model.onnx"))
	return err == nil
}
