//go:build linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestChatBeginsWithFewLines shows what stands above the first prompt.
func TestChatBeginsWithFewLines(t *testing.T) {
	const (
		none    = "klawbot VERSION · no model yet: commands, notes, reminders work.\n"
		keys    = "/help lists commands · Tab completes · Ctrl-D ends\n"
		offline = "Offline: search goes by words until the 43 MB model is here.\n"
	)
	server := regexp.MustCompile(`Found (Ollama|LM Studio|llama\.cpp|vLLM) at .*`) // of the machine that runs the test
	version := regexp.MustCompile(`klawbot \S+( ·)`)
	for name, c := range map[string]struct {
		config  string
		environ string
		offline bool
		want    string
	}{
		"no model":      {want: none + "Answers: klawbot model, or start Ollama and run this again.\n" + keys},
		"offline":       {offline: true, want: none + "Answers: klawbot model, or start Ollama and run this again.\n" + offline + keys},
		"one was found": {environ: "OPENAI_API_KEY=sk-canary", want: none + "Found OpenAI, gpt-5-mini, with the key in OPENAI_API_KEY → klawbot model\n" + keys},
		"a model": {
			config: "models: {default: m, providers: {p: {type: openai, baseURL: 'http://127.0.0.1:1/v1'}}, entries: {m: {provider: p, model: x}}}\n",
			want:   "klawbot VERSION · model m\n" + keys,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			if c.config == "" {
				c.config = "models: {default: ''}\n"
			}
			if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(c.config), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.offline { // make chat tried to download it
				if err := os.MkdirAll(filepath.Join(home, "assets"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(home, "assets", ".tried"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := onTerminalOf(t, 80, []string{"TERM=xterm-256color", "NO_COLOR=1", "KLAWBOT_HOME=" + home, c.environ}, "chat")
			s.awaits("the prompt", atPrompt)
			got := version.ReplaceAllString(strings.TrimSuffix(s.view(), ">"), "klawbot VERSION$1")
			got = server.ReplaceAllString(got, "Answers: klawbot model, or start Ollama and run this again.")
			if got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
			s.types("\x04")
			if code := s.ends(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
