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
	} {
		if got := set().Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestErrorKeepsWhatIsInside(t *testing.T) {
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
