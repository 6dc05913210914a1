package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"klawbot/engine/internal/embed"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
)

// EmbeddingFor is the embedding model for a language, and the one to use while its files
// are missing, "" for none.
func EmbeddingFor(language string) (model, fallback string) { return embed.ModelFor(language) }

// EmbeddingIn is the model that the settings want for the texts of a data directory.
func EmbeddingIn(ctx context.Context, dir string, e settings.Embedding) string {
	st, err := store.OpenBeside(ctx, store.Config{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return e.Model // there are no texts yet
	}
	defer func() { _ = st.Close() }() // it was only read
	if wanted, err := recall.Wanted(ctx, st, e); err == nil {
		return wanted.Model
	}
	return e.Model
}

// MultilingualEmbedding is the sentence model for other languages than English.
const MultilingualEmbedding = embed.Multilingual

// EmbeddingModels are the sentence models that are known by name.
func EmbeddingModels() []string { return embed.ModelNames() }

// AssetPull says which files of the embeddings come from where.
type AssetPull struct {
	// Model is the name of a sentence model.
	Model string
	// Dir is the folder of assets that they come to.
	Dir string
	// From is a folder or an address that holds the files of such a folder; empty
	// is where they are published.
	From string
	// HTTP follows redirects, as the publishers need it.
	HTTP *http.Client
	// Patience is how long nothing may come; 0 means 30 seconds.
	Patience time.Duration
	// Progress is told how many bytes of a file are there and how many it has, 0
	// when that is not known. It may be nil.
	Progress func(name string, done, total int64)
}

// PullAssets downloads the ONNX Runtime library and an embedding model, and checks
// each file. Complete files are not downloaded again.
func PullAssets(ctx context.Context, p AssetPull) error {
	needed, err := embed.Needed(p.Model)
	if err != nil {
		return err
	}
	pull := embed.Pull{Client: p.HTTP, Dir: p.Dir, From: p.From, Patience: p.Patience}
	if p.Progress != nil {
		pull.Progress = func(a embed.Asset, done, total int64) { p.Progress(a.Path, done, total) }
	}
	for _, a := range needed {
		if err := pull.Bring(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// AssetFile is a file that the embeddings need. Its JSON form is stable.
type AssetFile struct {
	Name string `json:"name"`
	// File is where it was found, empty for nowhere.
	File string `json:"file,omitempty"`
	// Bytes is its size.
	Bytes int64 `json:"bytes,omitempty"`
	// Fault says what is wrong with it.
	Fault string `json:"fault,omitempty"`
}

// AssetPlaces are where the files of the embeddings are looked for.
type AssetPlaces struct {
	// Model is the name of a sentence model, or its folder.
	Model string
	// Runtime is the file of the ONNX Runtime library and Path the folder of the
	// model; empty looks into Dirs, the first that has a file wins.
	Runtime, Path string
	Dirs          []string
}

// folder is the folder of the model that the owner named, empty for none.
func (p AssetPlaces) folder() string {
	if p.Path == "" && strings.ContainsAny(p.Model, `/\`) {
		return p.Model
	}
	return p.Path
}

// Files says where the files are. Those of a model that is known by name are
// compared with what was published.
func (p AssetPlaces) Files() []AssetFile {
	folder := p.folder()
	known := map[string]embed.Asset{}
	if needed, err := embed.Needed(p.Model); err == nil && folder == "" {
		for _, a := range needed {
			known[a.Path] = a
		}
	}
	all := []AssetFile{assetFile(embed.LibraryName(), p.Runtime, p.Dirs, known)}
	for _, name := range []string{"model.onnx", "tokenizer.json"} {
		if folder == "" {
			all = append(all, assetFile(p.Model+"/"+name, "", p.Dirs, known))
		} else {
			all = append(all, assetFile(name, filepath.Join(folder, name), nil, nil))
		}
	}
	return all
}

// assetFile looks for one file: at its place, if the owner named one, else in
// the folders of assets.
func assetFile(name, place string, dirs []string, known map[string]embed.Asset) AssetFile {
	f := AssetFile{Name: name, Fault: "missing"}
	places := []string{place}
	if place == "" {
		places = places[:0]
		for _, d := range dirs {
			places = append(places, filepath.Join(d, filepath.FromSlash(name)))
		}
	}
	for i, file := range places {
		info, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		f.File, f.Fault = file, ""
		if err != nil {
			f.Fault = err.Error()
			return f
		}
		f.Bytes = info.Size()
		if a, ok := known[name]; ok && place == "" {
			if err := a.Check(dirs[i]); err != nil {
				f.Fault = fmt.Sprint(err)
			}
		}
		return f
	}
	return f
}
