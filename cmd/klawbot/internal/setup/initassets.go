package setup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine"
)

// askEmbedding proposes the model for several languages to whoever'a system does
// not speak English.
func (s Setup) askEmbedding(ctx context.Context, p *terminal.Prompter, a *Answers) error {
	language := localLanguage(s.getenv)
	if a.Embedding != "" || language == "en" {
		return nil
	}
	yes, err := p.Confirm(ctx, fmt.Sprintf("Your system speaks %q. Find by meaning in more languages than English, with %s (135 MB)?", language, engine.MultilingualEmbedding))
	if yes {
		a.Embedding = engine.MultilingualEmbedding
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

// setupPatience is how long klawbot init waits for files when nothing comes.
const setupPatience = 10 * time.Second

// setUpAssets brings what search by meaning needs at the end of klawbot init.
// Nothing that fails here is a failure: without it search goes by words.
func (s Setup) setUpAssets(ctx context.Context, c *config.Config, f config.Folders, from string) error {
	p := bot.AssetPlaces(c, f)
	if c.Memory.Embedding.Type != "onnx" || !slices.Contains(engine.EmbeddingModels(), p.Model) || bot.Complete(p.Files()) {
		return nil
	}
	fmt.Fprintf(s.Stdout, "Bringing the embedding model %s for search by meaning ...\n", p.Model)
	err := bot.PullAssets(ctx, s.Stdout, bot.Pull{Model: p.Model, Dir: filepath.Join(f.Data, "assets"), From: from, Patience: setupPatience})
	if err == nil || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return ctx.Err()
	}
	_, err = fmt.Fprintf(s.Stdout, "That did not work: %s\nSearch goes by words until then.\n", s.Redact.Text(err.Error()))
	return err
}
