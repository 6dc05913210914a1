package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine"
	"klawbot/internal/httpclient"
)

// askModel offers what was found on this machine, then any other server, until
// one answers or the person wants none.
func (a *app) askModel(ctx context.Context, p *terminal.Prompter, client *http.Client) (*engine.Model, error) {
	found := engine.Detect(ctx, client, a.getenv)
	for {
		fmt.Fprintln(a.stdout, "Which model shall answer?")
		for i, d := range found {
			fmt.Fprintf(a.stdout, "  %d) %s\n", i+1, d.Title)
		}
		other, none := len(found)+1, len(found)+2
		fmt.Fprintf(a.stdout, "  %d) another server: address and key\n  %d) none for now: commands only\n", other, none)
		text, err := p.Ask(ctx, "Number", "1")
		if err != nil {
			return nil, err
		}
		var m engine.Model
		switch n, err := strconv.Atoi(text); {
		case err != nil || n < 1 || n > none:
			continue
		case n == none:
			return nil, nil
		case n == other:
			if m, err = a.askServer(ctx, p); err != nil {
				return nil, err
			}
		default:
			m = newModel(found[n-1].Model)
		}
		err = a.tryModel(ctx, client, m)
		if err == nil {
			return &m, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		fmt.Fprintln(a.stdout, "That did not work:", a.redact.Text(err.Error()))
	}
}

func (a *app) askServer(ctx context.Context, p *terminal.Prompter) (engine.Model, error) {
	m := engine.Model{Provider: "openai", Type: "openai"}
	var err error
	for {
		if m.BaseURL, err = p.Ask(ctx, "Address, with its /v1", config.OpenAI); err != nil {
			return m, err
		}
		if err := config.CheckAddress(m.BaseURL); err == nil {
			break
		}
		fmt.Fprintln(a.stdout, "That is no address; one looks like http://127.0.0.1:11434/v1.")
	}
	if m.APIKey, err = p.AskSecret(ctx, "Key, empty for none"); err != nil {
		return m, err
	}
	a.redact.Add(m.APIKey)
	for m.Name == "" {
		if m.Name, err = p.Ask(ctx, "Name of the model", ""); err != nil {
			return m, err
		}
	}
	return newModel(m), nil
}

// tryModel makes one real call and shows what comes of it.
func (a *app) tryModel(ctx context.Context, client *http.Client, m engine.Model) error {
	fmt.Fprintf(a.stdout, "Asking %s at %s ...\n", m.Name, m.Provider)
	answer, err := engine.Probe(ctx, client, m)
	if err != nil {
		return fmt.Errorf("model %s: %w", m.Name, err)
	}
	fmt.Fprintf(a.stdout, "It answers: %.200s\n", a.redact.Text(answer))
	return nil
}

// offerModel looks for models when there is no configuration yet and offers the
// first, once: the answer is remembered as a configuration.
func (a *app) offerModel(ctx context.Context, l *config.Live) (*config.Live, error) {
	client := httpclient.New(httpclient.Options{})
	found := engine.Detect(ctx, client, a.getenv)
	if len(found) == 0 {
		return l, nil
	}
	yes, err := terminal.Ask(a.stdin, a.stdout).Confirm(ctx, "Found "+found[0].Title+". Use it?")
	if err != nil {
		return nil, err
	}
	s := &setup{}
	if m := newModel(found[0].Model); yes {
		s.chosen = &m
	}
	file, err := a.newConfigFile()
	if err != nil {
		return nil, err
	}
	if _, _, err := a.writeSetup(s, file); err != nil {
		return nil, err
	}
	fmt.Fprintln(a.stdout, s.nextStep())
	return config.Open(config.Source{File: file, Environ: a.environ, Redact: a.redact})
}
