package data

import (
	"context"

	"klawbot/engine/internal/toolset"
	"klawbot/tools"
)

// changelog is for a call of a tool at the command line, nil when the tool
// changes nothing and the bot has never run. For one that does, the database is
// begun, so that what a command changes can be undone, too.
func (d *Data) changelog(ctx context.Context, tool string) (tools.Changelog, error) {
	if d.store == nil {
		t, _, ok := d.executor.Registry().Find(tool)
		if !ok || !t.Spec().Changes {
			return nil, nil
		}
		if err := d.begin(ctx); err != nil {
			return nil, err
		}
	}
	return toolset.Changelog{Store: d.store}, nil
}
