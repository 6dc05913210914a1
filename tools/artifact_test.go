package tools_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/internal/redact"
	"klawbot/tools"
)

// maker is a tool that makes files in its scratch directory.
type maker struct {
	make func(dir string) []tools.Artifact
	dir  *string
}

func (m maker) Spec() tools.Spec {
	return tools.Spec{Name: "draw", Texts: map[string]tools.Text{tools.English: {Parameters: []byte(`{"type":"object","properties":{}}`)}}}
}

func (m maker) Run(_ context.Context, c tools.Call) tools.Result {
	dir, err := c.Scratch()
	if err != nil {
		return tools.Fail(tools.Execution, err.Error())
	}
	*m.dir = dir
	r := tools.OK("done")
	r.Artifacts = m.make(dir)
	return r
}

func TestArtifacts(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n\x00"
	outside := filepath.Join(t.TempDir(), "secret")
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(outside, "SECRET")
	for name, tt := range map[string]struct {
		make func(dir string) []tools.Artifact
		want []tools.Artifact // Path is what was kept
		says string
	}{
		"a relative path": {
			func(dir string) []tools.Artifact {
				write(filepath.Join(dir, "chart"), png)
				return []tools.Artifact{{Path: "chart"}}
			},
			[]tools.Artifact{{Name: "chart", MIME: "image/png", Path: png}}, "done\n(chart goes to the chat with your answer)",
		},
		"a whole path, a name and a type": {
			func(dir string) []tools.Artifact {
				write(filepath.Join(dir, "x"), "1,2")
				return []tools.Artifact{{Name: "../of/Marc\u202eh.csv", MIME: "text/csv", Path: filepath.Join(dir, "x")}}
			},
			[]tools.Artifact{{Name: "March.csv", MIME: "text/csv", Path: "1,2"}}, "done\n(March.csv goes to the chat with your answer)",
		},
		"a file outside": {
			func(string) []tools.Artifact { return []tools.Artifact{{Path: outside}} },
			nil, "done\n(secret is not sent: it does not lie in the call's scratch directory)",
		},
		"a way out": {
			func(dir string) []tools.Artifact {
				return []tools.Artifact{{Path: "../" + filepath.Base(dir) + "/../x"}}
			},
			nil, "done\n(x is not sent: it cannot be read)",
		},
		"a link out": {
			func(dir string) []tools.Artifact {
				if err := os.Symlink(outside, filepath.Join(dir, "l")); err != nil {
					t.Error(err)
				}
				return []tools.Artifact{{Path: "l"}}
			},
			nil, "done\n(l is not sent: it cannot be read)",
		},
		"a second name": {
			func(dir string) []tools.Artifact {
				if err := os.Link(outside, filepath.Join(dir, "h")); err != nil {
					t.Error(err)
				}
				return []tools.Artifact{{Path: "h"}}
			},
			nil, "done\n(h is not sent: it has a second name (hard link))",
		},
		"a pipe": {
			func(dir string) []tools.Artifact {
				if err := syscall.Mkfifo(filepath.Join(dir, "p"), 0o600); err != nil {
					t.Error(err)
				}
				return []tools.Artifact{{Path: "p"}}
			},
			nil, "done\n(p is not sent: it is not a regular file)",
		},
		"a hole of 50 MB and a byte": {
			func(dir string) []tools.Artifact {
				write(filepath.Join(dir, "big"), "x")
				if err := os.Truncate(filepath.Join(dir, "big"), tools.MaxFileBytes+1); err != nil {
					t.Error(err)
				}
				return []tools.Artifact{{Path: "big"}}
			},
			nil, "done\n(big is not sent: it has 52428801 bytes, and 52428800 can be sent)",
		},
		"missing and empty": {
			func(dir string) []tools.Artifact {
				write(filepath.Join(dir, "e"), "")
				return []tools.Artifact{{Path: "m"}, {Path: "e"}}
			},
			nil, "done\n(m is not sent: there is no such file)\n(e is not sent: it is empty)",
		},
		"a folder that a program has locked": {
			func(dir string) []tools.Artifact {
				if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o700); err != nil {
					t.Error(err)
				}
				write(filepath.Join(dir, "a/b/c"), "x")
				if err := os.Chmod(filepath.Join(dir, "a"), 0); err != nil {
					t.Error(err)
				}
				return nil
			},
			nil, "done",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var dir string
			registry, err := tools.NewRegistry(maker{tt.make, &dir})
			if err != nil {
				t.Fatal(err)
			}
			e := tools.NewExecutor(tools.ExecutorConfig{
				Registry: registry, Redact: new(redact.Set), Log: slog.New(slog.DiscardHandler), ScratchDir: filepath.Join(t.TempDir(), "scratch"),
				Keep: func(r io.Reader) (string, error) {
					content, err := io.ReadAll(r)
					return string(content), err
				},
			})
			r, err := e.Execute(t.Context(), tools.Call{ID: "c1", Name: "draw", Chat: "telegram_1"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, r.Artifacts); diff != "" {
				t.Error(diff)
			}
			if r.Output != tt.says {
				t.Errorf("got  %q\nwant %q", r.Output, tt.says)
			}
			if _, err := os.Lstat(dir); !os.IsNotExist(err) {
				t.Errorf("the scratch directory is still there: %v", err)
			}
		})
	}
}

func TestTenArtifactsAtMost(t *testing.T) {
	var dir string
	registry, err := tools.NewRegistry(maker{func(dir string) (all []tools.Artifact) {
		for i := range 12 {
			name := fmt.Sprint("f", i)
			if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
				t.Error(err)
			}
			all = append(all, tools.Artifact{Path: name})
		}
		return all
	}, &dir})
	if err != nil {
		t.Fatal(err)
	}
	e := tools.NewExecutor(tools.ExecutorConfig{
		Registry: registry, Redact: new(redact.Set), Log: slog.New(slog.DiscardHandler),
		Keep: func(io.Reader) (string, error) { return "kept", nil },
	})
	r, err := e.Execute(t.Context(), tools.Call{ID: "c1", Name: "draw"}, nil)
	if err != nil || len(r.Artifacts) != 10 || !strings.HasSuffix(r.Output, "\n(2 more are not sent: a call hands over 10 files at most)") {
		t.Errorf("%d artifacts, %v: %s", len(r.Artifacts), err, r.Output)
	}
}

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"a/b.txt": "b.txt", `c:\d\e.txt`: "e.txt", "..": "file", "": "file", "x/": "file", "a\nb\x00": "ab", "a\xffb": "ab",
		strings.Repeat("я", 200) + ".csv": strings.Repeat("я", 62) + ".csv", strings.Repeat("x", 300): strings.Repeat("x", 128),
	} {
		if got := tools.FileName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
