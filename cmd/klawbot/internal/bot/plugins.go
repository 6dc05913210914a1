package bot

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/engine"
	"klawbot/tools/plugin"
	"klawbot/tools/sandbox"
)

// plugins finds the tools in the folder plugins of the data folder.
func plugins(l *config.Live, b *box, log *slog.Logger) *plugin.Host {
	return plugin.New(plugin.Config{
		Dir: filepath.Join(b.folders.Data, "plugins"), Workspace: b.folders.Workspace, Log: log,
		Keep:     b.readOnly,
		Slow:     filepath.Join(b.folders.Data, "plugins.json"),
		Runner:   b.plugins,
		ReadOnly: func() []string { return l.Config().Tools.Plugins.ReadOnly },
	})
}

// plugins is where plugins run: in the sandbox when there is one. Without the
// sandbox that there should be they do not run.
func (b *box) plugins() sandbox.Runner {
	s, err := b.get()
	switch {
	case err != nil:
		return sandbox.Refusing(err)
	case s == nil:
		return sandbox.Off()
	}
	return s
}

// pluginFindings say which plugins cannot be used. Without plugins there is
// nothing to say.
func pluginFindings(l *config.Live, b *box) []engine.Finding {
	host := plugins(l, b, slog.New(slog.DiscardHandler))
	var all []engine.Finding
	if n := len(host.Tools()); n > 0 {
		all = append(all, engine.Well("plugins", "%s", terminal.Plural(n, "tool", "tools")))
	}
	for _, f := range host.Faults() {
		all = append(all, engine.Ill("plugins", fmt.Sprintf("mend it, or take it out of %s", filepath.Join(b.folders.Data, "plugins")), errors.New(f.String())))
	}
	return all
}
