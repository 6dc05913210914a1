package embed

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// wordPiece is the tokenizer of BERT: words are cut at spaces, punctuation and
// CJK characters, and each is spelled with the longest pieces of a vocabulary,
// from the left (Wu et al., 2016, "Google's Neural Machine Translation System",
// section 4.1; Devlin et al., 2018).
type wordPiece struct {
	vocabulary    map[string]int64
	unknown       int64
	prefix        string
	maxRunes      int // a longer word is unknown
	normal        bertNormalizer
	special       specials
	before, after []int64
}

// bertNormalizer says what happens to a text before it is cut.
type bertNormalizer struct {
	Type         string `json:"type"`
	CleanText    bool   `json:"clean_text"`
	Chinese      bool   `json:"handle_chinese_chars"`
	StripAccents *bool  `json:"strip_accents"` // nil: as Lowercase
	Lowercase    bool   `json:"lowercase"`
}

func newWordPiece(f tokenizerFile) (*wordPiece, error) {
	var m struct {
		Unknown  string           `json:"unk_token"`
		Prefix   *string          `json:"continuing_subword_prefix"`
		MaxRunes int              `json:"max_input_chars_per_word"`
		Vocab    map[string]int64 `json:"vocab"`
	}
	if err := json.Unmarshal(f.Model, &m); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	w := &wordPiece{vocabulary: m.Vocab, prefix: "##", maxRunes: m.MaxRunes, special: f.specials()}
	if m.Prefix != nil {
		w.prefix = *m.Prefix
	}
	if w.maxRunes == 0 {
		w.maxRunes = 100
	}
	var known bool
	if w.unknown, known = m.Vocab[m.Unknown]; !known {
		return nil, fmt.Errorf("the vocabulary lacks the unknown token %q", m.Unknown)
	}
	if err := json.Unmarshal(f.Normalizer, &w.normal); err != nil || w.normal.Type != "BertNormalizer" {
		return nil, errors.New("the normalizer is not a BertNormalizer")
	}
	var words struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(f.PreTokenizer, &words); err != nil || words.Type != "BertPreTokenizer" {
		return nil, fmt.Errorf("pre-tokenizers of type %q are not known", words.Type)
	}
	var err error
	w.before, w.after, err = f.frame()
	return w, err
}

func (w *wordPiece) encode(text string, limit int) []int64 {
	room := limit - len(w.after)
	ids := append(make([]int64, 0, 64), w.before...)
	for text != "" && len(ids) < room {
		plain, id, rest := w.special.cut(text)
		for word := range w.words(plain) {
			if ids = w.spell(ids, word); len(ids) >= room {
				break
			}
		}
		if id >= 0 {
			ids = append(ids, id)
		}
		text = rest
	}
	return append(ids[:min(len(ids), max(room, 0))], w.after...)
}

func (w *wordPiece) unread() int64 { return w.unknown }

// words are the words of a text, normalised.
func (w *wordPiece) words(text string) func(yield func([]rune) bool) {
	return func(yield func([]rune) bool) {
		var word []rune
		flush := func() bool {
			done := len(word) > 0 && !yield(word)
			word = word[:0]
			return !done
		}
		for _, r := range w.normalised(text) {
			switch {
			case unicode.IsSpace(r):
				if !flush() {
					return
				}
			case isPunctuation(r) || w.normal.Chinese && isCJK(r):
				if !flush() {
					return
				}
				word = append(word, r)
				if !flush() {
					return
				}
			default:
				word = append(word, r)
			}
		}
		flush()
	}
}

// normalised is the text as the vocabulary spells it.
func (w *wordPiece) normalised(text string) string {
	if w.normal.CleanText {
		text = strings.Map(func(r rune) rune {
			if r == 0 || r == unicode.ReplacementChar || isControl(r) {
				return -1
			}
			return r
		}, text)
	}
	strip := w.normal.Lowercase
	if w.normal.StripAccents != nil {
		strip = *w.normal.StripAccents
	}
	if strip {
		text = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, norm.NFD.String(text))
	}
	if w.normal.Lowercase {
		text = lower(text)
	}
	return text
}

// lower is the text in small letters. A sigma that ends a word has a form of its
// own (The Unicode Standard, section 3.13, Final_Sigma).
func lower(text string) string {
	small := []rune(text)
	for i, r := range small {
		if small[i] = unicode.ToLower(r); r == 'Σ' && beside(small[:i], true) && !beside(small[i+1:], false) {
			small[i] = 'ς'
		}
	}
	return string(small)
}

// beside reports whether the first rune that counts is a letter of a script
// with two cases, seen from the end or from the beginning.
func beside(text []rune, fromEnd bool) bool {
	for i := range text {
		r := text[i]
		if fromEnd {
			r = text[len(text)-1-i]
		}
		if !strings.ContainsRune("'.:·’․^`¨¯´¸", r) && !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) {
			return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
		}
	}
	return false
}

// spell appends the pieces of a word.
func (w *wordPiece) spell(ids []int64, word []rune) []int64 {
	if len(word) > w.maxRunes {
		return append(ids, w.unknown)
	}
	begin := len(ids)
	text := string(word)
	for at := 0; at < len(text); {
		id, size := w.longest(text[at:], at > 0)
		if size == 0 {
			return append(ids[:begin], w.unknown)
		}
		ids = append(ids, id)
		at += size
	}
	return ids
}

// longest finds the longest piece that text begins with; its size is 0 when
// there is none. inside says that it continues a word.
func (w *wordPiece) longest(text string, inside bool) (id int64, size int) {
	prefix := ""
	if inside {
		prefix = w.prefix
	}
	for end := len(text); end > 0; end-- {
		if id, ok := w.vocabulary[prefix+text[:end]]; ok {
			return id, end
		}
	}
	return 0, 0
}

// isControl is Python's idea of a control character, which BERT took: category
// C, but for tab and the line breaks.
func isControl(r rune) bool {
	return r != '\t' && r != '\n' && r != '\r' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

// isPunctuation counts all ASCII that is no letter, digit or space, too.
func isPunctuation(r rune) bool {
	return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~' || unicode.IsPunct(r)
}

// isCJK reports whether the rune is a word of its own: the blocks of Chinese
// characters that BERT names.
func isCJK(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}
