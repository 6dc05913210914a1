package redact_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"klawbot/internal/redact"
)

const long = "sk-canary-123_456.789"

func TestSecretIsFoundInPieces(t *testing.T) {
	var s redact.Set
	s.Add(long, "hunter2!")
	for in, want := range map[string]string{
		"the key `sk-canary`-123_456.789, all of it":                        "the key `[redacted], all of it",
		"sk-can\u200bary-1\u00ad23_456\u2060.789":                           "[redacted]",
		"| sk-canary | -123_456 | .789 |":                                   "| [redacted] |",
		"sk-can\nary-123_\n    456.789":                                     "[redacted]",
		"**s**k*-c*a~~n~~ary-123_456.789!":                                  "**[redacted]!",
		"s k - c a n a r y - 1 2 3 4 5 6 7 8 9":                             "[redacted]",
		"hun\u200dter\ufe0f2!":                                              "[redacted]",
		"h u n t e r 2 ! is a short one":                                    "h u n t e r 2 ! is a short one",
		"sk-\u200babcdef\u2063ghijklmnopqrstu":                              "[redacted]",
		"x\u200bsk-abcdefghijklmnopqrstu":                                   "x\u200b[redacted]",
		"12345\u200b6789:AAE-canary_canary_canary_canary_0":                 "[redacted]",
		"skcanary is nothing, 123456789 neither":                            "skcanary is nothing, 123456789 neither",
		"SK-key and BEARER 0123456789abcdefghij= and sk-sk-sk-sk-sk-sk-sk-": "SK-key and BEARER [redacted] and [redacted]",
		"x 1234567890123456:AAE-canary_canary_canary_canary_0":              "x 1234[redacted]",
		"sk-\u3164canary-1234567890":                                        "[redacted]",
		"две строки sk-canary-123_456.789 и ещё одна":                       "две строки [redacted] и ещё одна",
		"{\"url\":\"http://a\",\"b:c\":\"mail@host\"} is JSON":              "{\"url\":\"http://a\",\"b:c\":\"mail@host\"} is JSON",
	} {
		if got := s.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
		if once := s.Text(in); s.Text(once) != once {
			t.Errorf("%q changes once more to %q", once, s.Text(once))
		}
	}
	if got := s.Known("sk-canary-123_456.789 and sk-ofsomebodyelse-0123456789"); got != "[redacted] and sk-ofsomebodyelse-0123456789" {
		t.Errorf("known values: %q", got)
	}
}

func TestJSONStaysJSON(t *testing.T) {
	var s redact.Set
	s.Add(long, `quo"ted\secret<&>`, "1234567")
	for in, want := range map[string]string{
		`{"a":"sk-canary-123_456.789","n":1234567}`:                    `{"a":"[redacted]","n":1234567}`,
		`{"sk-canary-123_456.789":[1,"x"]}`:                            `{"[redacted]":[1,"x"]}`,
		`["sk-canary-","123_456.789"]`:                                 `["sk-canary-","123_456.789"]`,
		`{"a":"\u0073k-canary-123_456.789\n"}`:                         `{"a":"[redacted]\n"}`,
		`{"a":"quo\"ted\\secret\u003c\u0026\u003e"}`:                   `{"a":"[redacted]"}`,
		`{"arguments":"{\"command\":\"echo sk-canary-123_456.789\"}"}`: `{"arguments":"{\"command\":\"echo [redacted]\"}"}`,
		`{"arguments":"[\"sk-canary-\",\"123_456.789\"]"}`:             `{"arguments":"[\"sk-canary-\",\"123_456.789\"]"}`,
		`  "sk-canary-123_456.789"`:                                    `  "[redacted]"`,
		`{"a": broken sk-canary-123_456.789`:                           `{"a": broken [redacted]`,
		`{"a":"b", "c" : 1e9, "d":"<\u00e9>"}`:                         `{"a":"b", "c" : 1e9, "d":"<\u00e9>"}`,
		``:                                                             ``,
	} {
		before := strings.Clone(in)
		raw := []byte(in)
		if got := string(s.JSON(raw)); got != want {
			t.Errorf("JSON(%s) = %s, want %s", in, got, want)
		}
		if string(raw) != before {
			t.Errorf("%s was changed in place to %s", before, raw)
		}
	}
	aligned := s.AlignedJSON([]byte(`{"text":"a 1234567 b sk-canary-123_456.789 @bot"}`))
	if string(aligned) != `{"text":"a █░█░█░█ b █░█░█░█░█░█░█░█░█░█░█ @bot"}` {
		t.Errorf("aligned %s", aligned)
	}
}

