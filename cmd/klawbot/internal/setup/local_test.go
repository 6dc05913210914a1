package setup

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/engine/probe"
	"klawbot/internal/redact"
)

func TestOffersTheModelThatIsHere(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"assets/llm/llama.cpp/b1/llama-server": "#!/bin/sh\n",
		"assets/llm/tiny/model.gguf":           "GGUF\x03\x00\x00\x00" + strings.Repeat("\x00", 16),
		"assets/llm/broken/model.gguf":         "<html>",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := Setup{Environ: []string{"KLAWBOT_HOME=" + dir}, Stdin: strings.NewReader("\n"), Stdout: io.Discard, Redact: &redact.Set{}}
	file := filepath.Join(dir, "config.yaml")
	choices := s.localChoices(file)
	if len(choices) != 1 || choices[0].title != "tiny on this machine" || choices[0].download != nil {
		t.Fatalf("got %+v, want tiny and nothing else", choices)
	}
	m, answered, err := s.offerLocal(t.Context(), file)
	if err != nil || !answered || m == nil {
		t.Fatalf("offered: %v, %v, %v", m, answered, err)
	}
	if named, err := s.localModel(file, "tiny"); err != nil || named == nil || named.Name != "tiny" {
		t.Errorf("named: %v, %v", named, err)
	}
	if named, err := s.localModel(file, "/srv/own.gguf"); err != nil || named == nil || named.Type != "managed" || named.Name != "/srv/own.gguf" {
		t.Errorf("a file: %v, %v", named, err)
	}
	if named, err := s.localModel(file, "broken"); err != nil || named != nil {
		t.Errorf("what is not whole: %v, %v", named, err)
	}
	l := parsed(t, (&Answers{chosen: m}).yaml("", nil))
	got := l.EngineModels().Entries["main"]
	if got.Type != "managed" || got.Name != "tiny" || got.Provider != "local" || got.Tools != "few" {
		t.Errorf("the configuration reads back as %+v", got)
	}
}

func TestSaysHowFastAModelIs(t *testing.T) {
	for want, speed := range map[string]probe.Speed{
		"It reads 40 tokens/s and writes 8: first answer in about 42 s, later ones are faster.\n": {Reads: 40, Writes: 8},
		"": {},
	} {
		if got := speedText(speed); got != want {
			t.Errorf("%v: %q, want %q", speed, got, want)
		}
	}
}
