package redact_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"klawbot/internal/redact"
)

const (
	token = "123456789:AAE-canary_canary_canary_canary_0"
	key   = "k/canary+key=="
)

func set() *redact.Set {
	s := new(redact.Set)
	s.Add(key, "", "abc")
	return s
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"key " + key + ".":                             "key [redacted].",
		"GET /?k=k%2Fcanary%2Bkey%3D%3D":               "GET /?k=[redacted]",
		"https://api.telegram.org/bot" + token + "/x":  "https://api.telegram.org/bot[redacted]/x",
		"Authorization: Bearer sk-proj-0123456789abcd": "Authorization: Bearer [redacted]",
		"key=sk-live_0123456789abcdefg!":               "key=[redacted]!",
		"Bearer 0123456789abcdefghij":                  "Bearer [redacted]",
		"https://user:pa55word@host/path":              "https://[redacted]@host/path",
		"abc and 12:34 and sk-short stay":              "abc and 12:34 and sk-short stay",
		"Bearer AbcDefGhiJklMnopQrst":                  "Bearer [redacted]",
		"Bearer abcdefghijklmnopqrstuvwxyz":            "Bearer [redacted]",
	} {
		if got := set().Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestErrorKeepsWrappedError(t *testing.T) {
	err := set().Error(fmt.Errorf("get %s: %w", key, io.ErrUnexpectedEOF))
	if !errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
	if set().Error(nil) != nil {
		t.Error("no error became one")
	}
}

type stringer struct{}

func (stringer) String() string { return "of " + key }

func TestHandlerCleansEverything(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(set().Handler(slog.NewJSONHandler(&out, nil))).With("with", key).WithGroup("g")
	log.Info("message "+key, "text", key, "err", fmt.Errorf("in %s", token), "stringer", stringer{}, "list", []string{key},
		slog.Group("group", "inner", key, "n", 5))
	if strings.Contains(out.String(), "canary") || strings.Count(out.String(), redact.Mask) != 7 {
		t.Errorf("logged %s", out.String())
	}
	if !strings.Contains(out.String(), `"n":5`) {
		t.Errorf("a number was lost: %s", out.String())
	}
}

// TestTextThatIsNoSecret: what people write every day stays as it is.
func TestTextThatIsNoSecret(t *testing.T) {
	for _, text := range []string{
		`curl -H "Authorization: Bearer YOUR_ACCESS_TOKEN" https://api.example.com`, "Authorization: Bearer $OPENAI_API_KEY", "Bearer {access_token_of_the_user}",
		"The bearer responsibilities of a flag", "Bearer\n----------------\nhe carried", "bearer /usr/local/lib/systemd",
		"1700000000:550e8400-e29b-41d4-a716-446655440000", "12345678:9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"550e8400-e29b-41d4-a716-446655440000", "+49 170 1234567, +1-202-555-0143", "3141592653589793238462643383279502884197", "2026-11-29T02:18:52.186Z", "12:34:56",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		"git@github.com:klaw/bot.git", "https://example.org:8080/a?b=c@d", "commit 17659edb3e2e5a4d9c0f17659edb3e2e5a4d9c0f", "task-management-systems-are-fine", "risk-averse people", "sk-SK is a locale",
		"DE89 3704 0044 0532 0130 00", "4111 1111 1111 1111", "const bearer = await getBearerToken(request)",
	} {
		if got := set().Text(text); got != text {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
}
