//go:build bench && linux

package main

import (
	"slices"
	"testing"
	"time"

	"klawbot/tools"
	"klawbot/tools/exec"
)

// confined measures a harmless command as the tool shell runs it, confined and not,
// in turns. What becomes the command is this program, with all that the bot has.
func (b *figures) confined() {
	ways := map[bool][]time.Duration{}
	for range scale(100) {
		for _, confines := range []bool{true, false} {
			ways[confines] = append(ways[confines], harmlessCommand(b.t, confines))
		}
	}
	for _, times := range ways {
		slices.Sort(times)
	}
	within, without := ways[true][len(ways[true])/2], ways[false][len(ways[false])/2]
	b.add("harmless command, unconfined, median", ms(without), "ms", "", true)
	b.add("harmless command, confined, median", ms(within), "ms", "<= 10 more", within-without <= 10*time.Millisecond)
}

// harmlessCommand is the time of one.
func harmlessCommand(t *testing.T, confines bool) time.Duration {
	t.Helper()
	shell := exec.NewShell(exec.ShellConfig{
		Workspace: t.TempDir(), Settings: func() exec.ShellSettings { return exec.ShellSettings{Harmless: true} },
		Confines: func() bool { return confines },
	})
	defer shell.Close()
	begun := time.Now()
	r := shell.Tools()[0].Run(t.Context(), tools.Call{Arguments: []byte(`{"command": "ls"}`)})
	if !r.Success {
		t.Fatalf("%+v", r)
	}
	return time.Since(begun)
}

// TestBenchConfined is that row alone.
func TestBenchConfined(t *testing.T) {
	b := &figures{t: t}
	b.confined()
	t.Log(b.rows)
}
