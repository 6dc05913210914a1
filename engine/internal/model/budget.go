package model

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

// spending sums up the calls of today, so that no call has to ask the database.
type spending struct {
	mu  sync.Mutex
	day string         // guarded by mu; the day that sum is of
	sum store.DayUsage // guarded by mu
}

// BudgetError says that a budget is used up.
type BudgetError struct {
	// Text is for people.
	Text string
}

func (e *BudgetError) Error() string { return e.Text }

// SpentToday sums up the calls of today.
func (c *Client) SpentToday(ctx context.Context) (store.DayUsage, error) {
	return c.spentOn(ctx, c.config.Settings().Today())
}

func (c *Client) spentOn(ctx context.Context, day string) (store.DayUsage, error) {
	c.spending.mu.Lock()
	defer c.spending.mu.Unlock()
	if c.spending.day == day {
		return c.spending.sum, nil
	}
	var sum store.DayUsage
	err := c.config.Store.Read(ctx, func(tx *store.Tx) (err error) {
		sum, err = tx.Usage().UsageOn(day)
		return err
	})
	if err != nil {
		return sum, err
	}
	c.spending.day, c.spending.sum = day, sum
	return sum, nil
}

// withinBudget refuses a call when the budget of today is used up.
func (c *Client) withinBudget(ctx context.Context, s settings.Settings) error {
	b := s.Models.Budget
	if b.PerDayTokens <= 0 && b.PerDayUSD <= 0 {
		return nil
	}
	sum, err := c.spentOn(ctx, s.Today())
	if err != nil {
		return fmt.Errorf("read today's usage: %w", err)
	}
	zone := s.Zone().String()
	switch {
	case b.PerDayTokens > 0 && sum.Tokens() >= b.PerDayTokens:
		return &BudgetError{locale.Say(s.Language, locale.BudgetTokens, sum.Tokens(), b.PerDayTokens, zone)}
	case b.PerDayUSD > 0 && float64(sum.Cost) >= b.PerDayUSD*store.Dollar:
		return &BudgetError{locale.Say(s.Language, locale.BudgetUSD, locale.Dollars(float64(sum.Cost)/store.Dollar), locale.Dollars(b.PerDayUSD), zone)}
	}
	return nil
}

// add counts one more call. A day that was not read yet is read later.
func (s *spending) add(u store.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.day == u.Day {
		s.sum = s.sum.Add(u)
	}
}

// usage is what an attempt took; one that failed before the model did anything does
// not count.
func (a *asking) usage(r llm.Request, result llm.Result, heard llm.Event, err error) (u store.Usage, counts bool) {
	u = store.Usage{
		Day: a.settings.Today(), Turn: a.Turn, Entry: a.Name, Provider: a.Model.Provider, Model: a.Model.Name,
		Tokens: result.Usage, At: time.Now(),
	}
	if err != nil {
		u.Error = ErrorType(err)
		if u.Tokens.Input <= 0 && u.Tokens.Output <= 0 && heard == (llm.Event{}) {
			return u, false
		}
	}
	if u.Tokens.Input < 0 {
		u.EstimatedInput = llm.EstimateRequest(r)
	}
	if u.Tokens.Output < 0 {
		u.EstimatedOutput = llm.Estimate(heard.Text) + llm.Estimate(heard.Thinking)
	}
	u.Cost = cost(a.Model.Prices, u)
	return u, true
}

// ErrorType is the kind of a failed model call.
func ErrorType(err error) string {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return string(e.Kind)
	}
	return "cancelled"
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
	return int64(math.Round((float64(input)*p.Input + float64(cached)*p.Cached + float64(output)*p.Output) / million * store.Dollar))
}
