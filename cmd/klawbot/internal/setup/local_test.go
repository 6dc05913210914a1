package setup

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	l := parsed(t, (&Answers{chosen: m}).yaml("", nil))
	got := l.EngineModels().Entries["main"]
	if got.Type != "managed" || got.Name != "tiny" || got.Provider != "local" || got.Tools != "few" {
		t.Errorf("the configuration reads back as %+v", got)
	}
}
