package redact_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"klawbot/internal/redact"
)

func TestReader(t *testing.T) {
	var s redact.Set
	s.Add("hunter2-secret")
	line := "a line without anything\n"
	text := "hunter2-secret" + strings.Repeat(line, 45_000) + "the key is hunter2-secret\n" + strings.Repeat(line, 3) + "hunter2-secret"
	for name, r := range map[string]io.Reader{
		"at once": strings.NewReader(text), "halves": iotest.HalfReader(strings.NewReader(text)), "with the error": iotest.DataErrReader(strings.NewReader(text)),
	} {
		got, err := io.ReadAll(s.Reader(r))
		if want := strings.ReplaceAll(text, "hunter2-secret", "[redacted]"); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, want %d, %v", name, len(got), len(want), err)
		}
	}
	broken := errors.New("disk gone")
	got, err := io.ReadAll(s.Reader(io.MultiReader(strings.NewReader("one hunter2-secret"), iotest.ErrReader(broken))))
	if !errors.Is(err, broken) || string(got) != "one [redacted]" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := io.ReadAll(s.Reader(strings.NewReader(""))); err != nil || len(got) != 0 {
		t.Errorf("nothing becomes %q, %v", got, err)
	}
}
