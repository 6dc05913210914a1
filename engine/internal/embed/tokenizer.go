package embed

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tokenizer turns a text into the token ids that a model was trained on.
type tokenizer interface {
	// encode returns at most limit ids, the special ones included. A longer
	// text is cut at its end.
	encode(text string, limit int) []int64
	// unread is the id that stands for what the vocabulary does not have.
	unread() int64
}

// tokenizerFile is the part of a tokenizer.json that matters for encoding. Its
// padding and truncation belong to batches and are not used.
type tokenizerFile struct {
	AddedTokens []struct {
		ID         int64  `json:"id"`
		Content    string `json:"content"`
		Normalized bool   `json:"normalized"`
		LStrip     bool   `json:"lstrip"`
		RStrip     bool   `json:"rstrip"`
	} `json:"added_tokens"`
	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor struct {
		Type   string `json:"type"`
		Single []struct {
			SpecialToken *struct {
				ID string `json:"id"`
			} `json:"SpecialToken"`
		} `json:"single"`
		SpecialTokens map[string]struct {
			IDs []int64 `json:"ids"`
		} `json:"special_tokens"`
		CLS, SEP []any
	} `json:"post_processor"`
	Model json.RawMessage `json:"model"`
}

// readTokenizer reads the tokenizer.json of a model folder.
func readTokenizer(dir string) (tokenizer, error) {
	file := filepath.Join(dir, "tokenizer.json")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	t, err := parseTokenizer(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}

func parseTokenizer(text []byte) (tokenizer, error) {
	var f tokenizerFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(f.Model, &kind); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	switch kind.Type {
	case "WordPiece":
		return newWordPiece(f)
	case "Unigram":
		return newUnigram(f)
	}
	return nil, fmt.Errorf("tokenizers of type %q are not known; choose a model with WordPiece or Unigram", kind.Type)
}

// specials are tokens that are found in a raw text as they are written.
type specials map[string]special

type special struct {
	id          int64
	left, right bool // takes the blanks on this side with it
}

func (f tokenizerFile) specials() specials {
	all := specials{}
	for _, t := range f.AddedTokens {
		if !t.Normalized && t.Content != "" {
			all[t.Content] = special{t.ID, t.LStrip, t.RStrip}
		}
	}
	return all
}

// cut cuts at the first special token that is written out in the text; id is -1
// when there is none.
func (s specials) cut(text string) (plain string, id int64, rest string) {
	at, found := len(text), ""
	for token := range s {
		i := strings.Index(text[:min(len(text), at+len(token))], token)
		if i >= 0 && (i < at || i == at && len(token) > len(found)) {
			at, found = i, token
		}
	}
	if found == "" {
		return text, -1, ""
	}
	plain, rest = text[:at], text[at+len(found):]
	return strip(plain, false, s[found].left), s[found].id, strip(rest, s[found].right, false)
}

// frame finds the special ids before and after a text.
func (f tokenizerFile) frame() (before, after []int64, err error) {
	seen := false
	for _, part := range f.PostProcessor.Single {
		if part.SpecialToken == nil {
			seen = true
			continue
		}
		ids := f.PostProcessor.SpecialTokens[part.SpecialToken.ID].IDs
		if seen {
			after = append(after, ids...)
		} else {
			before = append(before, ids...)
		}
	}
	if !seen {
		return nil, nil, fmt.Errorf("post-processor of type %q is not known", f.PostProcessor.Type)
	}
	return before, after, nil
}
