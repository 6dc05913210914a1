package data

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/document/pdfium"
	"klawbot/internal/httpclient"
)

// pdfiumWheel is a wheel with this library.
func pdfiumWheel(t *testing.T, library string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range [][2]string{
		{"pypdfium2_raw/" + filepath.Base(pdfium.Path()), library},
		{"pypdfium2-1.dist-info/licenses/LICENSES/BSD-3-Clause.txt", "Redistribution and use"},
		{"pypdfium2-1.dist-info/licenses/BUILD_LICENSES/freetype.txt", "The FreeType Project"},
	} {
		w, err := z.Create(m[0])
		if err == nil {
			_, err = w.Write([]byte(m[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// publishes is a client for which a wheel is published. The first answer breaks off after
// half of it. asked gets the ranges that it was asked for.
func publishes(t *testing.T, wheel []byte, asked *[]string) *http.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if *asked = append(*asked, r.Header.Get("Range")); len(*asked) == 1 {
			w.Header().Set("Content-Length", "1000000")
			_, _ = w.Write(wheel[:len(wheel)/2])
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(wheel))
	}))
	t.Cleanup(server.Close)
	return &http.Client{Transport: through(server.URL)}
}

// through is a transport that asks this server instead of any other.
type through string

func (s through) RoundTrip(r *http.Request) (*http.Response, error) {
	q := r.Clone(r.Context())
	q.URL.Scheme, q.URL.Host = "http", strings.TrimPrefix(string(s), "http://")
	return http.DefaultTransport.RoundTrip(q)
}

// TestPullOfPDFium: the library comes out of a published wheel, also after a broken
// connection, with its licenses and nothing else; a folder, an address and a wheel have it,
// too; a damaged one is replaced; another one is refused, and the
// licenses that it left are replaced.
func TestPullOfPDFium(t *testing.T) {
	system := runtime.GOOS + "/" + runtime.GOARCH
	before, known := pdfiumWheels[system]
	if !known {
		t.Skip("no wheel for " + system)
	}
	library, wheel := "\x7fELF and so on", pdfiumWheel(t, "\x7fELF and so on")
	fake := before
	fake.wheel, fake.library, fake.size = sum(wheel), sum([]byte(library)), int64(len(wheel))
	pdfiumWheels[system] = fake
	t.Cleanup(func() { pdfiumWheels[system] = before })

	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "pypdfium2.whl")
	var asked []string
	client := publishes(t, wheel, &asked)
	complete := func(dir string) {
		t.Helper()
		got, err := os.ReadFile(filepath.Join(dir, pdfium.Path()))
		if err != nil || string(got) != library || pdfium.Find([]string{t.TempDir(), dir}) != filepath.Join(dir, pdfium.Path()) {
			t.Errorf("%q, %v", got, err)
		}
		words, err := os.ReadFile(filepath.Join(dir, "documents", "LICENSES.txt"))
		if err != nil || !strings.Contains(string(words), "Redistribution and use") || !strings.Contains(string(words), "==== BUILD_LICENSES/freetype.txt\n\nThe FreeType Project") {
			t.Errorf("%s, %v", words, err)
		}
		if all, _ := filepath.Glob(filepath.Join(dir, "documents", "*")); len(all) != 2 {
			t.Errorf("%v", all)
		}
	}
	if err := PullDocuments(t.Context(), AssetPull{Dir: dir, HTTP: client}); err != nil {
		t.Fatal(err)
	}
	complete(dir)
	if len(asked) != 2 || !strings.HasPrefix(asked[1], "bytes=") {
		t.Errorf("asked for %q", asked)
	}
	if err := PullDocuments(t.Context(), AssetPull{Dir: dir, HTTP: client}); err != nil || len(asked) != 2 {
		t.Errorf("%v, asked %d times", err, len(asked))
	}
	if err := os.WriteFile(filepath.Join(dir, pdfium.Path()), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := PullDocuments(t.Context(), AssetPull{Dir: dir, HTTP: client}); err != nil || len(asked) != 3 {
		t.Errorf("%v, asked %d times", err, len(asked))
	}
	complete(dir)

	if err := os.WriteFile(file, wheel, 0o600); err != nil {
		t.Fatal(err)
	}
	mirror := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer mirror.Close()
	for _, from := range []string{dir, mirror.URL, file} {
		other := t.TempDir()
		if err := PullDocuments(t.Context(), AssetPull{Dir: other, From: from, HTTP: httpclient.New(httpclient.Options{Raw: true})}); err != nil {
			t.Fatalf("%s: %v", from, err)
		}
		complete(other)
	}

	if err := os.WriteFile(file, pdfiumWheel(t, "another library"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	if err := PullDocuments(t.Context(), AssetPull{Dir: other, From: file, HTTP: client}); err == nil || !strings.Contains(err.Error(), "is not the expected file") || pdfium.Find([]string{other}) != "" {
		t.Errorf("%v", err)
	}
	licenses := filepath.Join(other, "documents", "LICENSES.txt")
	if err := os.WriteFile(licenses, []byte("of another version"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := PullDocuments(t.Context(), AssetPull{Dir: other, From: dir, HTTP: client}); err != nil {
		t.Fatal(err)
	}
	complete(other)
}

// TestPDFiumOfEverySystem: each has its wheel, sums and size.
func TestPDFiumOfEverySystem(t *testing.T) {
	for system := range pdfiumWheels {
		name, processor, _ := strings.Cut(system, "/")
		wheel, kept, err := pdfiumAssets(name, processor)
		if err != nil || len(wheel.Hashes[0]) != 64 || len(kept[1].Hashes[0]) != 64 || wheel.Size < 3_000_000 || !strings.HasSuffix(wheel.URL, ".whl") {
			t.Errorf("%s: %+v, %+v, %v", system, wheel, kept, err)
		}
	}
	if _, _, err := pdfiumAssets("plan9", "386"); err == nil || !strings.Contains(err.Error(), "install poppler-utils") {
		t.Error(err)
	}
}
