package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine/data"
	"klawbot/engine/settings"
)

// choice is a model to choose from.
type choice struct {
	title string
	model settings.Model
	// download, if not nil, brings it first.
	download func(context.Context) error
}

// localChoices are the models that are here, else one that could be downloaded.
func (s Setup) localChoices(file string) (choices []choice) {
	defaults := config.Defaults()
	f, err := config.FindFolders(s.DataFlag, file, &defaults, s.getenv)
	if err != nil {
		return nil
	}
	managed := func(name string) settings.Model { return managed(f.Data, name) }
	for _, name := range data.PulledModels(f.Data) {
		choices = append(choices, choice{title: name + " on this machine", model: managed(name)})
	}
	if len(choices) > 0 {
		return choices
	}
	if m, ok := data.FittingModel(f.Data); ok {
		choices = append(choices, choice{
			title: fmt.Sprintf("%s on this machine (download %.1f GB; first answers take up to a minute)", m.Name, float64(m.Bytes)/1e9),
			model: managed(m.Name),
			download: func(ctx context.Context) error {
				return bot.PullLocalModel(ctx, s.Stdout, bot.Pull{Model: m.Name, Dir: filepath.Join(f.Data, "assets"), Patience: setupPatience})
			},
		})
	}
	return choices
}

// managed is a model that klawbot runs on this machine.
func managed(dataDir, name string) settings.Model {
	return settings.Model{
		Provider: "local", Type: "managed", Name: name, MaxTokens: config.NewEntryMaxTokens, ContextBudget: 2 * config.NewEntryMaxTokens,
		Local: settings.Local{Dir: dataDir},
	}
}

// localModel is a model of this machine by its name or the path of its file, nil for
// none.
func (s Setup) localModel(file, name string) (*settings.Model, error) {
	if strings.HasSuffix(name, ".gguf") {
		defaults := config.Defaults()
		f, err := config.FindFolders(s.DataFlag, file, &defaults, s.getenv)
		if err != nil {
			return nil, err
		}
		path, err := filepath.Abs(name)
		m := managed(f.Data, path)
		return &m, err
	}
	for _, c := range s.localChoices(file) {
		if c.download == nil && c.model.Name == name {
			return &c.model, nil
		}
	}
	return nil, nil
}

// take downloads a choice that is not here yet.
func (c choice) take(ctx context.Context) (settings.Model, error) {
	if c.download != nil {
		if err := c.download(ctx); err != nil {
			return c.model, err
		}
	}
	return c.model, nil
}

// offerLocal offers a model of this machine when no other was found. A download has to
// be asked for; what is here needs only Enter.
func (s Setup) offerLocal(ctx context.Context, file string) (*settings.Model, bool, error) {
	choices := s.localChoices(file)
	if len(choices) == 0 {
		return nil, false, nil
	}
	p := terminal.Ask(s.Stdin, s.Stdout)
	ask := p.Confirm
	if choices[0].download != nil {
		ask = p.Confirmed
	}
	yes, err := ask(ctx, "No model server or API key found. Use "+choices[0].title+"?")
	if err != nil || !yes {
		return nil, true, err
	}
	m, err := choices[0].take(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, true, ctx.Err()
		}
		fmt.Fprintln(s.Stdout, "Can't download the model:", s.Redact.Text(err.Error()))
		return nil, false, nil
	}
	return &m, true, nil
}
