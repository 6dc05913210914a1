package bot

import (
	"klawbot/engine"
	"klawbot/internal/httpclient"
)

// Bare is the configuration of an engine that only looks after its folders and
// its models.
func (c Config) Bare() engine.Config {
	return engine.Config{
		Dir: c.Folders.Data, Workspace: c.Folders.Workspace, Version: c.Version, Log: c.Log, HTTP: httpclient.New(httpclient.Options{Proxy: true}),
		Settings: c.Live.Settings, Assets: AssetDirs(c.Folders.Data),
	}
}
