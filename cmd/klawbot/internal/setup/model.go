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
func (s Setup) askModel(ctx context.Context, p *terminal.Prompter, client *http.Client) (*settings.Model, error) {
	found := probe.Detect(ctx, client, s.getenv)
	for {
		fmt.Fprintln(s.Stdout, "Choose a model:")
		for i, d := range found {
			fmt.Fprintf(s.Stdout, "  %d) %s\n", i+1, d.Title)
		}
		other, none := len(found)+1, len(found)+2
		fmt.Fprintf(s.Stdout, "  %d) Other server (URL, API key)\n  %d) Skip (commands only)\n", other, none)
		text, err := p.Ask(ctx, "Number", "1")
		if err != nil {
			return nil, err
		}
		var m settings.Model
		switch n, err := strconv.Atoi(text); {
		case err != nil || n < 1 || n > none:
			continue
		case n == none:
			return nil, nil
		case n == other:
			if m, err = s.askServer(ctx, p); err != nil {
				return nil, err
			}
		default:
			m = newModel(found[n-1].Model)
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
	if len(found) == 0 {
		return l, nil
	}
	yes, err := terminal.Ask(s.Stdin, s.Stdout).Confirm(ctx, "Found "+found[0].Title+". Use it?")
	if err != nil {
		return nil, err
	}
	a := &Answers{}
	if m := newModel(found[0].Model); yes {
		a.chosen = &m
	}
	file, err := s.newConfigFile()
	if err != nil {
		return nil, err
	}
	if _, _, err := s.writeSetup(a, file); err != nil {
		return nil, err
	}
	fmt.Fprintln(s.Stdout, a.nextStep())
	return config.Open(config.Source{File: file, Environ: s.Environ, Redact: s.Redact})
}
