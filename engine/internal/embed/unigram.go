package embed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unigram is the tokenizer of XLM-RoBERTa and other multilingual models: of all
// ways to spell a word with the pieces of a vocabulary it takes the likeliest
// (Kudo, 2018, "Subword Regularization", section 3.2).
type unigram struct {
	pieces        pieces
	unknown       int64
	unknownScore  float64
	normalize     normalizer
	words         splitter
	special       specials
	before, after []int64
}

// unknownPenalty is how much less likely than any piece an unknown character is.
const unknownPenalty = 10

// scored is a piece of the vocabulary as the file has it: its text and the
// logarithm of its probability.
type scored struct {
	text  string
	score float64
}

// UnmarshalJSON reads ["text", -1.5], which a vocabulary has many of.
func (s *scored) UnmarshalJSON(raw []byte) error {
	comma := bytes.LastIndexByte(raw, ',')
	if comma < 0 || raw[0] != '[' {
		return errors.New("a piece of the vocabulary is not a pair of text and score")
	}
	if err := json.Unmarshal(raw[1:comma], &s.text); err != nil {
		return err
	}
	return json.Unmarshal(raw[comma+1:len(raw)-1], &s.score)
}

func newUnigram(f tokenizerFile) (*unigram, error) {
	var m struct {
		Unknown      *int64   `json:"unk_id"`
		Vocab        []scored `json:"vocab"`
		ByteFallback bool     `json:"byte_fallback"`
	}
	if err := json.Unmarshal(f.Model, &m); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	switch {
	case m.ByteFallback:
		return nil, errors.New("a vocabulary of bytes (byte_fallback) is not known")
	case m.Unknown == nil || *m.Unknown < 0 || *m.Unknown >= int64(len(m.Vocab)):
		return nil, errors.New("the vocabulary lacks the unknown token")
	}
	u := &unigram{pieces: newPieces(m.Vocab), unknown: *m.Unknown, special: f.specials()}
	for _, p := range m.Vocab {
		u.unknownScore = min(u.unknownScore, p.score)
	}
	u.unknownScore -= unknownPenalty
	var err error
	if u.normalize, err = newNormalizer(f.Normalizer); err != nil {
		return nil, err
	}
	if u.words, err = newSplitter(f.PreTokenizer); err != nil {
		return nil, err
	}
	u.before, u.after, err = f.frame()
	return u, err
}

func (u *unigram) encode(text string, limit int) []int64 {
	text = strings.ToValidUTF8(text, "\ufffd")
	room := limit - len(u.after)
	ids := append(make([]int64, 0, 64), u.before...)
	for first := true; text != "" && len(ids) < room; first = false {
		plain, id, rest := u.special.cut(text)
		for _, word := range u.words(u.normalize(plain), first) {
			if ids = u.spell(ids, word); len(ids) >= room {
				break
			}
		}
		if id >= 0 {
			ids = append(ids, id)
		}
		text = rest
	}
	return append(ids[:min(len(ids), max(room, 0))], u.after...)
}

// step is the last piece of the likeliest way to spell a word up to a place.
type step struct {
	from  int // where the piece begins; -1 when no way leads here yet
	id    int64
	score float64 // of the whole way
}

func (u *unigram) unread() int64 { return u.unknown }

// spell appends the pieces of a word.
func (u *unigram) spell(ids []int64, word string) []int64 {
	ways := make([]step, len(word)+1)
	for i := range ways[1:] {
		ways[i+1].from = -1
	}
	reach := func(to, from int, id int64, score float64) {
		if score += ways[from].score; ways[to].from < 0 || score > ways[to].score {
			ways[to] = step{from, id, score}
		}
	}
	for at, r := range word {
		size, single := utf8.RuneLen(r), false
		u.pieces.prefixes(word[at:], func(n int, id int64, score float64) {
			reach(at+n, at, id, score)
			single = single || n == size
		})
		if !single {
			reach(at+size, at, u.unknown, u.unknownScore)
		}
	}
	begin := len(ids)
	for at := len(word); at > 0; at = ways[at].from {
		// Unknown characters behind each other are one unknown token.
		if id := ways[at].id; id != u.unknown || len(ids) == begin || ids[len(ids)-1] != u.unknown {
			ids = append(ids, id)
		}
	}
	slices.Reverse(ids[begin:])
	return ids
}

