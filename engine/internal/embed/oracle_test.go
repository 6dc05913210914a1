//go:build oracle

package embed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestOracleTokens compares our tokens with those of the reference tokenizer,
// text by text.
func TestOracleTokens(t *testing.T) {
	for _, name := range []string{"e5-small-v2", "all-minilm-l6-v2"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(os.Getenv("ASSETS_DIR"), name)
			code, err := os.ReadFile("testdata/oracle/tokenize.mjs")
			if err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(t.Context(), "node", "--input-type=module", "--eval", string(code), filepath.Join(dir, "tokenizer.json"))
			c.Dir, c.Stderr = os.Getenv("TOKENIZER_DIR"), os.Stderr
			compareTokens(t, dir, c)
		})
	}
}

// compareTokens compares our tokens with those of a command that reads texts as
// JSON strings and prints their ids.
func compareTokens(t *testing.T, dir string, judge *exec.Cmd) {
	t.Helper()
	ours, err := readTokenizer(dir)
	if err != nil {
		t.Fatal(err)
	}
	texts := slices.Concat(foreignTexts, randomTexts(count(t)))
	theirs := reference(t, judge, texts)
	wrong := 0
	for i, text := range texts {
		if got := ours.encode(text, 1<<20); !slices.Equal(got, theirs[i]) {
			if wrong++; wrong <= 10 {
				t.Errorf("%q is %v, want %v", text, got, theirs[i])
			}
		}
	}
	t.Logf("%d texts, %d with other tokens", len(texts), wrong)
}

func count(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("ORACLE"))
	if err != nil {
		t.Fatalf("ORACLE says how many texts are tried: %v", err)
	}
	return n
}

// reference asks the reference tokenizer.
func reference(t *testing.T, judge *exec.Cmd, texts []string) [][]int64 {
	t.Helper()
	var in bytes.Buffer
	encoder := json.NewEncoder(&in)
	encoder.SetEscapeHTML(false)
	for _, text := range texts {
		if err := encoder.Encode(text); err != nil {
			t.Fatal(err)
		}
	}
	judge.Stdin = &in
	out, err := judge.Output()
	if err != nil {
		t.Fatalf("%s: %v", judge, err)
	}
	var all [][]int64
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var ids []int64
		if err := json.Unmarshal(lines.Bytes(), &ids); err != nil {
			t.Fatal(err)
		}
		all = append(all, ids)
	}
	if len(all) != len(texts) {
		t.Fatalf("the oracle answered %d of %d texts", len(all), len(texts))
	}
	return all
}

// randomTexts are n texts of words, characters of many blocks and tokens that
// mean something to a tokenizer, always the same. Chinese characters beyond the
// first plane are not among them: the reference takes a run of them for one
// word, where BERT's rule and we take each for a word, and no vocabulary of such
// a model has them.
func randomTexts(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	blocks := [][2]rune{
		{0x20, 0x7f}, {0x20, 0x7f}, {0x00, 0x20}, {0x80, 0xff}, {0x100, 0x24f}, {0x250, 0x36f}, {0x370, 0x3ff}, {0x400, 0x52f},
		{0x590, 0x6ff}, {0x900, 0x97f}, {0xe00, 0xe7f}, {0x1100, 0x11ff}, {0x1e00, 0x1fff}, {0x2000, 0x206f}, {0x20a0, 0x2bff},
		{0x3000, 0x30ff}, {0x4e00, 0x9fff}, {0xac00, 0xd7a3}, {0xe000, 0xe010}, {0xf900, 0xfaff}, {0xfe00, 0xffef}, {0x1f300, 0x1faff}, {0xe0000, 0xe007f},
	}
	words := strings.Fields("the naïve café ёлка Ёлка running unbelievable [SEP] [CLS] [MASK] [sep] ##ing don't 3.14 e-mail 你好世界 안녕하세요 مرحبا İstanbul ΣΑΣ straße ﬁn ½ ①")
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			if r.IntN(3) == 0 {
				b.WriteString(words[r.IntN(len(words))])
			} else {
				block := blocks[r.IntN(len(blocks))]
				for range 1 + r.IntN(6) {
					b.WriteRune(block[0] + r.Int32N(block[1]-block[0]+1))
				}
			}
			if r.IntN(2) == 0 {
				b.WriteByte(' ')
			}
		}
		texts[i] = b.String()
	}
	return texts
}

var foreignTexts = []string{
	"", " ", "a", "naïve café", "ёлка и Ёжик", "Hello, World!", "don't stop", "C++ & C#", "$100.00 is 100%",
	"你好，世界", "東京タワー", "안녕하세요", "नमस्ते", "مرحبا بالعالم", "שלום", "สวัสดี", "🙂👍🏽 ok", "a\u200bb\u00adc", "tab\tnew\nline\r\n",
	"x\u0000y", "\ufeffbom", "ﬁ ligature ① ½ Ⅷ", "İ I ı i̇", "ΣΑΣ ΟΔΟΣ", "[CLS] a [SEP] b [PAD][UNK] [MASK]", "[SEP", strings.Repeat("a", 99), strings.Repeat("a", 100),
	strings.Repeat("b", 101), strings.Repeat("word ", 300), "https://example.org/a?b=c&d=%20", "snake_case camelCase kebab-case", "line1\u2028line2\u2029line3\u0085x", "e\u0301 é", "\u1680ogham\u3000wide",
}
