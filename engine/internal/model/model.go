// Package model makes one model call: it waits for a slot, keeps the budget of the
// day, repeats what may pass, and asks a model for no more than it is able to. It knows
// which models failed lately and which others may answer. It knows neither turns nor
// chats: what a call took and what people have to be told goes back to its caller.
package model

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/localmodel"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/internal/redact"
)

// Config is what New needs. All of it is required, but for Measure and Open.
type Config struct {
	Store *store.Store
	// HTTP is the client for providers.
	HTTP *http.Client
	// Settings is asked for the settings as they are now.
	Settings func() settings.Settings
	// Redact holds the secrets that no model is told.
	Redact *redact.Set
	// Dir is the data directory.
	Dir string
	// Measure counts the calls of the provider with a name; nil counts none.
	Measure func(name string, p llm.Provider) llm.Provider
	// Open opens the file of a picture, by its sum; nil: there are none.
	Open func(sum string) (io.ReadCloser, error)
	Log  *slog.Logger
}

// Client calls models. Only one process calls models on a data directory.
type Client struct {
	config    Config
	providers providers
	slots     *Slots
	spending  spending
	known     knowledge
}

// New returns a Client. It does not connect.
func New(c Config) *Client {
	return &Client{
		config: c, slots: NewSlots(func() int { return max(c.Settings().MaxConcurrentModelCalls, 1) }),
		known: knowledge{models: map[Key]*facts{}, told: map[noticeKey]string{}},
		providers: providers{
			http: c.HTTP, log: c.Log, secrets: c.Redact, dir: c.Dir, measure: c.Measure, kept: map[string]built{},
			idle: func() time.Duration { return c.Settings().Models.Timeout },
		},
	}
}

// Close ends the models that run on this machine.
func (c *Client) Close() { c.providers.Close() }

// Local returns how the models that run on this machine do.
func (c *Client) Local() []localmodel.State { return c.providers.local() }

// Candidate is a model that may answer, by its configured name.
type Candidate struct {
	Name  string
	Model settings.Model
}

// Key is what something is remembered of a model for: a new key or address starts without memory.
type Key struct{ baseURL, apiKey, name string }

// Key is the key of the candidate.
func (c Candidate) Key() Key { return Key{c.Model.BaseURL, c.Model.APIKey, c.Model.Name} }

// Call is a question to one model.
type Call struct {
	Candidate
	Request llm.Request
	// Turn is what the usage is noted for.
	Turn store.TurnID
	// Person says that a person waits: people come before jobs.
	Person bool
	// NoPictures says that the model may not get the pictures of the request.
	NoPictures bool
	// Within refuses an attempt, nil none.
	Within func(context.Context) error
	// OnText gets the text of the answer as far as it is known, again from its
	// beginning when the call is repeated. OnLoading is told that the server loads its
	// model, and OnReading which share of the request it has read, which take long. All
	// may be nil.
	OnText func(text string)
	// OnBegun is told when the model thinks or says something. It may be nil.
	OnBegun   func()
	OnLoading func()
	OnReading func(share float64)
	Log       *slog.Logger
}

// Answer is what came of a Call. Usage and Notices count for a call that failed, too.
type Answer struct {
	Result llm.Result
	// Sent is the request as the model got it last.
	Sent  llm.Request
	Usage []store.Usage
	// Notices are what the person is to be told, once in a session: see News.
	Notices []Notice
	// Unseen says that words stood for the pictures of the request.
	Unseen bool
}

// Ask asks a model, with retries, for no more than it is able to.
func (c *Client) Ask(ctx context.Context, call Call) (Answer, error) {
	provider, err := c.providers.get(call.Model)
	if err != nil {
		return Answer{}, fmt.Errorf("model %s: %w", call.Name, err)
	}
	a := asking{Call: call, client: c, settings: c.config.Settings(), provider: provider}
	a.answer.Result, err = a.seen(ctx, call.Request)
	if a.answer.Result.InputCut {
		a.tell(noticeCut, call.Name, locale.InputCut, call.Name)
	}
	return a.answer, err
}

// asking is a Call at work.
type asking struct {
	Call
	client   *Client
	settings settings.Settings
	provider llm.Provider
	answer   Answer
}

func (a *asking) tell(kind noticeKind, what string, p locale.Phrase, args ...any) {
	a.answer.Notices = append(a.answer.Notices, Notice{kind, what, locale.Say(a.settings.Language, p, args...)})
}

// able asks a model for no more than it is able to: one that refused tools is asked
// without any, and the person is told.
func (a *asking) able(ctx context.Context, r llm.Request) (llm.Result, error) {
	if !a.client.known.toolless(a.Key(), false) {
		result, err := a.readable(ctx, r)
		if len(r.Tools) == 0 || !refusesFeature(err, "tools") {
			return result, err
		}
		a.Log.Warn("model has no tools", "model", a.Name, "err", err)
		a.client.known.toolless(a.Key(), true)
	}
	result, err := a.repeated(ctx, llm.WithoutTools(r))
	if err == nil {
		a.tell(noticeTools, a.Name, locale.NoTools, a.Name)
	}
	return result, err
}

// repeated is one model call with its retries. Each attempt takes a slot of its own,
// so that a wait between two attempts blocks no other call.
func (a *asking) repeated(ctx context.Context, r llm.Request) (llm.Result, error) {
	policy := llm.Policy{
		Retries: a.settings.Models.Retries, Restart: true,
		Notice: func(attempt int, err *llm.Error, wait time.Duration) {
			a.Log.Warn("model call repeated", "attempt", attempt, "wait_ms", wait.Milliseconds(), "err", err)
			if err.Loading && a.OnLoading != nil {
				a.OnLoading()
			}
		},
	}
	return llm.Retry(ctx, policy, func(ctx context.Context) (llm.Result, error) { return a.attempt(ctx, r, a.Within, a.OnText) })
}

// attempt sends a request once, when there is a slot and the budgets have something
// left, and notes what it took.
func (a *asking) attempt(ctx context.Context, r llm.Request, within func(context.Context) error, onText func(string)) (llm.Result, error) {
	release, err := a.client.slots.Take(ctx, a.Person)
	if err != nil {
		return llm.Result{}, err
	}
	defer release()
	if err := a.client.withinBudget(ctx, a.settings); err != nil {
		return llm.Result{}, err
	}
	if within != nil {
		if err := within(ctx); err != nil {
			return llm.Result{}, err
		}
	}
	r.Open = a.client.config.Open
	a.answer.Sent = r
	var text, thinking strings.Builder // joined once, however many pieces come
	if onText != nil {
		onText("") // the text of a broken attempt is dropped
	}
	result, err := a.provider.Stream(ctx, r, func(ev llm.Event) {
		if ev.Reading > 0 {
			if a.OnReading != nil {
				a.OnReading(ev.Reading)
			}
			return
		}
		if ev.Unsaid {
			thinking.WriteString(text.String())
			text.Reset()
		}
		if a.OnBegun != nil && ev != (llm.Event{}) {
			a.OnBegun()
		}
		text.WriteString(ev.Text)
		thinking.WriteString(ev.Thinking)
		if onText != nil {
			onText(text.String())
		}
	})
	heard := llm.Event{Text: text.String(), Thinking: thinking.String()}
	if u, counts := a.usage(r, result, heard, err); counts {
		a.answer.Usage = append(a.answer.Usage, u)
		a.client.spending.add(u)
	}
	return result, err
}
