package embed

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func archive(t *testing.T, name string, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range []struct {
		name string
		body []byte
	}{{"other", []byte("x")}, {name, body}} {
		if err := w.WriteHeader(&tar.Header{Name: h.name, Size: int64(len(h.body)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(h.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestAssetsOfEverySystem: each file has a hash, and a place where it is published or
// a word on where else it comes from.
func TestAssetsOfEverySystem(t *testing.T) {
	for system, name := range map[string]string{"linux/amd64": "libonnxruntime.so", "linux/arm64": "libonnxruntime.so", "darwin/arm64": "libonnxruntime.dylib"} {
		os, processor, _ := strings.Cut(system, "/")
		for _, model := range ModelNames() {
			needed, err := neededOn(os, processor, model)
			if err != nil || len(needed) != 3 || needed[0].Path != name {
				t.Fatalf("%s, %s: %+v, %v", system, model, needed, err)
			}
			for _, a := range needed {
				if len(a.Hashes) == 0 || len(a.Hashes[0]) != 64 || (a.Member != "") != (len(a.Archive) == 64) {
					t.Errorf("%s: %+v", system, a)
				}
			}
		}
	}
	if _, err := neededOn("plan9", "386", DefaultModel); err == nil || !strings.Contains(err.Error(), "keyword search only") {
		t.Errorf("a system without a library: %v", err)
	}
	err := Pull{Dir: t.TempDir()}.Bring(t.Context(), Asset{Path: "x", Hashes: []string{"0"}})
	if err == nil || !strings.Contains(err.Error(), "run make assets") {
		t.Errorf("a file of a registry: %v", err)
	}
}

func TestPull(t *testing.T) {
	body := []byte(strings.Repeat("model ", 1000))
	packed := archive(t, "lib/library.so", body)
	mux := http.NewServeMux()
	asked := ""
	serve := func(content []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			asked = r.Header.Get("Range")
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		}
	}
	mux.HandleFunc("/model", serve(body))
	mux.HandleFunc("/mirror/m/model.onnx", serve(body))
	mux.HandleFunc("/lib.tgz", serve(packed))
	mux.HandleFunc("/bad", serve([]byte("something else")))
	server := httptest.NewServer(mux)
	defer server.Close()
	model := Asset{Path: "m/model.onnx", URL: server.URL + "/model", Size: int64(len(body)), Hashes: []string{hash(body)}}
	library := Asset{Path: "library.so", URL: server.URL + "/lib.tgz", Member: "lib/library.so", Archive: hash(packed), Hashes: []string{"0", hash(body)}}

	t.Run("a file and a member of an archive come and are checked", func(t *testing.T) {
		dir := t.TempDir()
		var last int64
		p := Pull{Client: server.Client(), Dir: dir, Progress: func(_ Asset, done, _ int64) { last = done }}
		for _, a := range []Asset{model, library, model} {
			if err := p.Bring(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			if err := a.Check(dir); err != nil {
				t.Error(err)
			}
		}
		if last != int64(len(body)) {
			t.Errorf("the last progress is %d of %d bytes", last, len(body))
		}
	})
	t.Run("a broken download goes on where it stopped", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "m"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "m/model.onnx.part"), body[:1234], 0o644); err != nil {
			t.Fatal(err)
		}
		if err := (Pull{Client: server.Client(), Dir: dir}).Bring(t.Context(), model); err != nil {
			t.Fatal(err)
		}
		if asked != "bytes=1234-" {
			t.Errorf("asked for %q, want what was missing", asked)
		}
	})
	t.Run("one that never brings a byte is given up", func(t *testing.T) {
		var tries atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			tries.Add(1)
			panic(http.ErrAbortHandler)
		}))
		defer server.Close()
		broken := model
		broken.URL = server.URL
		err := (Pull{Client: server.Client(), Dir: t.TempDir()}).Bring(t.Context(), broken)
		if err == nil || !strings.Contains(err.Error(), "download m/model.onnx") {
			t.Errorf("the error is %v", err)
		}
		if n := tries.Load(); n > attempts*2 { // the transport tries once more by itself
			t.Errorf("%d tries", n)
		}
	})
	t.Run("more than there can be is refused and leaves nothing", func(t *testing.T) {
		dir := t.TempDir()
		err := Pull{Client: server.Client(), Dir: dir, Most: int64(len(body)) - 1}.Bring(t.Context(), model)
		if err == nil || !strings.Contains(err.Error(), "more than 5999 bytes came") {
			t.Errorf("the error is %v", err)
		}
		left, err := os.ReadDir(filepath.Join(dir, "m"))
		if err != nil || len(left) != 0 {
			t.Errorf("%v is left, %v", left, err)
		}
	})
	t.Run("another file than expected is refused and leaves nothing", func(t *testing.T) {
		dir := t.TempDir()
		bad := model
		bad.URL = server.URL + "/bad"
		err := Pull{Client: server.Client(), Dir: dir}.Bring(t.Context(), bad)
		if err == nil || !strings.Contains(err.Error(), "is not the expected file") {
			t.Errorf("the error is %v", err)
		}
		left, err := os.ReadDir(filepath.Join(dir, "m"))
		if err != nil || len(left) != 0 {
			t.Errorf("%v is left, %v", left, err)
		}
	})
	t.Run("a mirror and a folder serve as well", func(t *testing.T) {
		dir, second := t.TempDir(), t.TempDir()
		if err := (Pull{Client: server.Client(), Dir: dir, From: server.URL + "/mirror/"}).Bring(t.Context(), model); err != nil {
			t.Fatal(err)
		}
		if err := (Pull{Dir: second, From: dir}).Bring(t.Context(), model); err != nil {
			t.Fatal(err)
		}
		if err := model.Check(second); err != nil {
			t.Error(err)
		}
	})
	t.Run("what is missing is named", func(t *testing.T) {
		_, _, err := Places{Dirs: []string{t.TempDir()}}.Find("e5-small-v2")
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "ONNX Runtime") {
			t.Errorf("the error is %v", err)
		}
	})
}

