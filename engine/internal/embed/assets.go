package embed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// RuntimeVersion is the release of ONNX Runtime that is used. onnxruntime_go
// 1.27.0 asks for version 24 of its interface or a later one; this is 26.
const RuntimeVersion = "1.26.0"

// DefaultModel is the model for English: the best of the small ones that were measured
// (doc/tools/memory.md).
const DefaultModel = "e5-small-v2"

// Multilingual is the model for languages other than English.
const Multilingual = "multilingual-e5-small"

// ForEnglish reports whether a model that is known by name reads English only.
func ForEnglish(model string) bool { return model == DefaultModel || model == "all-minilm-l6-v2" }

// ModelFor is the model for a language, and the one to use while its files are missing,
// "" for none.
func ModelFor(language string) (model, fallback string) {
	if language == "en" {
		return DefaultModel, ""
	}
	return Multilingual, DefaultModel
}

// Asset is a file that the embeddings need, at its place in a folder of assets.
type Asset struct {
	// Path is relative to the folder, with slashes.
	Path string
	// URL is where it is published, "" for a file that only make assets brings.
	// Member is the file in the archive there, "" when it is no archive.
	URL, Member string
	// Size is what is loaded, in bytes, 0 where that is not known.
	Size int64
	// Hashes are the SHA-256 of the file, in hexadecimal; each is good, and without any,
	// every file is. Archive is
	// that of the archive.
	Hashes  []string
	Archive string
	// File is where Pull.From has it if not at Path.
	File string
}

const (
	hub      = "https://huggingface.co/"
	releases = "https://github.com/microsoft/onnxruntime/releases/download/v" + RuntimeVersion + "/"
)

// models are the files of the models that are known by name.
var models = map[string][]Asset{
	"e5-small-v2": {
		{Path: "e5-small-v2/model.onnx", URL: hub + "Xenova/e5-small-v2/resolve/main/onnx/model_quantized.onnx", Size: 34_014_367,
			Hashes: []string{"7d9092cb25f2bd1c023b7e8d2aa459044a02030ac880e5a59fdaf27af69f1ded"}},
		{Path: "e5-small-v2/tokenizer.json", URL: hub + "intfloat/e5-small-v2/resolve/main/tokenizer.json", Size: 711_396,
			Hashes: []string{"d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"}},
	},
	"all-minilm-l6-v2": {
		{Path: "all-minilm-l6-v2/model.onnx", URL: hub + "Xenova/all-MiniLM-L6-v2/resolve/main/onnx/model_quantized.onnx", Size: 22_972_370,
			Hashes: []string{"afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1"}},
		{Path: "all-minilm-l6-v2/tokenizer.json", URL: hub + "Xenova/all-MiniLM-L6-v2/resolve/main/tokenizer.json", Size: 711_661,
			Hashes: []string{"da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"}},
	},
	Multilingual: {
		{Path: Multilingual + "/model.onnx", URL: hub + "Xenova/multilingual-e5-small/resolve/main/onnx/model_quantized.onnx",
			Hashes: []string{"f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193"}},
		{Path: Multilingual + "/tokenizer.json", URL: hub + "intfloat/multilingual-e5-small/resolve/main/tokenizer.json",
			Hashes: []string{"0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39"}},
	},
}

// libraries are the runtimes, by operating system and processor. The second hash
// of a library is that of the npm package onnxruntime-node of the same version,
// where it is another build.
var libraries = map[string]Asset{
	"linux/amd64": {URL: releases + "onnxruntime-linux-x64-" + RuntimeVersion + ".tgz", Size: 8_590_023,
		Member:  "onnxruntime-linux-x64-" + RuntimeVersion + "/lib/libonnxruntime.so." + RuntimeVersion,
		Archive: "1254da24fb389cf39dc0ff3451ab48301740ffbfcbaf646849df92f80ee92c57",
		Hashes: []string{"5bd5bedf736fc501692435d0ec4f6e8b2bdf48cd30af8e6d00d61b3ddc9a7ab8",
			"57625571931dd813257ed422fe73ba2c25aadcc5640d9c6743e71540135c227e"}},
	"linux/arm64": {URL: releases + "onnxruntime-linux-aarch64-" + RuntimeVersion + ".tgz", Size: 7_608_947,
		Member:  "onnxruntime-linux-aarch64-" + RuntimeVersion + "/lib/libonnxruntime.so." + RuntimeVersion,
		Archive: "34ff1c2d0f12e2cf3d33a0c5f82e39792e1d581fbd6968fd7c30d173654be01a",
		Hashes:  []string{"115ecb838e703d390262b8b4d07d5248e6693c67658d4c98c48f94905ab27af4"}},
	// The file of the npm package alone: what the archive of the release holds is
	// another build, whose hash is not known.
	"darwin/arm64": {Size: 37_797_768, Hashes: []string{"e51438fb319250db7cba147049ab26fe6fa842f4d6f7c849256cab57ad4cc703"}},
}

