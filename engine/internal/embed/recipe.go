package embed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Pooling says how one vector is made of those of the tokens.
type Pooling string

// The poolings.
const (
	Mean  Pooling = "mean"
	First Pooling = "first" // the vector of the token [CLS]
)

// Recipe says how a model wants its texts, which its network does not tell.
type Recipe struct {
	// QueryPrefix and PassagePrefix stand before texts that are looked for and
	// texts that are to be found.
	QueryPrefix, PassagePrefix string
	Pooling                    Pooling
	// MaxTokens is where a text is cut.
	MaxTokens int
	// Near is the similarity threshold: only one unrelated pair in 200 has this cosine
	// between a centred query and a passage. 0 means not measured.
	Near float64
}

// measured reports whether the recipe tells what is near.
func (r Recipe) measured() bool { return r.Near > 0 }

// Nearness is what the cosine of a centred query with a passage says: 0 for what has
// nothing to do with it, 0.5 for what may well have, 1 at most.
func (r Recipe) Nearness(cosine float64) float64 {
	if !r.measured() {
		return cosine
	}
	return min(1, 0.5*cosine/r.Near)
}

// recipes are those of the models that are known by name. They come from the
// models' own cards; what is near was measured, see doc/tools/memory.md.
var recipes = map[string]Recipe{
	"e5-small-v2":      {QueryPrefix: "query: ", PassagePrefix: "passage: ", Pooling: Mean, MaxTokens: 512, Near: 0.135},
	Multilingual:       {QueryPrefix: "query: ", PassagePrefix: "passage: ", Pooling: Mean, MaxTokens: 512, Near: 0.13},
	"all-minilm-l6-v2": {Pooling: Mean, MaxTokens: 256, Near: 0.27},
}

// ReadRecipe returns the recipe of a model: by its name, if that is known, else
// from the files of the Sentence-Transformers layout in its folder, whose
// absence means the mean and no prefixes.
func ReadRecipe(name, dir string) (Recipe, error) {
	if r, ok := recipes[name]; ok {
		return r, nil
	}
	var prompts struct {
		Prompts map[string]string `json:"prompts"`
	}
	var pooling struct {
		CLS bool `json:"pooling_mode_cls_token"`
	}
	var sentence struct {
		MaxTokens int `json:"max_seq_length"`
	}
	if err := errors.Join(
		readJSON(filepath.Join(dir, "config_sentence_transformers.json"), &prompts),
		readJSON(filepath.Join(dir, "1_Pooling", "config.json"), &pooling),
		readJSON(filepath.Join(dir, "sentence_bert_config.json"), &sentence),
	); err != nil {
		return Recipe{}, err
	}
	r := Recipe{QueryPrefix: prompts.Prompts["query"], Pooling: Mean, MaxTokens: 512}
	for _, name := range []string{"passage", "document"} {
		if p, ok := prompts.Prompts[name]; ok {
			r.PassagePrefix = p
		}
	}
	if pooling.CLS {
		r.Pooling = First
	}
	if n := sentence.MaxTokens; n > 0 && n < r.MaxTokens {
		r.MaxTokens = n
	}
	return r, nil
}

// readJSON reads a file that may be absent.
func readJSON(file string, into any) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