// answers is a server without a network.
type answers func(*http.Request) *http.Response

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

// TestPullResumes: a connection that breaks or stalls is opened again, and asked for
// what is missing.
func TestPullResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := []byte(strings.Repeat("model ", 1000))
		var ranges []string
		server := answers(func(r *http.Request) *http.Response {
			ranges = append(ranges, r.Header.Get("Range"))
			in, out := io.Pipe()
			answer := &http.Response{StatusCode: http.StatusPartialContent, Body: in, ContentLength: -1}
			switch len(ranges) {
			case 1:
				answer.StatusCode = http.StatusOK
				go send(out, body[:1000], io.ErrUnexpectedEOF)
			case 2:
				go func() {
					_, _ = out.Write(body[1000:2000]) // an error would be seen in what was asked for
					<-r.Context().Done()
					out.CloseWithError(r.Context().Err())
				}()
			default:
				go send(out, body[2000:], nil)
			}
			return answer
		})
		began, dir := time.Now(), t.TempDir()
		model := Asset{Path: "model.onnx", URL: "http://hub.example/model", Hashes: []string{hash(body)}}
		if err := (Pull{Client: &http.Client{Transport: server}, Dir: dir}).Bring(t.Context(), model); err != nil {
			t.Fatal(err)
		}
		if err := model.Check(dir); err != nil {
			t.Error(err)
		}
		if want := []string{"", "bytes=1000-", "bytes=2000-"}; !slices.Equal(ranges, want) {
			t.Errorf("asked for %q, want %q", ranges, want)
		}
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("it waited %v for the one that stalled", took)
		}
	})
}

// send writes a body, which ends with an error or as it should.
func send(out *io.PipeWriter, body []byte, end error) {
	_, _ = out.Write(body) // an error would be seen in what was asked for
	out.CloseWithError(end)
}