// ModelNames are the models that are known by name.
func ModelNames() []string {
	names := make([]string, 0, len(models))
	for name := range models {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// LibraryName is the file of the runtime library on this system.
func LibraryName() string { return libraryName(runtime.GOOS) }

func libraryName(system string) string {
	switch system {
	case "darwin":
		return "libonnxruntime.dylib"
	case "windows":
		return "onnxruntime.dll"
	}
	return "libonnxruntime.so"
}

// Needed are the files that a model known by name needs on this system.
func Needed(model string) ([]Asset, error) { return neededOn(runtime.GOOS, runtime.GOARCH, model) }

func neededOn(system, processor, model string) ([]Asset, error) {
	files, ok := models[model]
	if !ok {
		return nil, fmt.Errorf("no model %q to bring; the known ones are %v", model, ModelNames())
	}
	library, err := libraryOn(system, processor)
	if err != nil {
		return nil, fmt.Errorf("%w; keyword search only", err)
	}
	return append([]Asset{library}, files...), nil
}

// Library is the runtime library of this system.
func Library() (Asset, error) { return libraryOn(runtime.GOOS, runtime.GOARCH) }

func libraryOn(system, processor string) (Asset, error) {
	library, ok := libraries[system+"/"+processor]
	if !ok {
		return Asset{}, fmt.Errorf("no ONNX Runtime is published for %s/%s", system, processor)
	}
	library.Path = libraryName(system)
	return library, nil
}

// FindFile is the place of a file of assets: the first folder that has it wins. The
// error names the file and is fs.ErrNotExist.
func FindFile(dirs []string, name string) (string, error) {
	for _, d := range dirs {
		if file := filepath.Join(d, filepath.FromSlash(name)); exists(file) {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

// Check reports whether a folder of assets has the file: fs.ErrNotExist if not, another
// error if it is a different one.
func (a Asset) Check(dir string) error {
	file := filepath.Join(dir, filepath.FromSlash(a.Path))
	got, err := hashOf(file)
	if err == nil && len(a.Hashes) > 0 && !slices.Contains(a.Hashes, got) {
		err = fmt.Errorf("%s %w (SHA-256 %s)", file, ErrUnexpected, got)
	}
	return err
}

// ErrUnexpected is the error of a file with another checksum.
var ErrUnexpected = errors.New("is not the expected file")

// hashOf is the SHA-256 of a file, in hexadecimal.
func hashOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close() // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Places are where the files of a model are looked for.
type Places struct {
	// Runtime is the file of the library and Model the folder of the model, as the
	// owner wrote them; both may be empty.
	Runtime, Model string
	// Dirs are folders of assets, the first one that has a file wins.
	Dirs []string
}

// Find finds the library and the folder of a model. The error names what is
// missing and is fs.ErrNotExist.
func (p Places) Find(model string) (library, dir string, err error) {
	library, dir = p.Runtime, p.Model
	for _, d := range p.Dirs {
		if library == "" && exists(filepath.Join(d, LibraryName())) {
			library = filepath.Join(d, LibraryName())
		}
		if dir == "" && exists(filepath.Join(d, model, "model.onnx")) && exists(filepath.Join(d, model, "tokenizer.json")) {
			dir = filepath.Join(d, model)
		}
	}
	switch {
	case library == "":
		return "", "", fmt.Errorf("the ONNX Runtime library %s: %w", LibraryName(), fs.ErrNotExist)
	case dir == "":
		return "", "", fmt.Errorf("the embedding model %s: %w", model, fs.ErrNotExist)
	}
	for _, file := range []string{library, filepath.Join(dir, "model.onnx"), filepath.Join(dir, "tokenizer.json")} {
		if !exists(file) {
			return "", "", fmt.Errorf("%s: %w", file, fs.ErrNotExist)
		}
	}
	return library, dir, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return !errors.Is(err, fs.ErrNotExist)
}
