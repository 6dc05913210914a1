package main

import (
	"context"
	"regexp"
	"slices"
	"testing"
	"time"

	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
	"klawbot/tools"
)

// loading is a tool that says how far it is.
type loading struct{ slowTool }

func (l loading) Run(ctx context.Context, c tools.Call) tools.Result {
	<-time.After(3 * time.Second)
	c.Progress("2.1 MiB")
	<-time.After(3 * time.Second)
	c.Progress("4.2 MiB")
	return l.slowTool.Run(ctx, c)
}

// TestToolsSayHowFarTheyAre shows the note of a tool in the place where the
// answer will stand, and nothing of it stays.
func TestToolsSayHowFarTheyAre(t *testing.T) {
	for _, streaming := range []string{settings.StreamEdit, settings.StreamOff, settings.StreamDraft} {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			b.settings.Streaming["telegram"] = streaming
			b.tools = []tools.Tool{loading{slowTool(3 * time.Second)}}
			b.model.Push(modeltest.CallTool("slow", map[string]any{}), modeltest.Text("ready"))
			b.start()
			b.telegram.User(anna).Send("go")
			for _, want := range []string{"2.1 MiB", "4.2 MiB"} {
				note := regexp.MustCompile(`^… \(slow, \d s, ` + regexp.QuoteMeta(want) + `\)$`)
				b.until(want, func() bool {
					return slices.ContainsFunc(append(b.shows(anna), b.draft(anna).Text), note.MatchString)
				})
			}
			b.until("the answer", b.says(anna, "ready"))
			if all := b.shows(anna); len(all) != 1 {
				t.Errorf("streaming %s: the chat shows %q", streaming, all)
			}
		})
	}
}
