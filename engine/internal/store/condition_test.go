package store_test

import (
	"fmt"
	"strings"
	"testing"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/condition"
)

func TestCondition(t *testing.T) {
	s := open(t, t.TempDir())
	if c := s.Condition(); c.State != condition.OK {
		t.Errorf("a new store is %+v", c)
	}
	must(t, s.Probe(t.Context()))
	// A limit below the present size is what a full disk looks like.
	write(t, s, func(tx *store.Tx) error { return tx.Exec("PRAGMA max_page_count = 1") })
	err := s.Write(t.Context(), func(tx *store.Tx) error {
		return tx.Exec("INSERT INTO meta VALUES ('long', ?)", strings.Repeat("x", 1<<20))
	})
	if !store.Unwritable(err) {
		t.Fatalf("the write ended with %v", err)
	}
	if c := s.Condition(); c.State != condition.Full || !strings.Contains(c.Fault, "disk is full") || c.Since.IsZero() {
		t.Errorf("the full store is %+v", c)
	}
	_, err = s.DataVersion(t.Context())
	must(t, err)
	if c := s.Condition(); c.State != condition.Full {
		t.Errorf("a write that wrote nothing made it %+v", c)
	}
	write(t, s, func(tx *store.Tx) error { return tx.Exec("PRAGMA max_page_count = 1000000") })
	must(t, s.Probe(t.Context()))
	if c := s.Condition(); c.State != condition.OK || c.Fault != "" {
		t.Errorf("after a write it is %+v", c)
	}
	if store.Unwritable(fmt.Errorf("x: %w", store.ErrNotFound)) {
		t.Error("a missing row counts as a disk error")
	}
}
