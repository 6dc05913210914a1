package main

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/internal/redact"
)

func TestCommandsAtOnceKeepEachOthersChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("channels: {telegram: {allowedChatIds: [11]}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 10 {
		group.Go(func() {
			var errs strings.Builder
			if code := run(t.Context(), []string{"allow", "--config", file, strconv.Itoa(100 + i)}, strings.NewReader(""), io.Discard, &errs); code != 0 {
				t.Errorf("exit code %d: %s", code, errs.String())
			}
		})
	}
	group.Wait()
	l, err := config.Open(config.Source{File: file, Redact: &redact.Set{}})
	if err != nil {
		t.Fatal(err)
	}
	if ids := l.Config().Channels.Telegram.AllowedChatIDs; len(ids) != 11 {
		t.Errorf("the list is %v, want 11 ids", ids)
	}
}
