package tools

import (
	"context"
	"fmt"
	"time"
)

// Journal records a call around its effect. After a crash, a call with a start and no
// result is in doubt. A call that is refused before its effect is not recorded: it
// would be refused again.
type Journal interface {
	// Started is called right before the effect.
	Started(ctx context.Context, c Call) error
	// Finished stores the result, and what it carries, in one transaction.
	Finished(ctx context.Context, c Call, r Result) error
}

func started(ctx context.Context, c Call, j Journal) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("tool %s: %w", c.Name, err)
	}
	if j == nil {
		return nil
	}
	if err := j.Started(ctx, c); err != nil {
		return fmt.Errorf("journal the start of %s: %w", c.Name, err)
	}
	return nil
}

// journalTimeout bounds how long a result may take to be stored after a stop.
const journalTimeout = 5 * time.Second

// finished stores the result, also when ctx has just ended.
func finished(ctx context.Context, c Call, r Result, j Journal) error {
	if j == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), journalTimeout)
	defer cancel()
	if err := j.Finished(ctx, c, r); err != nil {
		return fmt.Errorf("journal the result of %s: %w", c.Name, err)
	}
	return nil
}
