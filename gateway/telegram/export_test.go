package telegram

import "context"

// Peek is how the poller reads a raw update.
var Peek = peek

// StaleAfter is when a channel that hears nothing is stale.
const StaleAfter = staleAfter

// Paces is how many chats the limiter remembers.
func (c *Channel) Paces() int {
	c.pace.mu.Lock()
	defer c.pace.mu.Unlock()
	return len(c.pace.chats)
}

// Wait takes a place in the chat's pace without sending.
func (c *Channel) Wait(ctx context.Context, chat int64) error {
	return c.pace.wait(ctx, chat, false, false)
}
