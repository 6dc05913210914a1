package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"klawbot/engine/settings"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/configedit"
	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine/probe"
	"klawbot/gateway/telegram"
	"klawbot/internal/httpclient"
)

// askModel offers what was found on this machine, then any other server, until
// one answers or the person wants none.
func (s Setup) askModel(ctx context.Context, p *terminal.Prompter, client *http.Client, file string, known ...probe.Detected) (*settings.Model, error) {
	var here, toDownload []choice
	for _, d := range append(known, probe.Detect(ctx, client, s.getenv)...) {
		m := newModel(d.Model)
		if !slices.ContainsFunc(here, func(c choice) bool { return c.model.BaseURL == m.BaseURL && c.model.Name == m.Name }) {
			here = append(here, choice{title: d.Title, model: m})
		}
	}
	for _, c := range s.localChoices(file) {
		if c.download == nil {
			here = append(here, c)
		} else {
			toDownload = append(toDownload, c)
		}
	}
	other, none := len(here)+1, len(here)+2
	usual := 1
	if len(here) == 0 && len(toDownload) > 0 {
		usual = none // a download of gigabytes has to be chosen
	}
	for {
		fmt.Fprintln(s.Stdout, "Choose a model:")
		for i, c := range here {
			fmt.Fprintf(s.Stdout, "  %d) %s\n", i+1, c.title)
		}
		fmt.Fprintf(s.Stdout, "  %d) Other server (URL, API key)\n  %d) Skip (commands only)\n", other, none)
		for i, c := range toDownload {
			s.say("  %d) %s", none+1+i, c.title)
		}
		text, err := p.Ask(ctx, "Number", strconv.Itoa(usual))
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
		default:
			all := append(slices.Clone(here), make([]choice, 2)...) // the two between them
			m, err = append(all, toDownload...)[n-1].take(ctx)
			if err != nil && ctx.Err() == nil {
				fmt.Fprintln(s.Stdout, "Can't download the model:", s.Redact.Text(err.Error()))
				usual = 1
				continue
			}
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
	m := settings.Model{Type: "openai"}
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
	m.Provider = providerName(m.BaseURL)
	if m.APIKey, err = p.AskSecret(ctx, "API key (Enter for none)"); err != nil {
		return m, err
	}
	m.APIKey = keys.TrimSecret(m.APIKey)
	s.Redact.Add(m.APIKey)
	for m.Name == "" {
		if m.Name, err = p.Ask(ctx, "Model name", ""); err != nil {
			return m, err
		}
	}
	return newModel(m), nil
}

// providerName names a provider after its server.
func providerName(address string) string {
	u, err := url.Parse(address)
	if err != nil || address == config.OpenAI {
		return "openai"
	}
	name := strings.TrimPrefix(strings.TrimPrefix(u.Hostname(), "api."), "www.")
	switch ip := net.ParseIP(name); {
	case ip != nil && ip.IsLoopback():
		name = "localhost"
	case ip == nil:
		name, _, _ = strings.Cut(name, ".")
	}
	name = strings.Trim(notInName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if port := u.Port(); port != "" {
		name += "-" + port
	}
	return cmp.Or(name, "server")
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// tryModel makes one real call and shows what comes of it.
func (s Setup) tryModel(ctx context.Context, client *http.Client, m settings.Model) error {
	fmt.Fprintf(s.Stdout, "Testing %s at %s ...\n", m.Name, m.Provider)
	answer, speed, err := probe.Measure(ctx, client, m)
	if err != nil {
		return fmt.Errorf("model %s: %w", m.Name, err)
	}
	fmt.Fprintf(s.Stdout, "Reply: %.200s\n", s.Redact.Text(answer))
	fmt.Fprint(s.Stdout, speedText(speed))
	return nil
}

// The first answer of a model of this machine begins when it has read about firstRequest
// tokens, and is about firstAnswer tokens long.
const firstRequest, firstAnswer = 1500, 30

// speedText says how fast a model of this machine is, and what that means.
func speedText(s probe.Speed) string {
	if s.Reads <= 0 || s.Writes <= 0 {
		return ""
	}
	return fmt.Sprintf("It reads %.0f tokens/s and writes %.0f: first answer in about %.0f s, later ones are faster.\n",
		s.Reads, s.Writes, math.Ceil(firstRequest/s.Reads+firstAnswer/s.Writes))
}

// ChangeModel changes the default model of a configuration, and nothing else of it: to
// the named entry, a model that runs here, the one of the flags, or what a person chooses.
func (s Setup) ChangeModel(ctx context.Context, l *config.Live, name string, a *Answers) error {
	if l.Source.File == "" {
		return s.firstModel(ctx, l, name, a)
	}
	return s.changeModel(ctx, terminal.Ask(s.Stdin, s.Stdout), l, name, a)
}

func (s Setup) changeModel(ctx context.Context, p *terminal.Prompter, l *config.Live, name string, a *Answers) error {
	client := httpclient.New(httpclient.Options{Proxy: true})
	chosen, err := s.namedModel(ctx, client, l, name, a)
	if err == nil && chosen == nil && name == "" {
		if chosen, err = s.askModel(ctx, p, client, l.Source.File, entriesOf(l)...); err != nil {
			return err
		}
		if chosen == nil {
			if err := configedit.SetDefault(l, ""); err != nil {
				return err
			}
			_, err := fmt.Fprintln(s.Stdout, "No model: commands only.")
			return err
		}
	} else if err == nil {
		err = s.tryModel(ctx, client, *chosen)
	}
	if err != nil {
		return err
	}
	for entry, m := range l.Config().EngineModels().Entries {
		if configedit.SameModel(m, *chosen) {
			err = configedit.SetDefault(l, entry)
			return errors.Join(err, s.changed(err, "Default model: "+entry))
		}
	}
	name, err = configedit.AddModel(l, *chosen)
	return errors.Join(err, s.changed(err, "Default model: "+name))
}

// firstModel is ChangeModel where there is no configuration yet: it writes one.
func (s Setup) firstModel(ctx context.Context, l *config.Live, name string, a *Answers) error {
	file, err := s.newConfigFile()
	if err != nil {
		return err
	}
	client := httpclient.New(httpclient.Options{Proxy: true})
	a.chosen, err = s.namedModel(ctx, client, l, name, a)
	switch {
	case err != nil:
		return err
	case a.chosen != nil:
		err = s.tryModel(ctx, client, *a.chosen)
	default:
		a.chosen, err = s.askModel(ctx, terminal.Ask(s.Stdin, s.Stdout), client, file)
	}
	if err != nil {
		return err
	}
	if _, _, err = s.writeSetup(a, file); err == nil {
		_, err = fmt.Fprintln(s.Stdout, s.Advice("Next: klawbot chat"))
	}
	return err
}

// changed says what has changed, unless it failed.
func (s Setup) changed(err error, text string) error {
	if err != nil {
		return nil
	}
	_, err = fmt.Fprintln(s.Stdout, text+". A running bot uses it within a second.")
	return err
}

// namedModel is the model of a name or of the flags, nil when neither is given.
func (s Setup) namedModel(ctx context.Context, client *http.Client, l *config.Live, name string, a *Answers) (*settings.Model, error) {
	if err := a.CheckModel(); err != nil {
		return nil, err
	}
	if a.Model != "" {
		m := a.flagModel(s.getenv)
		s.Redact.Add(m.APIKey)
		return &m, nil
	}
	if name == "" {
		return nil, nil
	}
	if m, ok := l.Config().EngineModels().Entries[name]; ok {
		return &m, nil
	}
	if m, err := s.localModel(l.Source.File, name); m != nil || err != nil {
		return m, err
	}
	for _, d := range probe.Detect(ctx, client, s.getenv) {
		if m := newModel(d.Model); m.Name == name {
			return &m, nil
		}
	}
	known := slices.Sorted(maps.Keys(l.Config().EngineModels().Entries))
	if len(known) > 0 {
		name += "; configured: " + strings.Join(known, ", ")
	}
	return nil, usage.Errorf("no model %s. To choose from a list: klawbot model. To add one: klawbot model --model NAME --base-url URL", name)
}

// entriesOf are configured models to choose from, the default first. The one that
// stands in no file is none of them unless it is in use.
func entriesOf(l *config.Live) (all []probe.Detected) {
	known := l.Config().EngineModels()
	for _, name := range slices.Sorted(maps.Keys(known.Entries)) {
		m := known.Entries[name]
		d := probe.Detected{Model: m, Title: fmt.Sprintf("%s: %s at %s", name, m.Name, m.Provider)}
		switch {
		case name == known.Default:
			d.Title += " (now)"
			all = append([]probe.Detected{d}, all...)
		case l.Given("models.entries."+name) != "":
			all = append(all, d)
		}
	}
	return all
}

// ChangeToken changes the token of the bot, and nothing else of a configuration.
func (s Setup) ChangeToken(ctx context.Context, l *config.Live, a *Answers, off bool) error {
	if l.Source.File == "" {
		return configedit.ErrNoFile
	}
	now := l.Config().Channels.Telegram.Token
	err := s.changeToken(ctx, terminal.Ask(s.Stdin, s.Stdout), l, a, off)
	if err == nil && a.Token != now {
		_, err = fmt.Fprintln(s.Stdout, s.Advice("Written. If the bot runs, restart it. "+a.nextStep()))
	}
	return err
}

// changeToken sets the token that was given, or asks for one. A bot without an owner
// learns who that is.
func (s Setup) changeToken(ctx context.Context, p *terminal.Prompter, l *config.Live, a *Answers, off bool) (err error) {
	t := l.Config().Channels.Telegram
	if a.APIURL != "" && a.APIURL != t.APIURL {
		err = configedit.SetAPIURL(l, a.APIURL)
	}
	a.APIURL, a.Token = cmp.Or(a.APIURL, t.APIURL), keys.TrimSecret(a.Token)
	asked := !off && !a.Yes && a.Token == ""
	ownerless := len(t.OwnerIDs)+len(a.owners) == 0
	var bot telegram.Bot
	if err == nil && asked {
		question := askForToken
		if t.Token != "" {
			question = "New bot token from @BotFather, or Enter to keep the bot"
		}
		bot, err = s.askToken(ctx, p, a, question)
		a.Token = cmp.Or(a.Token, t.Token)
	}
	if err == nil && bot.Username == "" && a.Token != "" && !off && (!asked || ownerless) {
		s.Redact.Add(a.Token)
		bot, err = s.tryToken(ctx, a)
	}
	if off {
		a.Token = ""
	}
	if err == nil && a.Token != t.Token {
		err = configedit.SetToken(l, a.Token)
	}
	a.allowed = config.Unique(slices.Concat(t.AllowedChatIDs, a.allowed))
	if err == nil && a.Token != "" && ownerless && !a.Yes && (asked || p.AtTerminal()) {
		err = s.askOwner(ctx, p, a, httpclient.New(httpclient.Options{Proxy: true}), bot)
	}
	if err == nil && len(a.owners)+len(a.Allow) > 0 {
		_, err = configedit.Allowed(l, a.allowed, nil)
	}
	for _, id := range a.owners {
		if err == nil {
			err = configedit.AddOwner(l, id)
		}
	}
	return err
}

// Found names a model that could be used, empty for none.
func (s Setup) Found(ctx context.Context) string {
	for _, d := range probe.Detect(ctx, httpclient.New(httpclient.Options{}), s.getenv) {
		return d.Title
	}
	return ""
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
	s.Stdout = io.Discard // the chat begins with few lines; klawbot doctor says where the file is
	if _, _, err := s.writeSetup(a, file); err != nil {
		return nil, err
	}
	return config.Open(config.Source{File: file, Environ: s.Environ, Redact: s.Redact})
}
