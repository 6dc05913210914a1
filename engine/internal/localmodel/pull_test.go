package localmodel

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"klawbot/engine/internal/embed"
)

// publisher is a hub with one model, and a page of releases.
type publisher struct {
	*httptest.Server
	weights, archive []byte
	sum, archiveSum  string // stated
}

var small = Entry{Name: "tiny", Repo: "people/tiny-GGUF", File: "tiny.gguf"}

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	p := &publisher{weights: slices.Concat([]byte("GGUF\x03\x00\x00\x00"), make([]byte, 16), bytes.Repeat([]byte("w"), 100_000)), archive: archived(t)}
	p.sum, p.archiveSum = sumOf(p.weights), sumOf(p.archive)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /people/tiny-GGUF/raw/main/tiny.gguf", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Repo-Commit", "c0ffee")
		fmt.Fprintf(w, "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", p.sum, len(p.weights))
	})
	mux.HandleFunc("GET /people/tiny-GGUF/resolve/c0ffee/tiny.gguf", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(p.weights) })
	mux.HandleFunc("GET /releases/"+Release, func(w http.ResponseWriter, _ *http.Request) {
		var assets []map[string]any
		for _, platform := range platforms {
			assets = append(assets, map[string]any{
				"name": "llama-" + Release + "-bin-" + platform + ".tar.gz", "size": len(p.archive),
				"digest": "sha256:" + p.archiveSum, "browser_download_url": p.URL + "/archive",
			})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"assets": assets})
	})
	mux.HandleFunc("GET /archive", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(p.archive) })
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// archived is a release with a program, a library and a link to it, and a name that
// leads out of the folder.
func archived(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range []tar.Header{
		{Name: "llama-b1/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "llama-b1/llama-server", Typeflag: tar.TypeReg, Mode: 0o755, Size: 4},
		{Name: "llama-b1/libllama.so.1", Typeflag: tar.TypeReg, Mode: 0o644, Size: 4},
		{Name: "llama-b1/libllama.so", Typeflag: tar.TypeSymlink, Linkname: "libllama.so.1"},
		{Name: "../../../escape", Typeflag: tar.TypeReg, Mode: 0o644, Size: 4},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte("text")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (p *publisher) pull(dir string) Pull {
	return Pull{Files: embed.Pull{Client: p.Client(), Dir: dir}, Hub: p.URL, Releases: p.URL + "/releases/"}
}

func TestPull(t *testing.T) {
	p, dir := newPublisher(t), t.TempDir()
	if err := p.pull(dir).Model(t.Context(), small); err != nil {
		t.Fatal(err)
	}
	if err := p.pull(dir).Program(t.Context()); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(data, "assets")); err != nil {
		t.Fatal(err)
	}
	program, weights := Find(data, "", "tiny")
	if err := Check(program, weights); err != nil || filepath.Base(program) != "llama-server" {
		t.Errorf("%s, %s: %v", program, weights, err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(program), "escape")); err != nil {
		t.Errorf("a file of the archive left its folder: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(filepath.Dir(program), "libllama.so")); string(text) != "text" || err != nil {
		t.Errorf("the library cannot be found: %v", err)
	}
	if err := p.pull(dir).Model(t.Context(), small); err != nil {
		t.Errorf("pulled again: %v", err)
	}
}

// TestPullOfWhatTheHubDoesNotState names the file and what to do, removes the file, and
// pulls it again when the hub has the right one.
func TestPullOfWhatTheHubDoesNotState(t *testing.T) {
	p, dir := newPublisher(t), t.TempDir()
	p.sum, p.archiveSum = strings.Repeat("0", 64), strings.Repeat("0", 64)
	for name, pull := range map[string]func(context.Context) error{
		"tiny.gguf": func(ctx context.Context) error { return p.pull(dir).Model(ctx, small) },
		"archive":   p.pull(dir).Program,
	} {
		if err := pull(t.Context()); err == nil || err.Error() != name+" is not what the hub states; removed, pull again" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "llm", "*", "*.*")); len(left) > 0 {
		t.Errorf("%v stays", left)
	}
	p.sum, p.archiveSum = sumOf(p.weights), sumOf(p.archive)
	if err := errors.Join(p.pull(dir).Model(t.Context(), small), p.pull(dir).Program(t.Context())); err != nil {
		t.Errorf("pulled again: %v", err)
	}
}

func TestPullOfAModelThatChanged(t *testing.T) {
	p, dir := newPublisher(t), t.TempDir()
	if err := p.pull(dir).Model(t.Context(), small); err != nil {
		t.Fatal(err)
	}
	p.weights = append(p.weights, 'x')
	p.sum = sumOf(p.weights)
	if err := p.pull(dir).Model(t.Context(), small); err == nil || !strings.Contains(err.Error(), "delete") || !strings.Contains(err.Error(), "lock.json") {
		t.Errorf("got %v, want how to accept the change", err)
	}
}

func TestPullFromAFolder(t *testing.T) {
	p := newPublisher(t)
	archive := "llama-" + Release + "-bin-" + platforms[runtime.GOOS+"/"+runtime.GOARCH] + ".tar.gz"
	for layout, files := range map[string]map[string][]byte{
		"as assets":     {"llm/tiny/model.gguf": p.weights, "llm/llama.cpp/" + Release + ".tar.gz": p.archive},
		"as downloaded": {small.File: p.weights, archive: p.archive},
	} {
		t.Run(layout, func(t *testing.T) {
			from, dir := t.TempDir(), t.TempDir()
			for name, text := range files {
				file := filepath.Join(from, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			offline := Pull{Files: embed.Pull{Dir: dir, From: from}}
			if err := offline.Model(t.Context(), small); err != nil {
				t.Error(err)
			}
			if err := offline.Program(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLookupNamesTheModels(t *testing.T) {
	if _, err := Lookup("gpt"); err == nil || !strings.Contains(err.Error(), "qwen3.5-4b") {
		t.Errorf("got %v", err)
	}
	for _, e := range Catalog() {
		if got, err := Lookup(e.Name); err != nil || got.File != e.File || e.Bytes == 0 || e.MinMemory <= e.Bytes {
			t.Errorf("%s: %+v, %v", e.Name, got, err)
		}
	}
}

// A container has less memory than its machine: a model that fits the machine only is
// killed there.
func TestContainerMemory(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             int64
	}{
		{"version 2", "memory.max", "268435456\n", 256 << 20},
		{"version 2 without a limit", "memory.max", "max\n", 0},
		{"version 1", "memory/memory.limit_in_bytes", "268435456\n", 256 << 20},
		{"none", "other", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), c.file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(c.text), 0o600)); err != nil {
				t.Fatal(err)
			}
			if got := containerMemory(strings.TrimSuffix(name, c.file)); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}
