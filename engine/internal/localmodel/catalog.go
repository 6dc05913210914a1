package localmodel

import (
	"fmt"
	"slices"
	"strings"
)

// Entry is a model that klawbot knows how to get.
type Entry struct {
	Name string
	// Repo and File are where the hub has it.
	Repo, File string
	// Bytes is about how large the file is, MinMemory what a machine needs, in bytes.
	Bytes, MinMemory int64
	// Context is the window that the model was made for, in tokens.
	Context int
	// Tools says that it calls tools well enough.
	Tools   bool
	License string
}

const gb = 1_000_000_000

// catalog holds models that were made for talking and run on a processor. None is
// coarser than 4 bits: below that, small models call tools at random.
var catalog = []Entry{
	{Name: "qwen3.5-4b", Repo: "unsloth/Qwen3.5-4B-GGUF", File: "Qwen3.5-4B-Q4_K_M.gguf",
		Bytes: 2_700_000_000, MinMemory: 8 * gb, Context: 262_144, Tools: true, License: "Apache-2.0"},
	{Name: "qwen3.5-9b", Repo: "unsloth/Qwen3.5-9B-GGUF", File: "Qwen3.5-9B-Q4_K_M.gguf",
		Bytes: 5_700_000_000, MinMemory: 12 * gb, Context: 262_144, Tools: true, License: "Apache-2.0"},
	{Name: "gemma-4-e4b", Repo: "unsloth/gemma-4-E4B-it-GGUF", File: "gemma-4-E4B-it-Q4_K_M.gguf",
		Bytes: 5_000_000_000, MinMemory: 16 * gb, Context: 131_072, Tools: true, License: "Apache-2.0"},
	{Name: "qwen3.5-0.8b", Repo: "unsloth/Qwen3.5-0.8B-GGUF", File: "Qwen3.5-0.8B-Q4_K_M.gguf",
		Bytes: 530_000_000, MinMemory: 4 * gb, Context: 262_144, License: "Apache-2.0"},
}

// Catalog returns the models that klawbot knows how to get, the preferred one first.
func Catalog() []Entry { return slices.Clone(catalog) }

// Lookup finds a model of the catalog.
func Lookup(name string) (Entry, error) {
	var names []string
	for _, e := range catalog {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Entry{}, fmt.Errorf("no model %q; there are: %s; or give the path of a .gguf file", name, strings.Join(names, ", "))
}

// memoryShare is how much more than its file a model needs while it runs.
const memoryShare = 1.2

// contextMemory is about what a window of the usual size takes, in bytes.
const contextMemory = 600_000_000

// Fits reports whether the machine has the memory for a model now.
func (e Entry) Fits() error {
	total, free := Memory()
	return e.fits(total, free)
}

// fits is Fits for a machine with so much memory.
func (e Entry) fits(total, free int64) error {
	need := int64(memoryShare*float64(e.Bytes)) + contextMemory
	if total == 0 || free >= need {
		return nil
	}
	smaller := "none"
	for _, other := range catalog {
		if int64(memoryShare*float64(other.Bytes))+contextMemory <= free {
			smaller = other.Name
			break
		}
	}
	return fmt.Errorf("%s needs %.1f GB, %.1f are free; smaller: %s", e.Name, float64(need)/gb, float64(free)/gb, smaller)
}
