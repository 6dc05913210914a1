package setup

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"klawbot/engine/settings"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine/probe"
	"klawbot/internal/httpclient"
)

// askModel offers what was found on this machine, then any other server, until
// one answers or the person wants none.
func (s Setup) askModel(ctx context.Context, p *terminal.Prompter, client *http.Client, file string) (*settings.Model, error) {
	var here, toDownload []choice
	for _, d := range probe.Detect(ctx, client, s.getenv) {
		here = append(here, choice{title: d.Title, model: newModel(d.Model)})
	}
	for _, c := range s.localChoices(file) {
		if c.download == nil {
			here = append(here, c)
		} else {
			toDownload = append(toDownload, c)
		}
	}
	other, none := len(here)+1, len(here)+2
	for {
		fmt.Fprintln(s.Stdout, "Choose a model:")
		for i, c := range here {
			fmt.Fprintf(s.Stdout, "  %d) %s\n", i+1, c.title)
		}
		fmt.Fprintf(s.Stdout, "  %d) Other server (URL, API key)\n  %d) Skip (commands only)\n", other, none)
		for i, c := range toDownload {
			fmt.Fprintf(s.Stdout, "  %d) %s\n", none+1+i, c.title)
		}
		text, err := p.Ask(ctx, "Number", "1")
		if err != nil {
			return nil, err
		}
		var m settings.Model
		switch n, err := strconv.Atoi(text); {
		case err != nil || n < 1 || n > none+len(toDownload):
			continue
		case n == none:
			return nil, nil
		case n == other:
			m, err = s.askServer(ctx, p)
			if err != nil {
				return nil, err
			}
		case n > none:
			m, err = toDownload[n-none-1].take(ctx)
			if err != nil && ctx.Err() == nil {
				fmt.Fprintln(s.Stdout, "Can't download the model:", s.Redact.Text(err.Error()))
				continue
			}
		default:
			m = here[n-1].model
		}
		err = s.tryModel(ctx, client, m)
		if err == nil {
			return &m, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		fmt.Fprintln(s.Stdout, "Can't use this model:", s.Redact.Text(err.Error()))
	}
}

func (s Setup) askServer(ctx context.Context, p *terminal.Prompter) (settings.Model, error) {
	m := settings.Model{Provider: "openai", Type: "openai"}
	var err error
	for {
		if m.BaseURL, err = p.Ask(ctx, "Base URL (ends in /v1)", config.OpenAI); err != nil {
			return m, err
		}
		if err := config.CheckAddress(m.BaseURL); err == nil {
			break
		}
		fmt.Fprintln(s.Stdout, "Invalid URL. Example: http://127.0.0.1:11434/v1")
	}
	if m.APIKey, err = p.AskSecret(ctx, "API key (Enter for none)"); err != nil {
		return m, err
	}
	s.Redact.Add(m.APIKey)
	for m.Name == "" {
		if m.Name, err = p.Ask(ctx, "Model name", ""); err != nil {
			return m, err
		}
	}
	return newModel(m), nil
}

// tryModel makes one real call and shows what comes of it.
func (s Setup) tryModel(ctx context.Context, client *http.Client, m settings.Model) error {
	fmt.Fprintf(s.Stdout, "Testing %s at %s ...\n", m.Name, m.Provider)
	answer, err := probe.Ask(ctx, client, m)
	if err != nil {
		return fmt.Errorf("model %s: %w", m.Name, err)
	}
	fmt.Fprintf(s.Stdout, "Reply: %.200s\n", s.Redact.Text(answer))
	return nil
}

// OfferModel looks for models when there is no configuration yet and offers the
// first, once: the answer is remembered as a configuration.
func (s Setup) OfferModel(ctx context.Context, l *config.Live) (*config.Live, error) {
	client := httpclient.New(httpclient.Options{})
	found := probe.Detect(ctx, client, s.getenv)
	file, err := s.newConfigFile()
	if err != nil {
		return nil, err
	}
	a := &Answers{}
	if len(found) == 0 {
		chosen, answered, err := s.offerLocal(ctx, file)
		if err != nil || !answered {
			return l, err
		}
		a.chosen = chosen
	} else {
		yes, err := terminal.Ask(s.Stdin, s.Stdout).Confirm(ctx, "Found "+found[0].Title+". Use it?")
		if err != nil {
			return nil, err
		}
		if m := newModel(found[0].Model); yes {
			a.chosen = &m
		}
	}
	if _, _, err := s.writeSetup(a, file); err != nil {
		return nil, err
	}
	fmt.Fprintln(s.Stdout, a.nextStep())
	return config.Open(config.Source{File: file, Environ: s.Environ, Redact: s.Redact})
}
