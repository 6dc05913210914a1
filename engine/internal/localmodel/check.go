package localmodel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Check says what is wrong with the files of a model, nil when nothing is.
func Check(program, weights string) error {
	if program == "" {
		return errors.New("there is no llama-server; get it with: klawbot assets pull --llm NAME, or set the key program")
	}
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("llama-server does not run: %w; set the key program", err)
	}
	return CheckWeights(weights)
}

// pulledWeights is the file of a model that was pulled, in a folder with its name.
const pulledWeights = "model.gguf"

// Find finds the program and the weights of a model: of a name that was pulled, or of
// the path of a GGUF file. What is not there is empty, or the path where it should be.
func Find(dataDir, program, name string) (found, weights string) {
	folder := filepath.Join(dataDir, "assets", "llm")
	if program == "" {
		if here, err := filepath.Glob(filepath.Join(folder, "llama.cpp", "*", "llama-server")); err == nil && len(here) > 0 {
			program = here[len(here)-1]
		} else if there, err := exec.LookPath("llama-server"); err == nil {
			program = there
		}
	}
	if strings.HasSuffix(name, ".gguf") {
		return program, name
	}
	weights = filepath.Join(folder, name, pulledWeights)
	return program, weights
}

// lowMemory is the share of the memory below which an idle model is unloaded.
const lowMemory = 0.1

// shortOfMemory reports whether the machine has little memory left. Where the system
// does not tell, it has enough.
func shortOfMemory() bool {
	total, free := Memory()
	return total > 0 && float64(free) < lowMemory*float64(total)
}

// Memory is how many bytes of memory the machine or the container has, and how many a
// program can get; 0 where the system does not tell.
func Memory() (total, free int64) {
	total, free = machineMemory()
	if most := containerMemory("/sys/fs/cgroup"); most > 0 {
		total, free = min(total, most), min(free, most)
	}
	return total, free
}

// containerMemory is the limit of a container, 0 without one. Both forms of control groups
// are known.
func containerMemory(groups string) int64 {
	for _, name := range []string{"memory.max", "memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(filepath.Join(groups, name))
		if err != nil {
			continue
		}
		if most, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			return most
		}
	}
	return 0
}

func machineMemory() (total, free int64) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		kb, err := strconv.ParseInt(f[1], 10, 64)
		switch {
		case err != nil:
		case f[0] == "MemTotal:":
			total = kb << 10
		case f[0] == "MemAvailable:":
			free = kb << 10
		}
	}
	return total, free
}
