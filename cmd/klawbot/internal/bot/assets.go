package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine"
	"klawbot/engine/data"
	"klawbot/internal/httpclient"
)

// sharedAssets is where packages and container images put the files of the
// embeddings.
const sharedAssets = "/usr/share/klawbot/assets"

// AssetDirs are the folders in which the files of the embeddings are looked for:
// that of the data, the one beside the program, that of a checkout whose make
// built the program, the system's.
func AssetDirs(data string) []string {
	dirs := []string{filepath.Join(data, "assets")}
	if program, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(program); err == nil {
			program = real
		}
		bin := filepath.Dir(program)
		dirs = append(dirs, filepath.Join(bin, "..", "share", "klawbot", "assets"))
		if filepath.Base(bin) == "bin" {
			dirs = append(dirs, filepath.Join(bin, "..", "build", "assets"))
		}
	}
	if !slices.Contains(dirs, sharedAssets) {
		dirs = append(dirs, sharedAssets)
	}
	return dirs
}

// AssetPlaces are where the configuration has the files looked for, of the model that
// the texts of the data directory want.
func AssetPlaces(ctx context.Context, c *config.Config, f config.Folders) data.AssetPlaces {
	e := c.EngineMemory().Embedding
	return data.AssetPlaces{Model: data.EmbeddingIn(ctx, f.Data, e), Runtime: e.Runtime, Path: e.Path, Dirs: AssetDirs(f.Data)}
}

// Complete reports whether every file is there and the right one.
func Complete(files []data.AssetFile) bool {
	return !slices.ContainsFunc(files, func(f data.AssetFile) bool { return f.Fault != "" })
}

// Pull says which files of the embeddings are to come, and how.
type Pull struct {
	Model, Dir string
	// From is a folder or an address, empty for where they are published.
	From string
	// Patience is how long to wait when nothing comes; 0 is the usual.
	Patience time.Duration
}

// PullAssets downloads the embedding model and its runtime, and shows the progress.
func PullAssets(ctx context.Context, out io.Writer, p Pull) error {
	return pulling(ctx, out, p, data.PullAssets, "take the files from elsewhere: klawbot assets pull --from DIRECTORY",
		"Checked: %s and the ONNX Runtime are in %s\n", p.Model, p.Dir)
}

// PullSpeech downloads the speech model and its runtime.
func PullSpeech(ctx context.Context, out io.Writer, p Pull) error {
	return pulling(ctx, out, p, data.PullSpeech, "pip download --no-deps moonshine-voice==0.0.73, then klawbot assets pull --speech --from FILE.whl",
		"Checked: %s and the ONNX Runtime are in %s. Voice messages in English are understood on this machine.\n", data.SpeechModel, p.Dir)
}

// PullDocuments downloads PDFium, which reads PDFs.
func PullDocuments(ctx context.Context, out io.Writer, p Pull) error {
	return pulling(ctx, out, p, data.PullDocuments, "pip download --no-deps "+data.PDFiumPackage+", then klawbot assets pull --documents --from FILE.whl",
		"Checked: PDFium and its licenses are in %s. klawbot reads PDFs on this machine.\n", filepath.Join(p.Dir, "documents"))
}

// learn downloads the speech model into the data directory.
func (p *Bot) learn(ctx context.Context) error {
	client := httpclient.New(httpclient.Options{Proxy: true, Follow: true, Raw: true})
	defer client.CloseIdleConnections()
	return data.PullSpeech(ctx, data.AssetPull{Dir: filepath.Join(p.Folders.Data, "assets"), HTTP: client})
}

// PullVoice downloads the voice of the language that p.Model names.
func PullVoice(ctx context.Context, out io.Writer, p Pull) error {
	return pulling(ctx, out, p, data.PullVoice, "take the files from elsewhere: klawbot assets pull --voice "+p.Model+" --from DIRECTORY",
		"Checked: a voice for %s is in %s. It also needs espeak-ng and opus-tools.\n", p.Model, p.Dir)
}

