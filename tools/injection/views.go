package injection

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"unicode/utf8"
)

// views are other readings of a text: without tags, right to left, decoded. Each
// needs a sign in the text that it is worth the time.
func views(text string, f folded) [][]byte {
	var all [][]byte
	if f.tags {
		if bare := untagged(f.text); len(bare) < len(f.text) {
			all = append(all, bare)
		}
	}
	if f.turned || containsAny(f.text, "snoitcurtsni", "tpmorp metsys", "иицкуртсни") {
		all = append(all, turned(f.text))
	}
	if containsAny(f.text, "vafgehpgvba", "flfgrz cebzcg") {
		all = append(all, rotated(f.text))
	}
	if f.coded {
		all = append(all, decoded(text))
	}
	return all
}

func containsAny(text []byte, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(text, []byte(w)) })
}

// maxTag is the longest tag that is taken out, in bytes.
const maxTag = 400

// untagged is text without HTML tags and comments, so that words split by tags
// are whole.
func untagged(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if text[i] == '<' && i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '!' || 'a' <= text[i+1] && text[i+1] <= 'z') {
			if end := bytes.IndexByte(text[i:min(len(text), i+maxTag)], '>'); end > 0 {
				i += end + 1
				continue
			}
		}
		out = append(out, text[i])
		i++
	}
	return out
}

// turned is text from its end to its beginning.
func turned(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		_, size := utf8.DecodeLastRune(text)
		out = append(out, text[len(text)-size:]...)
		text = text[:len(text)-size]
	}
	return out
}

// rotated is the text in ROT13.
func rotated(text []byte) []byte {
	out := bytes.Clone(text)
	for i, c := range out {
		if 'a' <= c && c <= 'z' {
			out[i] = 'a' + (c-'a'+13)%26
		}
	}
	return out
}

// decoded is the text in the Base64 and hexadecimal words of a text.
func decoded(text string) (all []byte) {
	for i := 0; i < len(text); i++ {
		end := i
		for end < len(text) && coded(text[end]) {
			end++
		}
		if end-i >= minCoded {
			if read := decode(text[i:end]); read != nil {
				all = append(append(all, fold(string(read)).text...), "\n\n"...)
			}
		}
		i = end
	}
	return all
}

// coded reports whether a byte may stand in a coded word.
func coded(c byte) bool {
	return c < utf8.RuneSelf && plain[c] != 0 || c == '+' || c == '/' || c == '_' || c == '-' || c == '='
}

// decode reads a coded word, nil when it holds no text.
func decode(word string) []byte {
	if read, err := hex.DecodeString(word); err == nil && printable(read) {
		return read
	}
	bare := bytes.TrimRight([]byte(word), "=")
	if len(bare)%4 == 1 {
		bare = bare[:len(bare)-1]
	}
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		// The beginning tells text from pictures.
		head := make([]byte, 48)
		n, err := e.Decode(head, bare[:min(len(bare), 24)/4*4])
		if err != nil || !printable(bytes.ToValidUTF8(head[:n], nil)) {
			continue
		}
		read := make([]byte, e.DecodedLen(len(bare)))
		if n, err = e.Decode(read, bare); err == nil && printable(read[:n]) {
			return read[:n]
		}
	}
	return nil
}
