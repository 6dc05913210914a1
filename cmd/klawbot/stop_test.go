package main

import (
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// TestStopCancelsParkedTurn: a turn was at work when the bot ended. A user who says
// /stop while the bot is off, or starts, stops it.
func TestStopCancelsParkedTurn(t *testing.T) {
	for range 12 { // the turn and the command begin together
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			b.tools = append(b.tools, slowTool(5*time.Second))
			b.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.CallTool("slow", map[string]any{}) })
			b.start()
			b.telegram.User(bruno).In(family).Send("@klaw_test_bot go")
			<-time.After(7 * time.Second)
			b.stop()
			b.telegram.User(bruno).In(family).Send("/stop@klaw_test_bot")
			asked := len(b.model.Completions())
			b.start()
			<-time.After(time.Second)
			b.until("it ends", b.idle)
			if got := b.shows(family); len(got) != 1 || got[0] != "Stopped." || len(b.model.Completions()) != asked {
				t.Errorf("the group shows %q, the model was asked %d times more", got, len(b.model.Completions())-asked)
			}
		})
	}
}
