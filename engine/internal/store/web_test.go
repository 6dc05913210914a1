package store_test

import (
	"fmt"
	"testing"
	"time"

	"klawbot/engine/internal/store"
)

// TestOldWebMessagesGo: a page keeps its newest 200 messages however old they are, and what
// is written after a pruning counts as new for a page that was open before.
func TestOldWebMessagesGo(t *testing.T) {
	s := open(t, t.TempDir())
	long := time.Now().Add(-400 * 24 * time.Hour)
	var rev int64
	write(t, s, func(tx *store.Tx) error {
		for i := range 250 {
			if _, err := tx.Web().AddMessage(store.WebMessage{ID: int64(i + 1), Key: fmt.Sprint("k", i), Text: "old", At: long}); err != nil {
				return err
			}
		}
		must(t, tx.Web().AddBrowser("hash", "Firefox"))
		var err error
		rev, err = tx.Web().LastRev()
		return err
	})
	write(t, s, func(tx *store.Tx) error {
		n, err := tx.Prune(store.AgedWeb, time.Now().Add(-365*24*time.Hour))
		if n != 50 {
			t.Errorf("pruned %d messages, want 50", n)
		}
		browsers, bErr := tx.Prune(store.AgedBrowsers, time.Now().Add(-365*24*time.Hour))
		must(t, bErr)
		if browsers != 0 {
			t.Errorf("pruned %d browsers that were seen today", browsers)
		}
		return err
	})
	write(t, s, func(tx *store.Tx) error {
		all, err := tx.Web().MessagesBefore(1<<62, 1000)
		if len(all) != 200 || all[0].ID != 250 || all[199].ID != 51 {
			t.Errorf("%d messages are left", len(all))
		}
		must(t, tx.Web().DeleteMessage(250))
		added, addErr := tx.Web().AddMessage(store.WebMessage{ID: 251, Key: "new", Text: "new"})
		must(t, addErr)
		changed, changedErr := tx.Web().MessagesAfter(rev, 10)
		must(t, changedErr)
		if len(changed) != 2 || !changed[0].Gone || changed[1].ID != 251 || changed[1].Rev != added.Rev {
			t.Errorf("after %d the page gets %+v", rev, changed)
		}
		return err
	})
	write(t, s, func(tx *store.Tx) error {
		n, err := tx.Prune(store.AgedBrowsers, time.Now().Add(time.Hour))
		if n != 1 {
			t.Errorf("pruned %d browsers that were not seen for long", n)
		}
		return err
	})
}
