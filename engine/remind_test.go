package engine_test

import (
	"strings"
	"testing"
)

// TestUnreadableScheduleIsNotReportedMissing: who deletes a reminder while the database
// cannot be read hears of it when it can, and not that there is none.
func TestUnreadableScheduleIsNotReportedMissing(t *testing.T) {
	h := build(t)
	h.start()
	if got := h.asks(alice, "/remind in 3 hours tea"); !strings.Contains(got, "⏰") {
		t.Fatal(got)
	}
	db := h.database()
	var name string
	if err := db.QueryRow(`SELECT name FROM jobs WHERE kind = 'reminder'`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`ALTER TABLE jobs RENAME TO jobs_away`); err != nil {
		t.Fatal(err)
	}
	h.says(alice, "/schedule delete "+name)
	h.until("it is not stored", func() bool { return strings.Contains(h.logs.String(), "reply not stored") })
	h.end()
	if _, err := db.Exec(`ALTER TABLE jobs_away RENAME TO jobs`); err != nil {
		t.Fatal(err)
	}
	h.start()
	h.sees(alice, "🗑 ")
}