// pieces is a vocabulary in the order of its bytes, in few allocations: that of
// XLM-RoBERTa has 250,000 pieces.
type pieces struct {
	text   string   // all behind each other
	begin  []uint32 // where each begins; one more than there are
	ids    []int32
	scores []float64
}

func newPieces(vocabulary []scored) pieces {
	order := make([]int32, 0, len(vocabulary))
	size := 0
	for i, p := range vocabulary {
		if p.text != "" {
			order = append(order, int32(i))
			size += len(p.text)
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(vocabulary[a].text, vocabulary[b].text) })
	var text strings.Builder
	text.Grow(size)
	p := pieces{begin: make([]uint32, 0, len(order)+1), ids: order, scores: make([]float64, len(order))}
	for i, id := range order {
		p.begin = append(p.begin, uint32(text.Len()))
		p.scores[i] = vocabulary[id].score
		text.WriteString(vocabulary[id].text)
	}
	p.begin = append(p.begin, uint32(text.Len()))
	p.text = text.String()
	return p
}

// prefixes finds every piece that text begins with, the shortest first.
func (p *pieces) prefixes(text string, found func(size int, id int64, score float64)) {
	low, high := 0, len(p.ids)
	for depth := range len(text) {
		// Of the pieces that begin so, those whose next byte is the text's.
		next := text[depth]
		low = p.first(low, high, depth, int(next))
		high = p.first(low, high, depth, int(next)+1)
		if low == high {
			return
		}
		if int(p.begin[low+1]-p.begin[low]) == depth+1 {
			found(depth+1, int64(p.ids[low]), p.scores[low])
		}
	}
}

// first finds the first piece whose byte at depth is not below b. One that ends
// before comes first.
func (p *pieces) first(low, high, depth, b int) int {
	for low < high {
		middle := int(uint(low+high) >> 1)
		at := int(p.begin[middle]) + depth
		if at < int(p.begin[middle+1]) && int(p.text[at]) >= b {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// splitter cuts a normalised text into words. first says that it is the
// beginning of what is encoded.
type splitter func(text string, first bool) []string

func newSplitter(raw json.RawMessage) (splitter, error) {
	var p struct {
		Type           string            `json:"type"`
		Parts          []json.RawMessage `json:"pretokenizers"`
		Replacement    string            `json:"replacement"`
		AddPrefixSpace *bool             `json:"add_prefix_space"`
		PrependScheme  string            `json:"prepend_scheme"`
		Split          *bool             `json:"split"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("pre-tokenizer: %w", err)
	}
	switch p.Type {
	case "Sequence":
		return newSequence(p.Parts)
	case "WhitespaceSplit":
		return func(text string, _ bool) []string { return strings.FieldsFunc(text, unicode.IsSpace) }, nil
	case "Metaspace":
		m := metaspace{mark: p.Replacement, prepend: p.PrependScheme, split: p.Split == nil || *p.Split}
		if m.prepend == "" {
			m.prepend = "always"
			if p.AddPrefixSpace != nil && !*p.AddPrefixSpace {
				m.prepend = "never"
			}
		}
		return m.cut, nil
	}
	return nil, fmt.Errorf("pre-tokenizers of type %q are not known", p.Type)
}

func newSequence(parts []json.RawMessage) (splitter, error) {
	var all []splitter
	for _, raw := range parts {
		s, err := newSplitter(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return func(text string, first bool) []string {
		words := []string{text}
		for _, s := range all {
			var cut []string
			for i, w := range words {
				cut = append(cut, s(w, first && i == 0)...)
			}
			words = cut
		}
		return words
	}, nil
}

// metaspace writes spaces as a mark, so that a piece knows whether it begins a
// word.
type metaspace struct {
	mark    string
	prepend string // always, first or never
	split   bool
}

func (m metaspace) cut(text string, first bool) []string {
	if text == "" {
		return nil
	}
	text = strings.ReplaceAll(text, " ", m.mark)
	if (m.prepend == "always" || m.prepend == "first" && first) && !strings.HasPrefix(text, m.mark) {
		text = m.mark + text
	}
	if !m.split || m.mark == "" {
		return []string{text}
	}
	var words []string
	for text != "" {
		end := len(text)
		if i := strings.Index(text[min(len(m.mark), len(text)):], m.mark); strings.HasPrefix(text, m.mark) && i >= 0 {
			end = i + len(m.mark)
		} else if i := strings.Index(text, m.mark); i > 0 {
			end = i
		}
		words = append(words, text[:end])
		text = text[end:]
	}
	return words
}