// triedFile is in the folder of the assets when they could not be downloaded: it holds
// nothing, and its time says when that was tried. told is added when a person was told.
const triedFile, toldFile = ".tried", ".told"

// PullOnce is PullAssets for a start of make chat: silent where they cannot be had, and
// not tried again for a day.
func PullOnce(ctx context.Context, out io.Writer, p Pull) error {
	tried := filepath.Join(p.Dir, triedFile)
	if info, err := os.Stat(tried); err == nil && time.Since(info.ModTime()).Abs() < 24*time.Hour {
		return nil
	}
	if err := PullAssets(ctx, out, p); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errors.Join(os.MkdirAll(p.Dir, 0o700), os.WriteFile(tried, nil, 0o600))
	}
	return nil
}

// Offline reports, once, that the assets could not be downloaded.
func Offline(dir string) bool {
	told := filepath.Join(dir, toldFile)
	if _, err := os.Stat(filepath.Join(dir, triedFile)); err != nil {
		return false
	}
	if _, err := os.Stat(told); err == nil {
		return false
	}
	_ = os.WriteFile(told, nil, 0o600) // else it is told again
	return true
}

// PullLocalModel downloads a language model and the program that runs it.
func PullLocalModel(ctx context.Context, out io.Writer, p Pull) error {
	if strings.HasSuffix(p.Model, ".gguf") {
		return fmt.Errorf("a .gguf file needs no download; use it: klawbot model %s", p.Model)
	}
	m, err := data.FindLocalModel(p.Model)
	if err != nil {
		return err
	}
	pull := func(ctx context.Context, a data.AssetPull) error { return data.PullLocalModel(ctx, a, m) }
	return pulling(ctx, out, p, pull, "take the files from elsewhere: klawbot assets pull --llm "+m.Name+" --from DIRECTORY", "%s is in %s.\n", m.Name, p.Dir)
}

// pulling downloads, shows the progress and says how it went. or is what else to try.
func pulling(ctx context.Context, out io.Writer, p Pull, pull func(context.Context, data.AssetPull) error, or, done string, about ...any) error {
	if p.From != "" && !strings.Contains(p.From, "://") {
		if _, err := os.Stat(p.From); err != nil {
			return fmt.Errorf("--from %s: %w", p.From, config.Reason(err))
		}
	}
	client := httpclient.New(httpclient.Options{Proxy: true, Follow: true, Raw: true})
	defer client.CloseIdleConnections()
	bar := terminal.NewBar(out)
	err := pull(ctx, data.AssetPull{
		Model: p.Model, Dir: p.Dir, From: p.From, HTTP: client, Patience: p.Patience, Progress: bar.Show,
	})
	bar.End()
	switch {
	case err == nil:
		_, err = fmt.Fprintf(out, done, about...)
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("%w; try again, or %s", err, or)
}

// ListLocalModels prints the language models that can be downloaded.
func ListLocalModels(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSIZE\tMEMORY\tCONTEXT\tTOOLS\tLICENSE")
	for _, m := range data.LocalModels() {
		tools := "yes"
		if !m.Tools {
			tools = "no (answers only)"
		}
		fmt.Fprintf(w, "%s\t%.1f GB\t%d GB\t%d\t%s\t%s\n", m.Name, float64(m.Bytes)/1e9, m.MinMemory/1e9, m.Context, tools, m.License)
	}
	return w.Flush()
}

// Bare is the configuration of an engine that only looks after its folders and
// its models.
func (c Config) Bare() engine.Base {
	return engine.Base{
		Dir: c.Folders.Data, Workspace: c.Folders.Workspace, Version: c.Version, Log: c.Log, HTTP: httpclient.New(httpclient.Options{Proxy: true}),
		Settings: c.Live.Settings, Assets: AssetDirs(c.Folders.Data),
	}
}
