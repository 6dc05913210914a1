package file_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"klawbot/tools"
)

// TestPipeDoesNotBlock opens a pipe without a writer.
func TestPipeDoesNotBlock(t *testing.T) {
	b := newBench(t, nil)
	name := filepath.Join(b.dir, "pipe")
	if err := syscall.Mkfifo(name, 0o644); err != nil {
		t.Fatal(err)
	}
	for what, arguments := range map[string][]any{
		"file_read":  {"path", "pipe"},
		"file_write": {"path", "pipe", "content", "x", "mode", "append"},
	} {
		done := make(chan tools.Result, 1)
		go func() { done <- b.call(what, arguments...) }()
		select {
		case r := <-done:
			if r.Success || r.ErrorKind != tools.Security {
				t.Errorf("%s: %+v", what, r)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s waits for the pipe", what)
			if w, err := os.OpenFile(name, os.O_RDWR, 0); err == nil { // lets the call go on
				w.Close()
			}
			<-done
		}
	}
	b.says(b.call("file_list"), "pipe (special)")
}
