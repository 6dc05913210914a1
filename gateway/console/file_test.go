package console

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/gateway"
)

func TestFilesOfATerminal(t *testing.T) {
	dir := t.TempDir()
	spaced := filepath.Join(dir, "my list.csv")
	if err := os.WriteFile(spaced, []byte("milk"), 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	locked, loop := filepath.Join(dir, "locked.csv"), filepath.Join(dir, "loop")
	if err := errors.Join(os.WriteFile(locked, nil, 0), os.Symlink(loop, loop)); err != nil {
		t.Fatal(err)
	}
	readable, unreadable := os.Geteuid() == 0, "can't read "+locked+"; check its permissions"
	if readable { // root reads all
		unreadable = ""
	}
	t.Setenv("HOME", dir)
	escaped := strings.ReplaceAll(spaced, " ", `\ `)
	for _, tt := range []struct {
		name, text, words string
		file              bool
		fault             string
	}{
		{"quoted", `/file "` + spaced + `" what is it?`, "what is it?", true, ""},
		{"escaped", "/file " + escaped + " what?", "what?", true, ""},
		{"without words", "/file " + escaped, "", true, ""},
		{"dropped", "'" + spaced + "' ", "", true, ""},
		{"dropped, escaped", escaped, "", true, ""},
		{"an address", "file://" + strings.ReplaceAll(spaced, " ", "%20"), "", true, ""},
		{"a path in words", "look at " + escaped, "look at " + escaped, false, ""},
		{"a command", "/help", "/help", false, ""},
		{"another command", "/files " + escaped, "/files " + escaped, false, ""},
		{"no path", "/file", "", false, fileUsage},
		{"missing", "/file nothing.pdf", "", false, "no file nothing.pdf in " + here + "; /file sends a file of this machine"},
		{"unreadable", "/file " + locked, "", readable, unreadable},
		{"at home", "/file '~/my list.csv'  how many? ", "how many?", true, ""},
		{"a link to itself", "/file " + loop, "", false, "can't read " + loop + "; check its permissions"},
		{"a quote that stays open", "/file '" + spaced, "list.csv", false, "no file my in " + filepath.Join(here, "'"+dir) + "; /file sends a file of this machine"},
		{"a folder", "/file " + dir, "", false, dir + " is a directory; name one file"},
		{"a folder dropped", dir, dir, false, ""},
	} {
		words, file, err := withFile(tt.text)
		if words != tt.words || (file != nil) != tt.file || tt.fault == "" && err != nil || tt.fault != "" && (err == nil || err.Error() != tt.fault) {
			t.Errorf("%s: words %q, file %v, %v", tt.name, words, file, err)
		}
	}
}

func TestFetchOfATerminal(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(name, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := New(Config{})
	var b bytes.Buffer
	if err := c.Fetch(t.Context(), gateway.Attachment{File: name}, 7, &b); err != nil || b.String() != "content" {
		t.Errorf("got %q, %v", b.String(), err)
	}
	for file, want := range map[string]gateway.FetchFailure{name: gateway.FetchTooBig, filepath.Dir(name): gateway.FetchGone, name + "x": gateway.FetchGone} {
		err := c.Fetch(t.Context(), gateway.Attachment{File: file}, 6, &b)
		if failed, ok := errors.AsType[*gateway.FetchError](err); !ok || failed.Kind != want {
			t.Errorf("%s: %v", file, err)
		}
	}
}
