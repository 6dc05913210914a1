package transcribe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The tokens that begin and end a text.
const (
	tokenBegin = 1
	tokenEnd   = 2
)

// tokens are the texts of the tokens, by number.
type tokens []string

var errTokens = errors.New("tokenizer.bin is cut off")

// readTokens reads tokenizer.bin: for each token its length, in one byte or, from 128
// on, in two (the low seven bits first), and its bytes.
func readTokens(dir string) (tokens, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "tokenizer.bin"))
	if err != nil {
		return nil, err
	}
	var all tokens
	for len(raw) > 0 {
		n := int(raw[0])
		raw = raw[1:]
		if n >= 128 {
			if len(raw) == 0 {
				return nil, errTokens
			}
			n = int(raw[0])*128 + n - 128
			raw = raw[1:]
		}
		if n > len(raw) {
			return nil, errTokens
		}
		all, raw = append(all, string(raw[:n])), raw[n:]
	}
	if len(all) <= tokenEnd {
		return nil, fmt.Errorf("tokenizer.bin has %d tokens", len(all))
	}
	return all, nil
}

// text is what tokens say.
func (t tokens) text(ids []int64) string {
	var b strings.Builder
	for _, id := range ids {
		if id > tokenEnd && id < int64(len(t)) {
			b.WriteString(t[id])
		}
	}
	return strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(b.String(), "▁", " "), ""))
}
