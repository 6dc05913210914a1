package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine"
	"klawbot/internal/httpclient"
)

func (a *app) assetsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "assets", Short: "The embedding model and its runtime: bring them, or see where they are", Args: cobra.NoArgs}
	cmd.RunE = func(*cobra.Command, []string) error { return usage.Errorf("assets needs pull or status") }
	cmd.AddCommand(a.assetsPullCommand(), a.assetsStatusCommand())
	return cmd
}

func (a *app) assetsPullCommand() *cobra.Command {
	var model string
	var want wish
	cmd := &cobra.Command{
		Use:   "pull",
		Short: "Bring the embedding model and the ONNX Runtime library",
		Long: "Loads the files that search by meaning needs into the folder assets of the data folder, and checks each\n" +
			"against its SHA-256. What is there already is not loaded again; a download that broke off goes on where it\n" +
			"stopped. --from takes a folder or an address that has the files as such a folder has them (make assets\n" +
			"makes one in build/assets).",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			l, err := a.open()
			if err != nil {
				return err
			}
			f, err := a.folders(l.Config())
			if err != nil {
				return err
			}
			if model == "" {
				model = l.Config().Memory.Embedding.Model
			}
			if !slices.Contains(engine.EmbeddingModels(), model) {
				return usage.Errorf("--model must be one of %s; the files of another model go into a folder that memory.embedding.path names", strings.Join(engine.EmbeddingModels(), ", "))
			}
			return a.pullAssets(ctx, filepath.Join(f.Data, "assets"), model, want)
		},
	}
	cmd.Flags().StringVar(&want.from, "from", "", "`place` to take the files from, a folder or an address (default: where they are published)")
	cmd.Flags().DurationVar(&want.patience, "patience", 0, "how much `time` to wait when nothing comes, such as 5s (default 30s)")
	cmd.Flags().StringVar(&model, "model", "", "`name` of the model: "+strings.Join(engine.EmbeddingModels(), ", ")+" (default: the configured one)")
	return cmd
}

// wish says how the files are to come.
type wish struct {
	from     string
	patience time.Duration
}

// pullAssets brings the files and shows how it goes.
func (a *app) pullAssets(ctx context.Context, dir, model string, w wish) error {
	if w.from != "" && !strings.Contains(w.from, "://") {
		if _, err := os.Stat(w.from); err != nil {
			return fmt.Errorf("--from %s: %w", w.from, config.Reason(err))
		}
	}
	client := httpclient.New(httpclient.Options{Proxy: true, Follow: true, Raw: true})
	defer client.CloseIdleConnections()
	bar := terminal.NewBar(a.stdout)
	err := engine.PullAssets(ctx, engine.AssetPull{
		Model: model, Dir: dir, From: w.from, HTTP: client, Patience: w.patience, Progress: bar.Show,
	})
	bar.End()
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w; try again, or take the files from elsewhere: klawbot assets pull --from FOLDER", err)
	}
	_, err = fmt.Fprintf(a.stdout, "Checked: %s and the ONNX Runtime are in %s\n", model, dir)
	return err
}

// askEmbedding proposes the model for several languages to whoever's system does
// not speak English.
func (a *app) askEmbedding(ctx context.Context, p *terminal.Prompter, s *setup) error {
	language := localLanguage(a.getenv)
	if s.embedding != "" || language == "en" {
		return nil
	}
	yes, err := p.Confirm(ctx, fmt.Sprintf("Your system speaks %q. Find by meaning in more languages than English, with %s (135 MB)?", language, engine.MultilingualEmbedding))
	if yes {
		s.embedding = engine.MultilingualEmbedding
	}
	return err
}

// localLanguage is the language of the system, such as "ru"; "en" when it names
// none.
func localLanguage(getenv func(string) string) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(name); value != "" {
			language, _, _ := strings.Cut(value, ".")
			language, _, _ = strings.Cut(language, "_")
			if language == "C" || language == "POSIX" {
				return "en"
			}
			return strings.ToLower(language)
		}
	}
	return "en"
}

func (a *app) assetsStatusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say which files of the embeddings are where, and which are missing",
		Long:  "Looks for the files that search by meaning needs and compares them with what was published. The exit code is\n1 when one is missing.",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			l, err := a.open()
			if err != nil {
				return err
			}
			f, err := a.folders(l.Config())
			if err != nil {
				return err
			}
			if t := l.Config().Memory.Embedding.Type; t != "onnx" {
				return fmt.Errorf("memory.embedding.type is %s, which needs no files", t)
			}
			return a.assetsStatus(assetPlaces(l.Config(), f), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

// assetPlaces are where the configuration has the files looked for.
func assetPlaces(c *config.Config, f config.Folders) engine.AssetPlaces {
	e := c.EngineMemory().Embedding
	return engine.AssetPlaces{Model: e.Model, Runtime: e.Runtime, Path: e.Path, Dirs: bot.AssetDirs(f.Data)}
}

func (a *app) assetsStatus(p engine.AssetPlaces, asJSON bool) error {
	files := p.Files()
	ok := complete(files)
	if asJSON {
		err := a.printJSON(struct {
			OK    bool               `json:"ok"`
			Model string             `json:"model"`
			Files []engine.AssetFile `json:"files"`
		}{ok, p.Model, files})
		if err == nil && !ok {
			err = errSilent
		}
		return err
	}
	for _, f := range files {
		mark, text := "✓", fmt.Sprintf("%s (%s)", f.File, terminal.Megabytes(f.Bytes))
		if f.Fault != "" {
			mark, text = "✗", f.Fault
		}
		if _, err := fmt.Fprintf(a.stdout, "%s %-30s %s\n", mark, f.Name, text); err != nil {
			return err
		}
	}
	if !ok {
		fmt.Fprintln(a.stdout, "→ search goes by words until klawbot assets pull")
		return errSilent
	}
	return nil
}

// complete reports whether every file is there and the right one.
func complete(files []engine.AssetFile) bool {
	return !slices.ContainsFunc(files, func(f engine.AssetFile) bool { return f.Fault != "" })
}

// setupPatience is how long klawbot init waits for files when nothing comes.
const setupPatience = 10 * time.Second

// setUpAssets brings what search by meaning needs at the end of klawbot init.
// Nothing that fails here is a failure: without it search goes by words.
func (a *app) setUpAssets(ctx context.Context, c *config.Config, f config.Folders, from string) error {
	p := assetPlaces(c, f)
	if c.Memory.Embedding.Type != "onnx" || !slices.Contains(engine.EmbeddingModels(), p.Model) || complete(p.Files()) {
		return nil
	}
	fmt.Fprintf(a.stdout, "Bringing the embedding model %s for search by meaning ...\n", p.Model)
	err := a.pullAssets(ctx, filepath.Join(f.Data, "assets"), p.Model, wish{from: from, patience: setupPatience})
	if err == nil || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return ctx.Err()
	}
	_, err = fmt.Fprintf(a.stdout, "That did not work: %s\nSearch goes by words until then.\n", a.redact.Text(err.Error()))
	return err
}
