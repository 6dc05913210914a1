package main

import (
	"context"
	"io"
	"maps"
	"slices"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/engine/data"
	"klawbot/tools"
)

// verbs are what /schedule does with a name.
var verbs = []string{"run", "pause", "resume", "skip", "remove", "logs"}

// names are what can follow the words of a command in a chat: models, schedules, skills.
// What cannot be read is not completed.
func names(ctx context.Context, a *app, words []string) (all []string) {
	quiet := *a
	quiet.stderr = io.Discard
	read := func(fn func(l *config.Live, d *data.Data) error) {
		_ = quiet.withData(ctx, func(l *config.Live, _ config.Folders, d *data.Data) error { return fn(l, d) }) // see above
	}
	switch {
	case words[0] == "/schedule" && len(words) == 1:
		return verbs
	case words[0] == "/schedule" && len(words) == 2 && slices.Contains(verbs, words[1]):
		read(func(_ *config.Live, d *data.Data) error {
			list, err := d.Schedules().List(ctx, tools.Call{})
			for _, s := range list {
				all = append(all, s.Name)
			}
			return err
		})
	case words[0] == "/model" && len(words) == 1:
		read(func(l *config.Live, _ *data.Data) error {
			all = slices.Sorted(maps.Keys(l.Config().EngineModels().Entries))
			return nil
		})
	case words[0] == "/skills" && len(words) == 1:
		read(func(_ *config.Live, d *data.Data) error {
			list, err := d.Skills()
			for _, s := range list {
				all = append(all, s.Name)
			}
			return err
		})
	}
	return all
}
