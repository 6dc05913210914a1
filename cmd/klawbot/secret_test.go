package main

import (
	"bytes"
	"testing"

	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/internal/redact"
)

func TestCommandsPrintNoSecret(t *testing.T) {
	var out, errs bytes.Buffer
	a := newApp(nil, nil, &out, &errs)
	a.redact.Add("key-of-the-roof")
	for text, want := range map[string]string{
		"a line with key-of-the-roof\n":               "a line with [redacted]\n",
		"{\"a\": \"key-of\", \"b\": \"-the-roof\"}\n": "{\"a\": \"key-of\", \"b\": \"-the-roof\"}\n",
	} {
		out.Reset()
		if n, err := a.stdout.Write([]byte(text)); n != len(text) || err != nil || out.String() != want {
			t.Errorf("wrote %q: %d, %v", out.String(), n, err)
		}
	}
	if _, err := a.stderr.Write([]byte("key-of-the-roof")); err != nil || errs.String() != redact.Mask {
		t.Errorf("complained %q, %v", errs.String(), err)
	}
	if terminal.Unwrap(a.stdout) != &out {
		t.Error("an archive would be changed on its way out")
	}
}
