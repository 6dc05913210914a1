package control

import (
	"context"
)

// Models are the configured models and what they took.
type Models struct {
	Entries []Model
	// Days are the latest days with calls, the latest first.
	Days []Day
	// BudgetUSD and BudgetTokens bound a day, 0 for no bound.
	BudgetUSD    float64
	BudgetTokens int
	// Fixed says why the default cannot be changed here, "" when it can.
	Fixed string
}

// Model is an entry of the configuration.
type Model struct {
	// Entry names it in the configuration, Name at its provider.
	Entry, Name, Provider, Type string
	Default, Small              bool
	// Fallback is its place among those that are asked when the default fails, 0 for none.
	Fallback int
	Window   int
	// State is how it is reached: "ok", "broken" with Fault, or "" while that is asked.
	State, Fault string
	Priced       bool
}

// Day is what the models took on a day.
type Day struct {
	Day           string
	Calls, Tokens int
	CostUSD       float64
	Unpriced      int
}

// ModelsDesk reads the models and chooses the default.
type ModelsDesk interface {
	ListModels(ctx context.Context) (Models, error)
	// SetDefaultModel makes an entry the default.
	SetDefaultModel(ctx context.Context, entry string) error
}

var modelsPage = control{
	pattern: "/models", file: "models",
	show: func(q *Request) (any, error) { return q.Desk.ListModels(q.HTTP.Context()) },
	acts: []act{{"/models/default", func(q *Request) (string, error) {
		return done("/models", "default"), q.Desk.SetDefaultModel(q.HTTP.Context(), q.HTTP.PostFormValue("entry"))
	}}},
}

// Most is the greatest cost of the days.
func (m Models) Most() float64 {
	most := 0.0
	for _, d := range m.Days {
		most = max(most, d.CostUSD)
	}
	return most
}
