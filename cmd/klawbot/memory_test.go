package main

import (
	"strings"
	"testing"
	"time"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/engine/data"
)

// TestQueriesNameTheLine wants the number that an editor shows, also behind
// blank lines.
func TestQueriesNameTheLine(t *testing.T) {
	for _, wrong := range []string{"no object", `{"query": "` + strings.Repeat("x", maxQueryLine) + `"}`} {
		a := newApp(nil, strings.NewReader("\n{\"query\": \"bike\"}\n\n"+wrong+"\n"), nil, nil)
		if _, err := a.readQueries("-"); err == nil || !strings.HasPrefix(err.Error(), "-, line 4: ") {
			t.Errorf("%.20q: %v", wrong, err)
		}
	}
}

// TestApprovalsInTheZoneOfTheBot reads the list as a person does.
func TestApprovalsInTheZoneOfTheBot(t *testing.T) {
	far := &config.Config{Agent: config.Agent{Timezone: "Pacific/Kiritimati"}} // 14 hours ahead of UTC
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	var out strings.Builder
	a := newApp(nil, nil, &out, &out)
	if err := printGrants(a.stdout, []data.Grant{{ID: 7, Tool: "shell", ExpiresAt: at}}, far); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "until 2026-02-01 02:00:00  last used never") {
		t.Error(out.String())
	}
	for by, want := range map[int64]string{0: "expired", 11: "expired by 11"} {
		if got := outcome(data.Approval{Outcome: "expired", AnsweredBy: by}); got != want {
			t.Errorf("outcome %q, want %q", got, want)
		}
	}
}
