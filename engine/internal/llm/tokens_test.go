package llm_test

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"klawbot/engine/internal/llm"
)

// TestEstimate compares with what tokenizers of the o200k family take: English
// prose about 4.6 bytes a token, source code 3.4, JSON 2.3, Russian 7.3 (two
// bytes a letter), Chinese 0.8 tokens a character, base64 1.45 bytes a token.
// The estimate may be up to 45 % high and 15 % low.
func TestEstimate(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 3000)
	for i := range noise {
		noise[i] = byte(source.Uint32())
	}
	blob := base64.StdEncoding.EncodeToString(noise)
	prose := "The library reads a stream of events and hands each of them to its caller as soon as it is complete. When the connection ends before the answer is whole, the caller learns about it and may ask again.\n"
	code := "func (s *Set) Add(values ...string) {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\tfor _, v := range values {\n\t\tif len(v) >= minLength {\n\t\t\ts.values = append(s.values, v)\n\t\t}\n\t}\n}\n"
	data := `{"id":"call_8","type":"function","function":{"name":"file_read","arguments":"{\"path\":\"notes.md\"}"},"n":12,"ok":true},`
	russian := "Бот отвечает на сообщения в телеграме, хранит заметки и напоминает о делах, которые вы ему поручили на завтра. "
	chinese := "今天天气很好，我们一起去公园散步，然后在湖边的小店喝一杯热茶。"
	for name, c := range map[string]struct {
		text   string
		tokens float64
	}{
		"prose":   {prose, float64(len(prose)) / 4.6},
		"code":    {code, float64(len(code)) / 3.4},
		"json":    {data, float64(len(data)) / 2.7},
		"russian": {russian, float64(len(russian)) / 7.3},
		"chinese": {chinese, float64(utf8.RuneCountInString(chinese)) * 0.8},
		"base64":  {blob, float64(len(blob)) / 1.45},
		"emoji":   {"😀🎉🚀🔥", 8},
	} {
		ratio := float64(llm.Estimate(c.text)) / c.tokens
		t.Logf("%s: %.2f", name, ratio)
		if ratio < 0.85 || ratio > 1.45 {
			t.Errorf("%s: %d tokens, about %.0f expected (ratio %.2f)", name, llm.Estimate(c.text), c.tokens, ratio)
		}
	}
}

func TestEstimateRequestCountsEverything(t *testing.T) {
	r := llm.Request{
		System:   "Be brief.",
		Messages: history(t, `u hello there`+"\n"+`a c1 file_read {"path":"notes.md"}`+"\nt c1 a long text"),
		Tools:    []llm.Tool{{Name: "file_read", Description: "Reads a file.", Parameters: json.RawMessage(`{"type":"object"}`)}},
	}
	whole := llm.EstimateRequest(r)
	for name, without := range map[string]llm.Request{
		"system":    {Messages: r.Messages, Tools: r.Tools},
		"messages":  {System: r.System, Messages: r.Messages[:1], Tools: r.Tools},
		"tools":     {System: r.System, Messages: r.Messages},
		"arguments": {System: r.System, Messages: append(history(t, "u hello there\na c1 file_read"), r.Messages[2]), Tools: r.Tools},
	} {
		if n := llm.EstimateRequest(without); n >= whole {
			t.Errorf("without %s: %d, with: %d", name, n, whole)
		}
	}
	if llm.Estimate("") != 0 {
		t.Error("an empty text takes tokens")
	}
}

func FuzzEstimate(f *testing.F) {
	f.Add("a/b/c 12 \xff 😀")
	f.Fuzz(func(t *testing.T, text string) {
		n := llm.Estimate(text)
		if n < 0 || n > 2*len(text) || strings.TrimSpace(text) != "" && n == 0 {
			t.Errorf("%q: %d tokens", text, n)
		}
	})
}

func BenchmarkEstimate(b *testing.B) {
	text := strings.Repeat("The quick brown fox, Бот отвечает: a/b/c 今天 {\"x\":12}\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		llm.Estimate(text)
	}
}
