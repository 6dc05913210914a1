package desk

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"klawbot/engine/health"
	"klawbot/engine/internal/store"
	"klawbot/gateway/web/control"
)

// daysShown is for how many days the page shows what the models took.
const daysShown = 14

// ListModels lists the entries, how they are reached, and what each day took.
func (d *Desk) ListModels(ctx context.Context) (m control.Models, err error) {
	s := d.Settings()
	reached := d.reached.now(ctx)
	m.BudgetUSD, m.BudgetTokens = s.Models.Budget.PerDayUSD, s.Models.Budget.PerDayTokens
	if d.Configuration == nil {
		m.Fixed = "refused.file"
	} else if err := d.Configuration.Settable("models.default"); err != nil {
		m.Fixed = err.Error()
	}
	for _, name := range slices.Sorted(maps.Keys(s.Models.Entries)) {
		e := s.Models.Entries[name]
		one := control.Model{
			Entry: name, Name: e.Name, Provider: e.Provider, Type: e.Type, Default: name == s.Models.Default, Small: name == s.Models.Small,
			Fallback: slices.Index(s.Models.Fallback, name) + 1, Window: e.Window(), Priced: e.Prices != nil,
		}
		if fault, known := reached[name]; known && fault == "" {
			one.State = "ok"
		} else if known {
			one.State, one.Fault = "broken", d.mask(fault)
		}
		m.Entries = append(m.Entries, one)
	}
	err = d.Store.Read(ctx, func(tx *store.Tx) error {
		m.Days = nil
		for i := range daysShown {
			day := time.Now().In(d.Zone()).AddDate(0, 0, -i).Format(time.DateOnly)
			sum, err := tx.Usage().UsageOn(day)
			if err != nil {
				return err
			}
			if sum.Calls > 0 {
				u := health.UsageOf(day, sum)
				m.Days = append(m.Days, control.Day{Day: day, Calls: sum.Calls, Tokens: sum.Tokens(), CostUSD: u.CostUSD, Unpriced: sum.Unpriced})
			}
		}
		return nil
	})
	return m, err
}

// reach asks the servers of all entries whether they know them: "" is yes, else why not.
func reach(ctx context.Context, d *Desk) map[string]string {
	var mu sync.Mutex
	var asking sync.WaitGroup
	all := map[string]string{}
	for name, m := range d.Settings().Models.Entries {
		asking.Go(func() {
			err := d.Reach(ctx, m)
			mu.Lock()
			defer mu.Unlock()
			if all[name] = ""; err != nil {
				all[name] = err.Error()
			}
		})
	}
	asking.Wait()
	return all
}

// SetDefaultModel makes an entry the default, as the tool config does.
func (d *Desk) SetDefaultModel(ctx context.Context, entry string) error {
	if _, known := d.Settings().Models.Entries[entry]; !known {
		return control.ErrNotFound
	}
	return d.SetSetting(ctx, "models.default", entry)
}
