package embed

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// small is a tokenizer.json with a few words.
func small(t testing.TB, change func(map[string]any)) []byte {
	t.Helper()
	vocabulary := map[string]int{}
	for i, piece := range strings.Fields("[PAD] [UNK] [CLS] [SEP] the run ##ning ##s naive cafe еж ##ик , . 你 好 ς ο σ ##ς ##ο") {
		vocabulary[piece] = i
	}
	special := func(name string) map[string]any {
		return map[string]any{"id": vocabulary[name], "content": name, "normalized": false}
	}
	file := map[string]any{
		"padding":       map[string]any{"strategy": map[string]any{"Fixed": 128}},
		"added_tokens":  []any{special("[CLS]"), special("[SEP]")},
		"normalizer":    map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{
			"type": "TemplateProcessing",
			"single": []any{
				map[string]any{"SpecialToken": map[string]any{"id": "[CLS]"}},
				map[string]any{"Sequence": map[string]any{"id": "A"}},
				map[string]any{"SpecialToken": map[string]any{"id": "[SEP]"}},
			},
			"special_tokens": map[string]any{"[CLS]": map[string]any{"ids": []int{2}}, "[SEP]": map[string]any{"ids": []int{3}}},
		},
		"model": map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 10, "vocab": vocabulary},
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

func TestTokens(t *testing.T) {
	tokens, err := parseTokenizer(small(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want []int64
	}{
		{"", []int64{2, 3}},
		{"the runs", []int64{2, 4, 5, 7, 3}},
		{"The RUNNING,the", []int64{2, 4, 5, 6, 12, 4, 3}},
		{"naïve café", []int64{2, 8, 9, 3}},
		{"Ёжик", []int64{2, 10, 11, 3}},
		{"你好the", []int64{2, 14, 15, 4, 3}},
		{"ΟΣ ΣΟ", []int64{2, 17, 19, 18, 20, 3}},
		{"th\u00ade\u200b", []int64{2, 4, 3}},
		{"unknown", []int64{2, 1, 3}},
		{"runningness", []int64{2, 1, 3}},
		{"the[SEP]runs", []int64{2, 4, 3, 5, 7, 3}},
		{"\xff\xfethe\x00", []int64{2, 4, 3}},
	} {
		if got := tokens.encode(c.text, 512); !slices.Equal(got, c.want) {
			t.Errorf("%q is %v, want %v", c.text, got, c.want)
		}
	}
	if got, want := tokens.encode("the the the the", 4), []int64{2, 4, 4, 3}; !slices.Equal(got, want) {
		t.Errorf("cut to 4 tokens it is %v, want %v", got, want)
	}
}

func TestForeignTokenizersAreRefusedWithTheReason(t *testing.T) {
	for want, change := range map[string]func(map[string]any){
		`type "BPE"`:      func(f map[string]any) { f["model"].(map[string]any)["type"] = "BPE" },
		"BertNormalizer":  func(f map[string]any) { f["normalizer"] = map[string]any{"type": "NFC"} },
		`type "Metaspace`: func(f map[string]any) { f["pre_tokenizer"] = map[string]any{"type": "Metaspace"} },
		"unknown token":   func(f map[string]any) { f["model"].(map[string]any)["unk_token"] = "<unk>" },
		"post-processor":  func(f map[string]any) { f["post_processor"] = nil },
	} {
		if _, err := parseTokenizer(small(t, change)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one about %s", err, want)
		}
	}
}

func FuzzTokens(f *testing.F) {
	tokens, err := parseTokenizer(small(f, nil))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("the runs, naïve café ёжик 你好 ΟΔΟΣ [SEP] \xff", 8)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = 2 + max(limit, 0)%600
		ids := tokens.encode(text, limit)
		if len(ids) < 2 || len(ids) > limit || ids[0] != 2 || ids[len(ids)-1] != 3 {
			t.Errorf("%q is %v, want at most %d ids in their frame", text, ids, limit)
		}
		if n := utf8.RuneCountInString(text); n == 0 && len(ids) != 2 {
			t.Errorf("nothing is %v", ids)
		}
	})
}
