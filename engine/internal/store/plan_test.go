package store_test

import (
	"strings"
	"testing"

	"klawbot/engine/internal/store"
)

// TestPlans keeps the hot statements from walking through tables that only
// grow. A walk through a partial index sees nothing but what waits.
func TestPlans(t *testing.T) {
	s := open(t, t.TempDir())
	read(t, s, func(tx *store.Tx) error {
		for name, statement := range store.HotStatements {
			plan, err := tx.Plan(statement)
			must(t, err)
			if len(plan) == 0 {
				t.Errorf("%s has no plan", name)
			}
			for _, step := range plan {
				for _, table := range []string{"inbox", "outbox", "messages", "m", "turns", "sessions", "s", "usage", "approvals", "grants", "jobs", "j", "runs", "r"} {
					scan := step == "SCAN "+table || strings.HasPrefix(step, "SCAN "+table+" ")
					if scan && !partial(step) {
						t.Errorf("%s: %s", name, step)
					}
				}
				if strings.Contains(step, "TEMP B-TREE") {
					t.Errorf("%s sorts: %s", name, step)
				}
			}
		}
		return nil
	})
}

func partial(step string) bool {
	for _, index := range []string{"inbox_new", "inbox_running", "outbox_waiting", "turns_running", "messages_unlogged", "approvals_pending", "jobs_on", "jobs_waiting", "jobs_spawned", "runs_open"} {
		if strings.Contains(step, "INDEX "+index) {
			return true
		}
	}
	return false
}
