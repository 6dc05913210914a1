package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
)

// UsageToday is what the models took today. The names of its fields follow the
// attributes gen_ai.usage.* of OpenTelemetry.
type UsageToday struct {
	// Day is in the bot's time zone, "2006-01-02".
	Day   string `json:"day"`
	Calls int    `json:"calls"`
	// InputTokens and OutputTokens are what providers said. The cached are a
	// part of the input.
	InputTokens          int `json:"input_tokens"`
	OutputTokens         int `json:"output_tokens"`
	CacheReadInputTokens int `json:"cache_read_input_tokens"`
	// EstimatedTokens are our guess for what providers did not say.
	EstimatedTokens int `json:"estimated_tokens"`
	// CostUSD is the cost of the calls that have prices; UnpricedCalls counts
	// the others.
	CostUSD       float64 `json:"cost_usd"`
	UnpricedCalls int     `json:"unpriced_calls"`
}

// usdUnits are the units of a stored cost in a dollar.
const usdUnits = store.CostUnits

// usageKept is how long single calls are kept.
const usageKept = 90 * 24 * time.Hour

// spending sums up the calls of today, so that no call has to ask the database.
// Only one process calls models on a data folder.
type spending struct {
	mu  sync.Mutex
	day string         // guarded by mu; the day that sum is of
	sum store.DayUsage // guarded by mu
}

// budgetError says that a budget is used up. Its text is for people.
type budgetError struct{ text string }

func (e *budgetError) Error() string { return e.text }

// spentToday sums up the calls of today.
func (e *Engine) spentToday(ctx context.Context, s settings.Settings) (store.DayUsage, error) {
	day := s.Today()
	e.spending.mu.Lock()
	defer e.spending.mu.Unlock()
	if e.spending.day == day {
		return e.spending.sum, nil
	}
	var sum store.DayUsage
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		sum, err = tx.Usage().UsageOn(day)
		return err
	})
	if err != nil {
		return sum, err
	}
	e.spending.day, e.spending.sum = day, sum
	return sum, nil
}

// withinBudget refuses a call when the budget of today is used up.
func (e *Engine) withinBudget(ctx context.Context, s settings.Settings) error {
	b := s.Models.Budget
	if b.PerDayTokens <= 0 && b.PerDayUSD <= 0 {
		return nil
	}
	sum, err := e.spentToday(ctx, s)
	if err != nil {
		return fmt.Errorf("read today's usage: %w", err)
	}
	zone := s.Zone().String()
	switch {
	case b.PerDayTokens > 0 && sum.Tokens() >= b.PerDayTokens:
		return &budgetError{locale.Say(s.Language, locale.BudgetTokens, sum.Tokens(), b.PerDayTokens, zone)}
	case b.PerDayUSD > 0 && float64(sum.Cost) >= b.PerDayUSD*usdUnits:
		return &budgetError{locale.Say(s.Language, locale.BudgetUSD, dollars(float64(sum.Cost)/usdUnits), dollars(b.PerDayUSD), zone)}
	}
	return nil
}

// withinRun refuses a model call of a run that has taken what it may. What its
// subagents took counts as its own.
func (t *turn) withinRun(ctx context.Context) error {
	if t.job == nil || t.job.left <= 0 && t.job.most <= 0 {
		return nil
	}
	spent := t.row.InputTokens + t.row.OutputTokens
	if t.job.left > 0 && spent >= t.job.left {
		return &budgetError{locale.Say(t.settings.Language, locale.HeartbeatSpent)}
	}
	if t.job.most <= 0 {
		return nil
	}
	err := t.e.store.Read(ctx, func(tx *store.Tx) error {
		n, err := tx.Runs().SpawnedTokens(t.row.ID)
		spent += n
		return err
	})
	if err != nil {
		return err
	}
	if spent >= t.job.most {
		return &budgetError{locale.Say(t.settings.Language, locale.RunSpent, spent, t.job.most)}
	}
	return nil
}

// count notes what a call took. A call that failed before the model did anything
// took nothing. It is stored with what the turn stores next.
func (t *turn) count(c candidate, r llm.Request, result llm.Result, heard llm.Event, err error) {
	if err == nil && !result.InputCut && result.Usage.Input > 0 {
		t.e.estimates.learn(c.place(), t.e.estimates.request(r), result.Usage.Input)
	}
	u, counts := usageOf(t.settings, t.row.ID, c, r, result, heard, err)
	if !counts {
		return
	}
	t.spent = append(t.spent, u)
	t.e.spending.add(u)
}

// add sums up one more call. A day that was not summed up yet is read later.
func (s *spending) add(u store.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.day == u.Day {
		s.sum = s.sum.Add(u)
	}
}

// cost is what a call costs in stored units, -1 without prices.
func cost(p *settings.Prices, u store.Usage) int64 {
	if p == nil {
		return -1
	}
	cached := max(u.Tokens.Cached, 0)
	input := max(max(u.Tokens.Input, 0)+u.EstimatedInput-cached, 0)
	output := max(u.Tokens.Output, 0) + u.EstimatedOutput
	const million = 1e6
	return int64(math.Round((float64(input)*p.Input + float64(cached)*p.Cached + float64(output)*p.Output) / million * usdUnits))
}

// addSpent stores what was counted since the last time.
func (t *turn) addSpent(tx *store.Tx) error {
	for _, u := range t.spent {
		if err := tx.Usage().AddUsage(u); err != nil {
			return err
		}
	}
	return nil
}

// keepSpent stores what a parked turn took; it has nothing else to store.
func (t *turn) keepSpent(ctx context.Context) {
	if len(t.spent) == 0 {
		return
	}
	if err := t.e.store.Write(context.WithoutCancel(ctx), t.addSpent); err != nil {
		t.log.Error("usage not stored", "err", err)
		return
	}
	t.spent = nil
}

// usageToday is the usage for the status.
func (e *Engine) usageToday(ctx context.Context) (UsageToday, error) {
	s := e.settings()
	sum, err := e.spentToday(ctx, s)
	if err != nil && ctx.Err() != nil {
		return UsageToday{}, errors.Join(err, ctx.Err())
	}
	return UsageToday{
		Day: s.Today(), Calls: sum.Calls, InputTokens: sum.Input, OutputTokens: sum.Output, CacheReadInputTokens: sum.Cached,
		EstimatedTokens: sum.Estimated, CostUSD: float64(sum.Cost) / usdUnits, UnpricedCalls: sum.Unpriced,
	}, nil
}

// dollars is money for people: cents, and parts of them while it is little.
func dollars(usd float64) string {
	if usd >= 1 || usd == 0 {
		return fmt.Sprintf("$%.2f", usd)
	}
	return fmt.Sprintf("$%.4f", usd)
}

// Text is the usage as a line for people.
func (u UsageToday) Text(language string) string {
	text := locale.Say(language, locale.Usage, u.Calls, u.InputTokens, u.OutputTokens)
	if u.EstimatedTokens > 0 {
		text += locale.Say(language, locale.UsageEstimated, u.EstimatedTokens)
	}
	switch {
	case u.Calls == 0:
	case u.UnpricedCalls == 0:
		text += ", " + dollars(u.CostUSD)
	case u.UnpricedCalls < u.Calls:
		text += locale.Say(language, locale.UsagePartly, dollars(u.CostUSD))
	}
	return text
}
