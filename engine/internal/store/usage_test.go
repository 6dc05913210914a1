package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
)

func TestUsage(t *testing.T) {
	s := open(t, t.TempDir())
	long := time.Now().Add(-100 * 24 * time.Hour)
	rows := []store.Usage{
		{Day: "2026-11-28", Entry: "main", Tokens: llm.Usage{Input: 100, Output: 20, Cached: 60}, Cost: 1500},
		{Day: "2026-11-28", Entry: "main", Tokens: llm.NoUsage, EstimatedInput: 40, EstimatedOutput: 5, Cost: -1, Error: "network"},
		{Day: "2026-11-28", Entry: "main", Tokens: llm.Usage{Input: 7, Output: -1, Cached: -1}, EstimatedOutput: 3, Cost: 0},
		{Day: "2026-08-20", Entry: "old", Tokens: llm.Usage{Input: 9, Output: 9, Cached: 0}, Cost: 9, At: long},
	}
	write(t, s, func(tx *store.Tx) error {
		for _, u := range rows {
			must(t, tx.Usage().AddUsage(u))
		}
		return nil
	})
	want := store.DayUsage{Calls: 3, Input: 107, Output: 20, Cached: 60, Estimated: 48, Cost: 1500, Unpriced: 1}
	var added store.DayUsage
	for _, u := range rows[:3] {
		added = added.Add(u)
	}
	read(t, s, func(tx *store.Tx) error {
		got, err := tx.Usage().UsageOn("2026-11-28")
		if diff := cmp.Diff(want, got); diff != "" || got.Tokens() != 175 {
			t.Error(diff, got.Tokens())
		}
		if diff := cmp.Diff(want, added); diff != "" {
			t.Errorf("added up one by one: %s", diff)
		}
		none, noneErr := tx.Usage().UsageOn("2026-11-29")
		must(t, noneErr)
		if none != (store.DayUsage{}) {
			t.Errorf("a day without calls: %+v", none)
		}
		return err
	})
	write(t, s, func(tx *store.Tx) error {
		n, err := tx.Prune(store.AgedUsage, time.Now().Add(-90*24*time.Hour))
		if n != 1 {
			t.Errorf("pruned %d rows, want the old one", n)
		}
		return err
	})
	if n := count(t, s, "usage"); n != 3 {
		t.Errorf("%d rows are left", n)
	}
}
