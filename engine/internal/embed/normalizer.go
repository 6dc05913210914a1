package embed

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// normalizer writes a text as a vocabulary spells it.
type normalizer func(text string) string

func newNormalizer(raw json.RawMessage) (normalizer, error) {
	var n struct {
		Type       string            `json:"type"`
		Parts      []json.RawMessage `json:"normalizers"`
		Charsmap   []byte            `json:"precompiled_charsmap"` // base64
		Content    string            `json:"content"`
		StripLeft  bool              `json:"strip_left"`
		StripRight bool              `json:"strip_right"`
		Pattern    struct{ String, Regex string }
	}
	if len(raw) == 0 || string(raw) == "null" {
		return func(text string) string { return text }, nil
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	switch n.Type {
	case "Sequence":
		return inSequence(n.Parts)
	case "Precompiled":
		m, err := newCharsmap(n.Charsmap)
		if err != nil {
			return nil, err
		}
		return m.normalize, nil
	case "Replace":
		if n.Pattern.Regex == "" {
			return func(text string) string { return strings.ReplaceAll(text, n.Pattern.String, n.Content) }, nil
		}
		pattern, err := regexp.Compile(n.Pattern.Regex)
		if err != nil {
			return nil, fmt.Errorf("normalizer: %w", err)
		}
		return func(text string) string { return pattern.ReplaceAllLiteralString(text, n.Content) }, nil
	case "Strip":
		return func(text string) string { return strip(text, n.StripLeft, n.StripRight) }, nil
	case "NFC":
		return norm.NFC.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	}
	return nil, fmt.Errorf("normalizers of type %q are not known", n.Type)
}

func inSequence(parts []json.RawMessage) (normalizer, error) {
	var all []normalizer
	for _, raw := range parts {
		n, err := newNormalizer(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return func(text string) string {
		for _, n := range all {
			text = n(text)
		}
		return text
	}, nil
}

func strip(text string, left, right bool) string {
	if left {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
	}
	if right {
		text = strings.TrimRightFunc(text, unicode.IsSpace)
	}
	return text
}

// charsmap is the normaliser of SentencePiece: a table of what characters become,
// kept as a double array (Aoe, 1989, "An Efficient Digital Search Algorithm by
// Using a Double-Array Structure").
type charsmap struct {
	units   []uint32
	results string // each ends in a NUL
}

var errCharsmap = errors.New("normalizer: the precompiled character map is damaged")

func newCharsmap(raw []byte) (*charsmap, error) {
	if len(raw) < 4 {
		return nil, errCharsmap
	}
	size := int(binary.LittleEndian.Uint32(raw))
	if raw = raw[4:]; size < 4 || size%4 != 0 || size > len(raw) {
		return nil, errCharsmap
	}
	m := &charsmap{units: make([]uint32, size/4), results: string(raw[size:])}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return m, nil
}

// maxMapped is how many bytes a character of several code points may have to be
// looked up as a whole; the reference has the same bound.
const maxMapped = 5

func (m *charsmap) normalize(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	for state := -1; text != ""; {
		var cluster string
		cluster, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		if len(cluster) <= maxMapped {
			if mapped, ok := m.look(cluster); ok {
				out.WriteString(mapped)
				continue
			}
		}
		for _, r := range cluster {
			if mapped, ok := m.look(string(r)); ok {
				out.WriteString(mapped)
			} else {
				out.WriteRune(r)
			}
		}
	}
	return out.String()
}

// look finds what the shortest beginning of key that the table has becomes. As
// in the reference, the rest of key is dropped.
func (m *charsmap) look(key string) (string, bool) {
	at := offset(m.units[0])
	for i := range len(key) {
		b := uint32(key[i])
		if at ^= b; b == 0 || int(at) >= len(m.units) {
			return "", false
		}
		unit := m.units[at]
		if unit&(1<<31|0xff) != b {
			return "", false
		}
		if at ^= offset(unit); unit>>8&1 == 1 {
			if int(at) >= len(m.units) {
				return "", false
			}
			begin := int(m.units[at] &^ (1 << 31))
			if begin > len(m.results) {
				return "", false
			}
			result, _, _ := strings.Cut(m.results[begin:], "\x00")
			return result, true
		}
	}
	return "", false
}

// offset is how far a unit of the double array leads.
func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