func TestAddress(t *testing.T) {
	var s redact.Set
	s.Add(long)
	for address, want := range map[string]bool{
		"https://host/?k=sk-canary-123_456.789":                                   true,
		"https://host/?k=%73k%2Dcanary%2d123_456.789":                             true,
		"https://host/?next=https%3A%2F%2Fa%2F%253fk%3D%2573k-canary-123_456.789": true,
		"https://user:pa55word@host/":                                             true,
		"https://host:8080/a?b=100%&c=%zz":                                        false,
		"tg://user?id=123456789":                                                  false,
	} {
		if got := s.Address(address); got != want {
			t.Errorf("Address(%s) = %v", address, got)
		}
	}
}

func TestBegun(t *testing.T) {
	var s redact.Set
	s.Add(long, "hunter2!")
	for text, want := range map[string]int{
		"the key is sk-canary-123":  11,
		"the key is `sk`-**can":     12,
		"the key is sk-":            14,
		"say hunter":                4,
		"token 123456789:AAE":       6,
		"Authorization: Bearer abc": 15,
		"see https://user:pass":     4 + len("https"),
		"nothing at all":            14,
		"":                          0,
		strings.Repeat("é ", 9000) + "sk-canary-": 27000,
	} {
		if got := s.Begun(text); got != want {
			t.Errorf("Begun(%.40q) = %d, want %d", text, got, want)
		}
	}
	// However the text grows, no more than its beginning is seen of a secret.
	text := "It is " + long + " and that is all."
	for end := range len(text) {
		shown := s.Text(text[:end])
		if shown = shown[:s.Begun(shown)]; strings.Contains(shown, long[:4]) {
			t.Errorf("%q shows %q", text[:end], shown)
		}
	}
}

// FuzzText looks for secrets that come through with something between their
// characters, and for texts that are broken.
func FuzzText(f *testing.F) {
	f.Add("a text", uint64(1))
	f.Add("{\"a\":\"b\"}", uint64(2))
	f.Add("12:34 https://a:b@c é\u200b", uint64(3))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		var s redact.Set
		s.Add(long, key)
		random := rand.New(rand.NewPCG(seed, 1))
		between := []string{"", "", "*", "`", "\u200b", " ", "\n", "_", "|", "\\", "~~"}
		var hidden strings.Builder
		for _, r := range long {
			hidden.WriteString(between[random.IntN(len(between))])
			hidden.WriteRune(r)
		}
		at := random.IntN(len(text) + 1)
		got := s.Text(text[:at] + " " + hidden.String() + " " + text[at:])
		if strings.Contains(letters(got), letters(long)) {
			t.Errorf("%q comes through in %q", hidden.String(), got)
		}
		if raw := []byte(text); json.Valid(raw) != json.Valid(s.JSON(raw)) && json.Valid(raw) {
			t.Errorf("%q becomes %q", text, s.JSON(raw))
		}
		if n := s.Begun(text); n < 0 || n > len(text) {
			t.Errorf("Begun(%q) = %d", text, n)
		}
	})
}

func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, text)
}

func BenchmarkText(b *testing.B) {
	var s redact.Set
	s.Add("123456789:AAE-canary_canary_canary_canary_0", "sk-canary-0123456789abcdef", "another-secret-of-a-server", "short-1")
	line := "A line of an answer, with a link https://example.org/a?b=c, a time 12:34:56 and some `code` about Bearer tokens.\n"
	answer := strings.Repeat(line, 30)
	for name, text := range map[string]string{"answer of 3 KB": answer, "1 MB": strings.Repeat(line, 1<<20/len(line))} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.Text(text)
			}
		})
	}
}
