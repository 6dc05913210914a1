//go:build documents

package data

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"klawbot/engine/internal/document/pdfium"
)

// TestRealPDFium: what make assets brings is what klawbot expects, in the folder and as the
// wheel, which also comes over a connection that breaks off.
func TestRealPDFium(t *testing.T) {
	folder := os.Getenv("ASSETS_DIR")
	file := filepath.Join(folder, "documents", "pypdfium2.whl")
	wheel, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("run make documents: ", err)
	}
	var asked []string
	for _, from := range []string{folder, file, ""} {
		dir := t.TempDir()
		if err := PullDocuments(t.Context(), AssetPull{Dir: dir, From: from, HTTP: publishes(t, wheel, &asked), Patience: time.Minute}); err != nil {
			t.Fatalf("%q: %v", from, err)
		}
		if pdfium.Find([]string{dir}) == "" {
			t.Errorf("%q: there is no library", from)
		}
	}
	if len(asked) != 2 {
		t.Errorf("asked for %q", asked)
	}
}
