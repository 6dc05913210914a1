package localmodel

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
)

// TestFaultsSayWhatToDo: what owners read names the model and the command, and what users
// read names no file.
func TestFaultsSayWhatToDo(t *testing.T) {
	big, _ := Lookup("qwen3.5-9b")
	unknown := func() error { _, err := Lookup("gpt"); return err }
	data := t.TempDir()
	program := filepath.Join(data, "llama-server")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, pulled := Find(data, program, "qwen3.5-4b")
	_, own := Find(data, program, filepath.Join(data, "mine.gguf"))
	oldCPU := newFake(t, "old-cpu", nil)
	broken := newFake(t, "broken", nil)
	broken.crashes = []time.Time{time.Now(), time.Now(), time.Now(), time.Now()}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"not pulled":   {Check(program, pulled), `^model "qwen3.5-4b" is not here; get it with: klawbot assets pull --llm qwen3.5-4b$`},
		"own file":     {Check(program, own), `^.*/mine.gguf is not here; get a model with: klawbot assets pull --llm NAME$`},
		"unknown":      {unknown(), `^no model "gpt"; there are: qwen3.5-4b, .*; or give the path of a .gguf file$`},
		"memory":       {big.fits(8*gb, 5*gb), `^qwen3.5-9b needs 7.\d GB, 5.0 are free; smaller: qwen3.5-4b$`},
		"less memory":  {big.fits(2*gb, 1*gb), `smaller: none$`},
		"more memory":  {big.fits(16*gb, 12*gb), ""},
		"unknown size": {big.fits(0, 0), ""},
		"old CPU":      {local(t, oldCPU), `^this llama-server needs a newer CPU; set program:$`},
		"stopped":      {local(t, broken), `^The local model keeps failing \(llama-server ends; the owner's command: klawbot doctor\). /model chooses another.$`},
	} {
		got := ""
		if c.err != nil {
			got = c.err.Error()
		}
		if e, ok := errors.AsType[*llm.Error](c.err); ok && e.Kind == llm.Local {
			got = e.Message
			if name == "stopped" {
				got = locale.Say("en", locale.ModelLocal, e.Message)
			}
		}
		if !regexp.MustCompile(c.want).MatchString(got) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if strings.Contains(got, data) && name != "own file" {
			t.Errorf("%s: %q names a file", name, got)
		}
	}
}

// local is what an asker of a model that does not run is told.
func local(t *testing.T, m *Model) error {
	t.Helper()
	_, err := ask(t, m, withSystem)
	return err
}
