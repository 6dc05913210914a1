package main

import (
	"testing"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/internal/redact"
)

// parsed is a configuration as if it stood in config.yaml.
func parsed(t *testing.T, text string, environ ...string) *config.Loaded {
	t.Helper()
	l, err := config.Source{File: "config.yaml", Environ: environ, Redact: &redact.Set{}}.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}
