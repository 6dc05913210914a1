package main

import (
	"context"
	"fmt"
	"os"
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
	return parent("assets", "Download or check models and libraries",
		assetsPullCommand(a), assetsStatusCommand(a))
}

func assetsPullCommand(a *app) *cobra.Command {
	var want bot.Pull
	var llm string
	var speech, documents bool
	var voice string
	var once bool
	cmd := &cobra.Command{
		Use:   "pull",
		Short: "Download the embedding model and the ONNX Runtime library",
		Long: "Downloads the files that semantic search needs into the directory assets of the data directory, and checks each\n" +
			"against its SHA-256. What is there already is not loaded again; a download that broke off resumes where it\n" +
			"stopped. --from takes a directory or an address that has the files as such a directory has them (make assets\n" +
			"makes one in build/assets).",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if llm == "list" {
				return bot.ListLocalModels(a.stdout)
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			l, f, err := a.openFolders()
			if err != nil {
				return err
			}
			if err := os.MkdirAll(f.Data, 0o700); err != nil { // conversations will be there
				return err
			}
			want.Dir = filepath.Join(f.Data, "assets")
			switch {
			case voice != "" && !slices.Contains(data.VoiceLanguages(), voice):
				return usage.Errorf("--voice must be one of %s; any voice of Piper can be put into assets/voice/LANGUAGE as model.onnx and model.onnx.json", strings.Join(data.VoiceLanguages(), ", "))
			case voice != "":
				want.Model = voice
				return bot.PullVoice(ctx, a.stdout, want)
			case speech:
				return bot.PullSpeech(ctx, a.stdout, want)
			case documents:
				return bot.PullDocuments(ctx, a.stdout, want)
			case llm != "":
				want.Model = llm
				return a.pullLocalModel(ctx, want, l.Source.File)
			case want.Model == "":
				want.Model = bot.AssetPlaces(ctx, l.Config(), f).Model
			}
			if !slices.Contains(data.EmbeddingModels(), want.Model) {
				return usage.Errorf("--model must be one of %s; the files of another model go into a directory that memory.embedding.path names", strings.Join(data.EmbeddingModels(), ", "))
			}
			if !once {
				return bot.PullAssets(ctx, a.stdout, want)
			}
			return bot.PullOnce(ctx, a.stdout, want)
		},
	}
	cmd.Flags().StringVar(&want.From, "from", "", "directory or `URL` of the files (default: where they are published)")
	cmd.Flags().DurationVar(&want.Patience, "patience", 0, "`time` to wait for data, e.g. 5s (default: 30s)")
	cmd.Flags().StringVar(&want.Model, "model", "", "`name` of the model: "+strings.Join(data.EmbeddingModels(), ", ")+" (default: the configured one)")
	cmd.Flags().BoolVar(&once, "once", false, "try once a day, and leave it to klawbot chat to say that they are missing")
	cmd.Flags().BoolVar(&speech, "speech", false, "download the speech model instead, which understands voice messages in English (44 MB)")
	cmd.Flags().BoolVar(&documents, "documents", false, "download PDFium instead, which reads PDFs where poppler-utils is not installed (4 MB)")
	cmd.Flags().StringVar(&llm, "llm", "", "`NAME` of a language model to download instead; list prints the names")
	cmd.Flags().StringVar(&voice, "voice", "", "download the voice of a `LANGUAGE` instead, with which klawbot speaks: "+strings.Join(data.VoiceLanguages(), ", ")+" (63 MB)")
	cmd.MarkFlagsMutuallyExclusive("speech", "documents", "voice", "llm", "model")
	return cmd
}

// pullLocalModel downloads a language model and says how to use it.
func (a *app) pullLocalModel(ctx context.Context, want bot.Pull, configured string) error {
	if err := bot.PullLocalModel(ctx, a.stdout, want); err != nil {
		return err
	}
	next := "klawbot init"
	if configured != "" {
		next = "klawbot model " + want.Model
	}
	_, err := fmt.Fprintln(a.stdout, a.advice("To use it: "+next))
	return err
}

func assetsStatusCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the embedding files and which are missing",
		Long:  "Checks the files that semantic search needs against the published checksums. The exit code is\n1 if a file is missing.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, f, err := a.openFolders()
			if err != nil {
				return err
			}
			if t := l.Config().Memory.Embedding.Type; t != "onnx" {
				return fmt.Errorf("memory.embedding.type is %s, which needs no files", t)
			}
			return a.assetsStatus(bot.AssetPlaces(cmd.Context(), l.Config(), f), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) assetsStatus(p data.AssetPlaces, asJSON bool) error {
	w := a.stdout
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
		fmt.Fprintln(w, a.advice("→ keyword search until klawbot assets pull"))
		return errSilent
	}
	return nil
}
