package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/store"
)

func TestAcceptedTools(t *testing.T) {
	s := open(t, t.TempDir())
	at := time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)
	echo := store.AcceptedTool{Server: "a", Tool: "echo", Name: "mcp_a_echo", Description: "says it", Schema: "{}", Hash: "1", By: 7, At: at}
	other := store.AcceptedTool{Server: "b", Tool: "echo", Name: "mcp_b_echo", Schema: "{}", Hash: "2", At: at}
	write(t, s, func(tx *store.Tx) error {
		must(t, tx.Servers().AcceptTool(echo))
		must(t, tx.Servers().AcceptTool(other))
		must(t, tx.Servers().SetServerToken("a", "old"))
		return tx.Servers().SetServerToken("a", "new")
	})
	accepted := func(want ...store.AcceptedTool) {
		t.Helper()
		read(t, s, func(tx *store.Tx) error {
			got, err := tx.Servers().AcceptedTools()
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			return err
		})
	}
	accepted(echo, other)
	echo.Description, echo.Hash = "says it twice", "3"
	write(t, s, func(tx *store.Tx) error { return tx.Servers().AcceptTool(echo) })
	accepted(echo, other)
	token := func(want string) {
		t.Helper()
		read(t, s, func(tx *store.Tx) error {
			got, err := tx.Servers().ServerToken("a")
			if got != want {
				t.Errorf("token %q, want %q", got, want)
			}
			return err
		})
	}
	token("new")
	write(t, s, func(tx *store.Tx) error { return tx.Servers().ForgetServer("a") })
	accepted(other)
	token("")
}
