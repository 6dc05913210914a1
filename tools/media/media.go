// Package media holds the tools for files that people send: image_look shows a model a
// picture of the workspace. It reads no formats and keeps no files: Config has who does.
package media

import (
	"context"
	"embed"
	"io/fs"
	"time"

	"klawbot/tools"
)

//go:embed *.md
var texts embed.FS

// Config is what New needs. All of it is required.
type Config struct {
	// OpenFile opens a file of the workspace, or says why not.
	OpenFile func(path string) (fs.File, *tools.Result)
	// Look looks at a picture for a call.
	Look func(ctx context.Context, c tools.Call, p Picture) tools.Result
}

// Picture is what image_look is asked about.
type Picture struct {
	// File is a copy that only this call has, Path the one in the workspace.
	File, Path string
	Question   string
}

// timeout is the deadline of the tools.
const timeout = time.Minute

// New returns the tools.
func New(c Config) []tools.Tool {
	return []tools.Tool{
		tools.New(tools.Spec{Name: "image_look", Group: tools.GroupSystem, Outside: true, Timeout: timeout}, texts, c.look),
	}
}
