package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine/data"
)

func assetsCommand(a *app) *cobra.Command {
	return parent("assets", "The embedding model and its runtime: bring them, or see where they are",
		assetsPullCommand(a), assetsStatusCommand(a))
}

func assetsPullCommand(a *app) *cobra.Command {
	var want bot.Pull
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
			l, f, err := a.openFolders()
			if err != nil {
				return err
			}
			if want.Model == "" {
				want.Model = l.Config().Memory.Embedding.Model
			}
			if !slices.Contains(data.EmbeddingModels(), want.Model) {
				return usage.Errorf("--model must be one of %s; the files of another model go into a folder that memory.embedding.path names", strings.Join(data.EmbeddingModels(), ", "))
			}
			want.Dir = filepath.Join(f.Data, "assets")
			return bot.PullAssets(ctx, a.stdout, want)
		},
	}
	cmd.Flags().StringVar(&want.From, "from", "", "`place` to take the files from, a folder or an address (default: where they are published)")
	cmd.Flags().DurationVar(&want.Patience, "patience", 0, "how much `time` to wait when nothing comes, such as 5s (default 30s)")
	cmd.Flags().StringVar(&want.Model, "model", "", "`name` of the model: "+strings.Join(data.EmbeddingModels(), ", ")+" (default: the configured one)")
	return cmd
}

func assetsStatusCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say which files of the embeddings are where, and which are missing",
		Long:  "Looks for the files that search by meaning needs and compares them with what was published. The exit code is\n1 when one is missing.",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			l, f, err := a.openFolders()
			if err != nil {
				return err
			}
			if t := l.Config().Memory.Embedding.Type; t != "onnx" {
				return fmt.Errorf("memory.embedding.type is %s, which needs no files", t)
			}
			return assetsStatus(a.stdout, bot.AssetPlaces(l.Config(), f), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func assetsStatus(w io.Writer, p data.AssetPlaces, asJSON bool) error {
	files := p.Files()
	ok := bot.Complete(files)
	if asJSON {
		err := printJSON(w, struct {
			OK    bool             `json:"ok"`
			Model string           `json:"model"`
			Files []data.AssetFile `json:"files"`
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
		if _, err := fmt.Fprintf(w, "%s %-30s %s\n", mark, f.Name, text); err != nil {
			return err
		}
	}
	if !ok {
		fmt.Fprintln(w, "→ search goes by words until klawbot assets pull")
		return errSilent
	}
	return nil
}
