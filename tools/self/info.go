package self

import (
	"context"
	"strings"

	"klawbot/tools"
)

type infoArgs struct {
	Query string `json:"query,omitempty" default:"help" enum:"config,paths,sandbox,provider,stats,help"`
}

type informer struct {
	configuration Configuration
	body          Body
}

const help = `self_info tells about this bot. Queries:
config: all settings, secrets masked; those marked settable can be changed with the tool config
paths: where its files and folders are
sandbox: where commands and code run, what bounds them there, and which sandboxes this machine could use
provider: which model answers here, and where it runs
stats: version, time since the start, what waits, the database, the backup, what was spent today
help: this text
How things work stands in the manual: docs_search finds it.`

func (i informer) run(ctx context.Context, c tools.Call, a infoArgs) tools.Result {
	switch a.Query {
	case "config":
		return tools.OK(lines(i.configuration.Entries()))
	case "paths":
		return facts(i.body.Paths())
	case "sandbox":
		return facts(i.body.Sandbox())
	case "provider":
		return facts(i.body.Provider(ctx, c.Chat))
	case "stats":
		stats, err := i.body.Stats(ctx)
		if err != nil {
			return tools.Fail(tools.Execution, err.Error())
		}
		return facts(stats)
	}
	return tools.OK(help)
}

func facts(entries []Entry) tools.Result {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.Key + ": " + e.Value
	}
	return tools.OK(strings.Join(all, "\n"))
}
