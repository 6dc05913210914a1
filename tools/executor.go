package tools

import (
	"context"
)

// Journal records a call around its effect, so that after a crash everybody
// knows what has happened. A call whose start was recorded and whose result was
// not is in doubt.
type Journal interface {
	// Started is called when everything but the effect is behind the call.
	Started(ctx context.Context, c Call) error
	// Finished stores the result, and what it carries, in one transaction.
	Finished(ctx context.Context, c Call, r Result) error
}
