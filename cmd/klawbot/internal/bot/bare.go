package bot

import (
	"os"
	"path/filepath"
	"slices"

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

// sharedAssets is where packages and container images put the files of the
// embeddings.
const sharedAssets = "/usr/share/klawbot/assets"

// AssetDirs are the folders in which the files of the embeddings are looked for:
// that of the data, the one beside the program, that of a checkout whose make
// built the program, the system's.
func AssetDirs(data string) []string {
	dirs := []string{filepath.Join(data, "assets")}
	if program, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(program); err == nil {
			program = real
		}
		bin := filepath.Dir(program)
		dirs = append(dirs, filepath.Join(bin, "..", "share", "klawbot", "assets"))
		if filepath.Base(bin) == "bin" {
			dirs = append(dirs, filepath.Join(bin, "..", "build", "assets"))
		}
	}
	if !slices.Contains(dirs, sharedAssets) {
		dirs = append(dirs, sharedAssets)
	}
	return dirs
}
