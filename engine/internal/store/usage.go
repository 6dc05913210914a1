package store

import (
	"time"

	"klawbot/engine/internal/llm"
)

// Usage is what one model call took.
type Usage struct {
	// Day is the day in the owner's time zone, "2006-01-02".
	Day  string
	Turn TurnID
	// Entry is the configured name of the model.
	Entry, Provider, Model string
	// Tokens are as the provider said, -1 for unknown. What is unknown is
	// estimated in EstimatedInput and EstimatedOutput, which are 0 otherwise.
	Tokens                          llm.Usage
	EstimatedInput, EstimatedOutput int
	// Cost is in billionths of a dollar, -1 when the model has no prices.
	Cost int64
	// Error is the kind of the failure, empty when the call succeeded.
	Error string
	At    time.Time
}

// Dollar is a dollar in the units of a stored cost.
const Dollar = 1e9

// DayUsage is what the model calls of a day took together.
type DayUsage struct {
	Calls int
	// Input and Output are what providers said, Cached the part of Input that
	// they knew already.
	Input, Output, Cached int
	// Estimated are the tokens, of both kinds, of calls whose provider did not
	// say them. They are not in Input and Output.
	Estimated int
	// Cost is in billionths of a dollar, over the calls that have prices;
	// Unpriced counts the others.
	Cost     int64
	Unpriced int
}

// Tokens is all that counts against a budget.
func (d DayUsage) Tokens() int { return d.Input + d.Output + d.Estimated }

// Add is the usage and one more call.
func (d DayUsage) Add(u Usage) DayUsage {
	d.Calls++
	d.Input += max(u.Tokens.Input, 0)
	d.Output += max(u.Tokens.Output, 0)
	d.Cached += max(u.Tokens.Cached, 0)
	d.Estimated += u.EstimatedInput + u.EstimatedOutput
	d.Cost += max(u.Cost, 0)
	if u.Cost < 0 {
		d.Unpriced++
	}
	return d
}

const (
	usageOnSQL = `SELECT count(*), coalesce(sum(max(input_tokens, 0)), 0), coalesce(sum(max(output_tokens, 0)), 0),
		coalesce(sum(max(cached_tokens, 0)), 0), coalesce(sum(estimated_input + estimated_output), 0),
		coalesce(sum(max(cost, 0)), 0), coalesce(sum(cost < 0), 0) FROM usage WHERE day = ?`
)

// AddUsage stores what a call took.
func (tx UsageTx) AddUsage(u Usage) error {
	_, err := tx.insert(`INSERT INTO usage (day, turn, entry, provider, model, input_tokens, output_tokens, cached_tokens,
			estimated_input, estimated_output, cost, error, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		u.Day, u.Turn, u.Entry, u.Provider, u.Model, u.Tokens.Input, u.Tokens.Output, u.Tokens.Cached,
		u.EstimatedInput, u.EstimatedOutput, u.Cost, u.Error, tx.orNow(u.At))
	return wrap(err, "add usage")
}

// UsageOn sums a day up.
func (tx UsageTx) UsageOn(day string) (DayUsage, error) {
	var d DayUsage
	err := tx.tx.QueryRow(usageOnSQL, day).Scan(&d.Calls, &d.Input, &d.Output, &d.Cached, &d.Estimated, &d.Cost, &d.Unpriced)
	return d, wrap(err, "sum up the usage of %s", day)
}
