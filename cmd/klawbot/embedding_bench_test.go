//go:build bench

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	peak := make(chan float64, 1)
	go func() { peak <- peakMemory(cmd.Process.Pid) }()
	if err := cmd.Wait(); err != nil {
		b.t.Fatalf("memory import: %v\n%s", err, out.String())
	}
	if want := fmt.Sprintf("%d indexed for semantic search", notes); !strings.Contains(out.String(), want) {
		b.t.Errorf("memory import says %q, want %q", out.String(), want)
	}
	rate := float64(notes) / time.Since(began).Seconds()
	b.add("notes embedded, model loaded first", rate, "texts/s", ">= 20", rate >= 20)
	most := <-peak
	b.add("most memory with the embedding model", most, "MB", "<= 140", most <= 140)
}

// peakMemory looks until a process ends at the most that it has occupied, in
// megabytes. What the system counts for a process that has ended would not do: it
// begins with the memory of the one that started it.
func peakMemory(pid int) (most float64) {
	for {
		now, err := memoryOf(pid, "VmHWM:")
		if err != nil {
			return most
		}
		most = max(most, now)
		<-time.After(5 * time.Millisecond)
	}
}

// meaning is turns with the embedding model: the question of each turn gets a
// vector. It has no goal of its own but the memory.
func (b *figures) meaning(binary string) {
	if !haveAssets(binary) {
		return
	}
	own, memory, computed := b.talk(binary, "off", func(r *rig) { r.edit(wordsAlone, "") })
	b.add("own overhead per turn p50, search by meaning", ms(own[len(own)/2]), "ms", "", true)
	b.add("own overhead per turn p99, search by meaning", ms(own[len(own)*99/100]), "ms", "", true)
	b.add("processor time per turn, search by meaning", computed, "ms", "", true)
	b.add(fmt.Sprintf("RSS after %d turns, search by meaning", len(own)), memory, "MB", "<= 140", memory <= 140)
}

// haveAssets reports whether the embedding model lies in build/assets.
func haveAssets(binary string) bool {
	_, err := os.Stat(filepath.Join(filepath.Dir(binary), "..", "build", "assets", "e5-small-v2", "model.onnx"))
	return err == nil
}
