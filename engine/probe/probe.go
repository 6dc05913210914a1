// Package probe finds model servers, and asks a model whether it works. It keeps nothing.
package probe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/localmodel"
	"klawbot/engine/internal/model"
	"klawbot/engine/settings"
)

// modelNamesShown bounds the names in an error about an unknown model.
const modelNamesShown = 5

// Probe asks a model for one real answer and returns it. An error is one line
// for the owner that says what to do; errors.Is finds ctx's.
func Ask(ctx context.Context, client *http.Client, m settings.Model) (string, error) {
	answer, _, err := Measure(ctx, client, m)
	return answer, err
}

// Speed is how many tokens a second a model of this machine reads and writes.
type Speed = localmodel.Speed

// Measure is Ask, and measures how fast a model of this machine is. The speed is zero
// where it is unknown.
func Measure(ctx context.Context, client *http.Client, m settings.Model) (answer string, speed Speed, err error) {
	provider, err := model.NewProvider(m, client, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", speed, err
	}
	defer closing(provider)
	request := llm.Request{Model: m.Name, MaxTokens: m.MaxTokens, Messages: []llm.Message{llm.Text(llm.RoleUser, "Say OK.")}}
	ask := func(ctx context.Context) (llm.Result, error) {
		return provider.Stream(ctx, request, func(llm.Event) {})
	}
	var result llm.Result
	if m.Type == model.Managed {
		result, err = llm.Retry(ctx, llm.Policy{}, ask) // waits while it loads
	} else {
		result, err = ask(ctx)
	}
	if err != nil {
		return "", speed, Explain(m, err)
	}
	if answer = strings.TrimSpace(result.Message.PlainText()); answer == "" {
		return "", speed, errors.New("empty reply from the model; try again or choose another model")
	}
	if local, ok := provider.(*localmodel.Model); ok {
		speed, _ = local.Speed(ctx) // it answers; how fast is only good to know
	}
	return answer, speed, nil
}

// CheckModel asks the endpoint of a model, without a completion, whether it is
// there, takes the key and lists the model. Errors are as of Probe.
func Check(ctx context.Context, client *http.Client, m settings.Model) error {
	provider, err := model.NewProvider(m, client, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer closing(provider)
	lister, ok := provider.(interface {
		Models(context.Context) ([]string, error)
	})
	if !ok {
		return Explain(m, provider.Check(ctx))
	}
	names, err := lister.Models(ctx)
	if err != nil {
		return Explain(m, err)
	}
	if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return sameModel(name, m.Name) }) {
		return nil
	}
	shown := strings.Join(names[:min(len(names), modelNamesShown)], ", ")
	if more := len(names) - modelNamesShown; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("it does not list the model %s; it has %s", m.Name, shown)
}

// closing ends a model that ran on this machine for a question.
func closing(provider llm.Provider) {
	if c, ok := provider.(interface{ Close() }); ok {
		c.Close()
	}
}

// dated is the day of a model's version behind its name.
var dated = regexp.MustCompile(`-20\d{6}$`)

// sameModel compares names as servers list them: some put "models/" before and
// some ":latest" or a day behind what they also take without.
func sameModel(listed, name string) bool {
	trim := func(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, "models/"), ":latest") }
	listed, name = trim(listed), trim(name)
	return listed == name || dated.ReplaceAllString(listed, "") == name
}

// modelError tells the owner in one line what is wrong with a model.
type modelError struct {
	text string
	err  error
}

func (e *modelError) Error() string { return e.text }

func (e *modelError) Unwrap() error { return e.err }

// Explain turns the error of a model call into a line for the owner.
func Explain(m settings.Model, err error) error {
	var e *llm.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	text := advice(e.Kind, m)
	switch {
	case e.Err != nil:
		text += " (" + e.Err.Error() + ")"
	case e.Status != 0 && e.Message != "":
		text += " (it says: " + e.Message + ")"
	}
	return &modelError{text, err}
}

// advice says what an error means and what to do, by its kind.
func advice(kind llm.ErrorKind, m settings.Model) string {
	switch kind {
	case llm.Auth:
		return fmt.Sprintf("the key is refused; check models.providers.%s.apiKey", m.Provider)
	case llm.Quota:
		return "the account has no money or quota left; top it up at the provider, or choose another model"
	case llm.Local:
		return "the model on this machine does not run"
	case llm.NotFound:
		return fmt.Sprintf("it knows no model %s, or the address is wrong; check the name%s", m.Name, ending(m))
	case llm.Network:
		return fmt.Sprintf("%s does not answer; is the server running, and is baseURL right?", address(m))
	case llm.Stall:
		return "the model was silent for too long; try again, or choose a smaller model"
	case llm.RateLimit, llm.Overloaded, llm.Truncated:
		return "the model is busy or limited at the moment; try again in a minute"
	case llm.ContextOverflow:
		return "the model's context window is too small; give it a larger one at its server, or lower contextBudget"
	case llm.Unsupported:
		return "the model does not support what was asked; choose another model"
	}
	return "the request is refused; check the model's name" + ending(m)
}

// ending reminds of what is often missing at the end of an address.
func ending(m settings.Model) string {
	if m.Type == "openai" {
		return ", and that baseURL ends in /v1"
	}
	return ""
}

// address is where a model is, without what may be secret in a URL.
func address(m settings.Model) string {
	u, err := url.Parse(m.BaseURL)
	if err != nil || u.Host == "" {
		return m.Provider
	}
	return u.Scheme + "://" + u.Host + u.Path
}
