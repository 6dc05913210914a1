package embed

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// charsmapOf is a character map that SentencePiece compiled of these rules: ﬁ is
// fi, a tab is a space, ё is е, e with an accent behind it is é, and soft hyphens
// go.
func charsmapOf(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/charsmap.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// multilingual is a tokenizer.json as that of XLM-RoBERTa.
func multilingual(t testing.TB, change func(file map[string]any)) []byte {
	t.Helper()
	metaspace := map[string]any{"type": "Metaspace", "replacement": "▁", "add_prefix_space": true}
	file := map[string]any{
		"added_tokens": []any{
			map[string]any{"id": 0, "content": "<s>"}, map[string]any{"id": 2, "content": "</s>"},
			map[string]any{"id": 13, "content": "<mask>", "lstrip": true},
		},
		"normalizer":    map[string]any{"type": "Precompiled", "precompiled_charsmap": charsmapOf(t)},
		"pre_tokenizer": map[string]any{"type": "Sequence", "pretokenizers": []any{map[string]any{"type": "WhitespaceSplit"}, metaspace}},
		"post_processor": map[string]any{
			"type": "TemplateProcessing",
			"single": []any{
				map[string]any{"SpecialToken": map[string]any{"id": "<s>"}},
				map[string]any{"Sequence": map[string]any{"id": "A"}},
				map[string]any{"SpecialToken": map[string]any{"id": "</s>"}},
			},
			"special_tokens": map[string]any{"<s>": map[string]any{"ids": []int{0}}, "</s>": map[string]any{"ids": []int{2}}},
		},
		"model": map[string]any{"type": "Unigram", "unk_id": 3, "vocab": []any{
			[]any{"<s>", 0}, []any{"<pad>", 0}, []any{"</s>", 0}, []any{"<unk>", 0},
			[]any{"▁", -2}, []any{"▁a", -3}, []any{"a", -4}, []any{"b", -3.5}, []any{"ab", -5}, []any{"▁ab", -9},
			[]any{"fi", -6}, []any{"е", -5}, []any{"é", -5}, []any{"<mask>", 0}, []any{"abab", -8.5},
		}},
	}
	if change != nil {
		change(file)
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestUnigram(t *testing.T) {
	tokens, err := parseTokenizer(multilingual(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want []int64
		why  string
	}{
		{"", []int64{0, 2}, "nothing"},
		{"  ", []int64{0, 2}, "blanks are nothing"},
		{"ab", []int64{0, 5, 7, 2}, "▁a b: -6.5 beats ▁ ab and ▁ab"},
		{"aab", []int64{0, 5, 8, 2}, "▁a ab: -8"},
		{"aabab", []int64{0, 5, 14, 2}, "one long piece for two short ones"},
		{"a  a\tb", []int64{0, 5, 5, 4, 7, 2}, "every word has its mark"},
		{"ﬁ ё e\u0301 a\u00adb", []int64{0, 4, 10, 4, 11, 4, 12, 5, 7, 2}, "the character map"},
		{"zzaz", []int64{0, 4, 3, 6, 3, 2}, "unknown characters together are one"},
		{"a<mask>b", []int64{0, 5, 13, 4, 7, 2}, "a special token that is written out"},
		{"a\xffb", []int64{0, 5, 3, 7, 2}, "damaged text"},
	} {
		if got := tokens.encode(c.text, 512); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q is %v, want %v", c.why, c.text, got, c.want)
		}
	}
	if got, want := tokens.encode("a a a a", 4), []int64{0, 5, 5, 2}; !slices.Equal(got, want) {
		t.Errorf("cut to 4 tokens it is %v, want %v", got, want)
	}
}

func TestMetaspace(t *testing.T) {
	for _, c := range []struct {
		m     metaspace
		text  string
		first bool
		want  []string
	}{
		{metaspace{"▁", "always", true}, "a b", false, []string{"▁a", "▁b"}},
		{metaspace{"▁", "always", true}, " a  b ", true, []string{"▁a", "▁", "▁b", "▁"}},
		{metaspace{"▁", "first", true}, "a b", true, []string{"▁a", "▁b"}},
		{metaspace{"▁", "first", true}, "a b", false, []string{"a", "▁b"}},
		{metaspace{"▁", "never", true}, "a b", true, []string{"a", "▁b"}},
		{metaspace{"▁", "always", false}, "a b", true, []string{"▁a▁b"}},
		{metaspace{"▁", "always", true}, "", true, nil},
	} {
		if got := c.m.cut(c.text, c.first); !slices.Equal(got, c.want) {
			t.Errorf("%+v cuts %q into %q, want %q", c.m, c.text, got, c.want)
		}
	}
}

func TestForeignUnigramsAreRefusedWithTheReason(t *testing.T) {
	for want, change := range map[string]func(map[string]any){
		"byte_fallback": func(f map[string]any) { f["model"].(map[string]any)["byte_fallback"] = true },
		"unknown token": func(f map[string]any) { f["model"].(map[string]any)["unk_id"] = 99 },
		"not a pair":    func(f map[string]any) { f["model"].(map[string]any)["vocab"] = []any{"a"} },
		"is damaged": func(f map[string]any) {
			f["normalizer"] = map[string]any{"type": "Precompiled", "precompiled_charsmap": "AAAA"}
		},
		`type "Odd"`:       func(f map[string]any) { f["normalizer"] = map[string]any{"type": "Odd"} },
		`type "ByteLevel"`: func(f map[string]any) { f["pre_tokenizer"] = map[string]any{"type": "ByteLevel"} },
	} {
		if _, err := parseTokenizer(multilingual(t, change)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one about %s", err, want)
		}
	}
}

func FuzzUnigram(f *testing.F) {
	tokens, err := parseTokenizer(multilingual(f, nil))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("ab aab ﬁ ё zz <mask> \xff", 8)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = 2 + max(limit, 0)%600
		ids := tokens.encode(text, limit)
		if len(ids) < 2 || len(ids) > limit || ids[0] != 0 || ids[len(ids)-1] != 2 {
			t.Errorf("%q is %v, want at most %d ids in their frame", text, ids, limit)
		}
		if utf8.RuneCountInString(text) == 0 && len(ids) != 2 {
			t.Errorf("nothing is %v", ids)
		}
	})
}

// FuzzCharsmap reads damaged maps.
func FuzzCharsmap(f *testing.F) {
	f.Add([]byte{4, 0, 0, 0, 1, 2, 3, 4, 'a', 0}, "ab")
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		m, err := newCharsmap(raw)
		if err != nil {
			return
		}
		if got := m.normalize(text); text == "" && got != "" {
			t.Errorf("nothing becomes %q", got)
		}
	})
}
